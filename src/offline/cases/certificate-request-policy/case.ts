/** Decides a case of CertificateRequestPolicies, by its kind (docs/batch.md). */
import { createRuleCompiler } from "../../../kinds/certificate-request-policy/dialect.js";
import { prunedFields, schemaErrors } from "../../../kinds/certificate-request-policy/read.js";
import { answerAdmission } from "../../../kinds/certificate-request-policy/webhook.js";
import type { ExpressionCompiler } from "../../../kinds/shared/expressions/expression-compiler.js";
import { formatPath, goQuote } from "../../../kubernetes/field-error.js";
import { type JsonObject, text } from "../../../kubernetes/object.js";
import { decideReview } from "./review.js";

// Answers to a new policy: those of the API server's schema, and of the webhook (docs/batch.md).

/** The reference's answer to a case; empty members are absent. */
export interface AdmissionExpectation {
  readonly allowed: boolean;
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly warnings?: readonly string[];
  readonly schemaErrors?: readonly string[];
  readonly prunedFields?: readonly string[];
}

/** Decides a line of `kind` `admission`: `policy` is the new object, `registeredPlugins` are the names of existing plugins. */
function decideAdmission(written: JsonObject, compiler: ExpressionCompiler): AdmissionExpectation {
  const { policy, registeredPlugins } = written;
  const plugins = Array.isArray(registeredPlugins) ? registeredPlugins.filter((name) => typeof name === "string") : [];
  const answer = answerAdmission({ operation: "CREATE", object: policy }, { compiler, registeredPlugins: plugins });
  const errors = schemaErrors(policy).map(
    ({ path, text }) => `${path.length === 0 ? "<nil>" : formatPath(path)}: ${text}`,
  );
  const pruned = prunedFields(policy);
  return {
    ...answer,
    ...(errors.length > 0 && { schemaErrors: errors }),
    ...(pruned.length > 0 && { prunedFields: pruned }),
  };
}

/** Decides cases of every kind; made once for a run, so that rules are compiled once. */
export function createCaseDecider(): (written: JsonObject) => object | Promise<object> {
  const compiler = createRuleCompiler();
  return (written) => {
    const kind = text(written, "kind");
    switch (kind) {
      case "admission":
        return decideAdmission(written, compiler);
      case "review":
        return decideReview(written, compiler);
      default:
        return { error: `there are no cases of the kind ${goQuote(kind)}`, allowed: false };
    }
  };
}
