/** A policy written inline: the fields of a ValidatingAdmissionPolicy's spec, without a name or bindings of its own. */
import { createEnvironment } from "../../cel/index.js";
import { decode } from "../../cel-policy/decode/shape.js";
import type { ExpressionCompiler } from "../../cel-policy/expressions/expression-compiler.js";
import type { MatchResources } from "../../cel-policy/match/match-resources.js";
import type { SchemaSource } from "../../cel-policy/type-check/schema-source.js";
import { typeWarnings } from "../../cel-policy/type-check/type-check.js";
import type { FieldError } from "../../kubernetes/field-error.js";
import type { Policy } from "../../policy/policy.js";
import { compilePolicy } from "./compiled-policy.js";
import { defaultPolicy } from "./defaults.js";
import { ValidatingPolicySet, type World } from "./policy.js";
import { preparePolicy, standalone } from "./prepared-policy.js";
import { repeatedVariables } from "./read.js";
import { GROUP, POLICY_KIND, type PolicySpec } from "./resource.js";
import { SHAPES } from "./shapes.js";
import { validateActions } from "./validate-binding.js";
import { validateSpec } from "./validate-policy.js";

/** How to compile an inline policy. */
export interface InlineOptions extends World {
  readonly id: string;
  readonly compiler: ExpressionCompiler;
  /** What happens when it is violated; default: deny. */
  readonly validationActions?: readonly string[];
  /** Check the types of expressions against schemas. */
  readonly schemas?: SchemaSource;
}

/** An inline policy, with what is doubtful about it; or its mistakes. Paths begin inside the spec. */
export type InlinePolicy =
  | { readonly policy: Policy; readonly warnings: readonly FieldError[] }
  | { readonly errors: readonly FieldError[] };

/** Without criteria an inline policy is about everything. */
const EVERYTHING: MatchResources = {
  resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] }],
};

/** Annotations need a policy's name before their key; an inline policy has none, and its keys are told apart by the entry. */
const INLINE_NAME = "inline";

/** Compiles an inline policy. */
export function compileInline(spec: unknown, options: InlineOptions): InlinePolicy {
  const shape = SHAPES.get("v1")?.spec;
  if (shape === undefined) throw new Error("the shapes of v1 are missing");
  const decoded = decode(spec, shape);
  if (!decoded.ok) return { errors: [{ path: decoded.failure.path, text: decoded.failure.text }] };
  const written = decoded.value as PolicySpec | undefined;
  const constraints = written?.matchConstraints ?? EVERYTHING;
  const withRules = (constraints.resourceRules ?? []).length > 0 ? constraints : { ...constraints, ...EVERYTHING };
  const policy = defaultPolicy({
    apiVersion: `${GROUP}/v1`,
    kind: POLICY_KIND,
    metadata: { name: INLINE_NAME },
    spec: { ...written, matchConstraints: withRules },
  });
  const compiled = compilePolicy(policy.spec, options.compiler, "written");
  const actions = options.validationActions ?? ["Deny"];
  const errors = [
    ...validateSpec(INLINE_NAME, policy.spec, compiled, [], { moreReasons: ["Unauthorized"] }),
    ...repeatedVariables(policy).map(({ path, text }) => ({ path: path.slice(1), text })),
    ...validateActions(actions, ["validationActions"]),
  ];
  if (errors.length > 0) return { errors };
  const prepared = preparePolicy(policy, compiled, [standalone(INLINE_NAME, actions)], "");
  if (prepared === undefined) throw new Error("a validated paramKind cannot be read");
  const { schemas } = options;
  const doubtful = schemas === undefined ? [] : typeWarnings(policy.spec, schemas, createEnvironment);
  return {
    policy: new ValidatingPolicySet(options.id, [prepared], options),
    warnings: doubtful.map(({ path, warning }) => ({ path, text: warning.trimEnd() })),
  };
}
