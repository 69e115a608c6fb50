/** The rules of CertificateRequestPolicies: their names, cost and messages (spec certificate-request-policy.md 5). */
import { formatLongType, objectType, STRING } from "../../cel/index.js";
import type { Dialect } from "../shared/dialect.js";
import { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import type { Watcher } from "../shared/watcher.js";
import { REQUEST_TYPE } from "./request-value.js";
import { SERVICE_ACCOUNT_FUNCTIONS } from "./service-account.js";

/** Units of the CEL cost model that one rule may use for one item. */
const RULE_COST = 1_000_000;

/** The dialect of rules. */
export const RULE_DIALECT: Dialect = {
  environment: {
    flavour: "cel-go",
    extensions: ["strings"],
    objectTypes: [REQUEST_TYPE],
    variables: [
      { name: "self", type: STRING },
      { name: "cr", type: objectType(REQUEST_TYPE.name) },
    ],
    functions: SERVICE_ACCOUNT_FUNCTIONS,
  },
  optional: {},
  variables: { typeName: "variables", nameOf: () => undefined },
  costs: { expression: RULE_COST, evaluation: Number.POSITIVE_INFINITY, conditions: Number.POSITIVE_INFINITY },
  words: {
    notCompiled: (text) => text,
    wrongType: (wanted, type) => `got ${formatLongType(type)}, wanted ${wanted} result type`,
    failed: (_source, error) => error,
    uncompiled: (error) => error,
    failedVariable: (_name, error) => error,
    uncompiledVariable: (_name, error) => error,
    outOfBudget: "operation cancelled: actual cost limit exceeded",
  },
};

/** A compiler of rules; keep one for all policies that are loaded together. With a {@link Watcher} its programs are watched. */
export const createRuleCompiler = (watcher?: Watcher): ExpressionCompiler =>
  new ExpressionCompiler(RULE_DIALECT, watcher);
