/** A policy written inline: the fields of a ValidatingAdmissionPolicy's spec, without a name or bindings of its own. */

import { type FieldError, formatPath } from "../../kubernetes/field-error.js";
import type { Policy } from "../../policy/policy.js";
import type { Needs } from "../../world/needs.js";
import type { World } from "../../world/world.js";
import { defaultPolicy } from "../admission-policy/defaults.js";
import { needsOf } from "../admission-policy/needs.js";
import { NO_PARAMETERS } from "../admission-policy/parameter-doubts.js";
import { repeatedVariables } from "../admission-policy/read.js";
import { GROUP } from "../admission-policy/resource.js";
import { policyWarnings } from "../admission-policy/warnings.js";
import { salvage } from "../shared/decode/api-type.js";
import { isConsequence, misread } from "../shared/decode/misread.js";
import { expressionDoubts } from "../shared/doubts/expression-doubts.js";
import { alwaysSame } from "../shared/expressions/constant-warnings.js";
import type { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import type { MatchResources } from "../shared/match/match-resources.js";
import type { SchemaSource } from "../shared/type-check/schema-source.js";
import { API_TYPES } from "./api-types.js";
import { compilePolicy } from "./compiled-policy.js";
import { ValidatingPolicySet } from "./policy.js";
import { preparePolicy, standalone } from "./prepared-policy.js";
import { POLICY_KIND, type PolicyResource, type PolicySpec } from "./resource.js";
import { examined, typeWarnings } from "./type-check.js";
import { validateActions } from "./validate-binding.js";
import { validateSpec } from "./validate-policy.js";

/** Options of compiling an inline policy. */
export interface InlineOptions {
  readonly compiler: ExpressionCompiler;
  /** The actions on a violation; default: deny. */
  readonly validationActions?: readonly string[];
  /** The schemas against which the types of expressions are checked. */
  readonly schemas?: SchemaSource;
}

/** A compiled inline policy. */
export interface PreparedInline {
  /** Its questions to the world. */
  readonly needs: Needs;
  /** The warnings about it. */
  readonly warnings: readonly FieldError[];
  /** The policy, in a world. */
  readonly policy: (id: string, world: World) => Policy;
}

/** The criteria of an inline policy without any: it matches everything. */
const EVERYTHING: MatchResources = {
  resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] }],
};

/** The name before the keys of annotations, which need one; an inline policy has none, and its keys are distinguished by the entry. */
const INLINE_NAME = "inline";

/** Compiles an inline policy; or answers its mistakes. Paths begin inside the spec. */
export function prepareInline(
  spec: unknown,
  options: InlineOptions,
): PreparedInline | { readonly errors: readonly FieldError[]; readonly warnings: readonly FieldError[] } {
  const type = API_TYPES.get("v1")?.spec;
  if (type === undefined) throw new Error("the types of v1 are missing");
  const read = salvage(spec, type);
  const unread = read.mistakes.map((mistake) => misread(mistake));
  const written = read.value as PolicySpec | undefined;
  const constraints = written?.matchConstraints ?? EVERYTHING;
  const withRules = (constraints.resourceRules ?? []).length > 0 ? constraints : { ...constraints, ...EVERYTHING };
  const policy = defaultPolicy<PolicyResource>({
    apiVersion: `${GROUP}/v1`,
    kind: POLICY_KIND,
    metadata: { name: INLINE_NAME },
    spec: { ...written, matchConstraints: withRules },
  });
  const { compiler, schemas, validationActions: actions = ["Deny"] } = options;
  const compiled = compilePolicy(policy.spec, compiler, "written");
  const errors = [
    ...validateSpec(INLINE_NAME, policy.spec, compiled, [], { moreReasons: ["Unauthorized"] }),
    ...repeatedVariables(policy).map(({ path, text }) => ({ path: path.slice(1), text })),
    ...validateActions(actions, ["validationActions"]),
  ];
  const others = errors.filter((error) => !isConsequence(inSpec(error), unread.map(inSpec)));
  const suspect = schemas === undefined ? [] : typeWarnings(policy.spec, schemas, compiler.dialect.environment);
  const doubts = schemas && expressionDoubts(examined(policy.spec, compiled), schemas);
  const warnings: readonly FieldError[] = [
    ...policyWarnings({ ...policy.spec, matchConstraints: written?.matchConstraints ?? {} }, compiled),
    ...alwaysSame(compiled.validations, ["validations"]),
    ...(doubts === undefined ? [] : [...doubts.nulls, ...doubts.absent]),
    ...(doubts === undefined || written?.paramKind === undefined ? [] : [{ path: ["paramKind"], text: NO_PARAMETERS }]),
    ...suspect.map(({ warning, ...found }): FieldError => ({ ...found, text: warning.trimEnd(), code: "CEL_TYPES" })),
  ];
  if (unread.length + others.length > 0) {
    const wrong = new Set([...unread, ...others].map(({ path }) => formatPath(path)));
    return { errors: [...unread, ...others], warnings: warnings.filter(({ path }) => !wrong.has(formatPath(path))) };
  }
  const prepared = preparePolicy(policy, compiled, [standalone(actions)], "");
  if (prepared === undefined) throw new Error("a validated paramKind cannot be read");
  return {
    needs: needsOf(policy.spec, Object.values(compiled).flat(), [], []),
    warnings,
    policy: (id, world) =>
      new ValidatingPolicySet([prepared], {
        id,
        dialect: compiler.dialect,
        world,
        watcher: compiler.watcher,
        isForAnything: (written?.matchConstraints?.resourceRules ?? []).length === 0,
      }),
  };
}

/** The mistake as it would be in a policy, where it stands in the spec. */
const inSpec = (error: FieldError): FieldError => ({ ...error, path: ["spec", ...error.path] });
