/** The checks of Kyverno when a policy is created, beside the schema (spec kyverno.md 1.4). */

import { type FieldError, forbidden, formatFieldError, required } from "../../kubernetes/field-error.js";
import { matchWarnings } from "../shared/match/match-warnings.js";
import { validateMatch } from "../shared/match/validate-match.js";
import { authorizationMode } from "./authorization/mode.js";
import { unknownControllers } from "./autogen/controllers.js";
import type { CompileError } from "./compile.js";
import { NamedObjects } from "./named-objects.js";
import { compileErrorTexts } from "./prepare-policies.js";
import { isConfined, type PolicyResource } from "./resource.js";

/** The error of a policy for an authorization server, which evaluates no admission requests: served here it would let everything pass (spec kyverno.md 6.3). */
export function modeError(resource: PolicyResource): FieldError | undefined {
  const mode = authorizationMode(resource);
  if (mode === undefined) return undefined;
  const text = `the mode ${mode} is for an authorization server, and this one answers admission requests: ask such policies with \`policy-server apply\` or \`policy-server test\``;
  return { path: ["spec", "evaluation", "mode"], text };
}

/**
 * The mistakes of a policy beyond those of its expressions.
 * @param httpInNamespaced whether NamespacedValidatingPolicies may use `http` (spec kyverno.md 1.7)
 */
export function checkPolicy(
  resource: PolicyResource,
  objects: NamedObjects = new NamedObjects(),
  httpInNamespaced = false,
): FieldError[] {
  const { spec } = resource;
  const errors: FieldError[] = [];
  if ((spec.matchConstraints?.resourceRules ?? []).length === 0) {
    const detail = "a matchConstraints with at least one resource rule is required";
    errors.push(required(["spec", "matchConstraints"], detail));
  }
  if (!isConfined(resource)) return errors;
  if (objects.mentions(spec, "globalContext")) {
    errors.push(forbidden(["spec"], "globalContext.* is not allowed in namespaced policies"));
  }
  if (!httpInNamespaced && objects.mentions(spec, "http")) {
    const detail = "http.* is not allowed in namespaced policies; set --allowHTTPInNamespacedPolicies to enable";
    errors.push(forbidden(["spec"], detail));
  }
  return errors;
}

/**
 * All errors of a policy, as Kyverno's webhook lists them. Variants for pod controllers and exceptions are not checked when a policy is created.
 *
 * @param compileErrors of compiling the policy; none when it compiles
 */
export function checkTexts(
  resource: PolicyResource,
  compileErrors: readonly CompileError[],
  objects: NamedObjects = new NamedObjects(),
): readonly string[] {
  const own = compileErrors.filter(({ variant, exception }) => variant === "" && exception === undefined);
  const compiling = own.length === 0 ? [] : compileErrorTexts(resource, own);
  return [...new Set([...compiling, ...checkPolicy(resource, objects).map(formatFieldError)])];
}

/** The known modes of evaluation. */
const MODES = ["Kubernetes", "JSON", "HTTP", "Envoy"];

/** The words about a policy without validations and annotations. */
export const JUDGES_NOTHING = "the policy judges nothing, so that it lets every request pass";

/** Whether a policy has something to evaluate; Kyverno takes one that has not. */
export const findsSomething = ({ validations = [], auditAnnotations = [] }: PolicyResource["spec"]): boolean =>
  validations.length + auditAnnotations.length > 0;

/** Warnings about parts that Kyverno accepts, but that have no effect: constraints that match nothing, names of nothing. */
export function policyWarnings({ spec }: PolicyResource): FieldError[] {
  const { matchConstraints, autogen, evaluation } = spec;
  const warnings: FieldError[] = [];
  if (matchConstraints !== undefined) {
    const whole = { namespaceSelector: {}, objectSelector: {}, matchPolicy: "Equivalent", ...matchConstraints };
    // Kyverno accepts constraints that the API server would refuse.
    const refused = validateMatch(whole, ["spec", "matchConstraints"]);
    warnings.push(
      ...refused.map((error) => ({ ...error, text: `${error.text}: Kyverno takes it, Kubernetes would not` })),
    );
    warnings.push(...matchWarnings({ ...matchConstraints, matchPolicy: "Exact" }, ["spec", "matchConstraints"]));
  }
  const controllers = autogen?.podControllers?.controllers ?? [];
  const unknown = new Set(unknownControllers(controllers));
  controllers.forEach((name, i) => {
    if (!unknown.has(name)) return;
    const text = `no controller is called ${JSON.stringify(name)}: write the plural in lower case, or RESOURCE.VERSION.GROUP`;
    warnings.push({ path: ["spec", "autogen", "podControllers", "controllers", i], text });
  });
  const mode = evaluation?.mode ?? "";
  if (mode !== "" && !MODES.includes(mode)) {
    const text = `there is no mode ${JSON.stringify(mode)}, so it counts as Kubernetes: known are ${MODES.join(", ")}`;
    warnings.push({ path: ["spec", "evaluation", "mode"], text });
  }
  if (evaluation?.admission?.enabled === false) {
    const text = "the policy is for scans of stored objects only: it lets every request pass";
    warnings.push({ path: ["spec", "evaluation", "admission", "enabled"], text });
  }
  if (!findsSomething(spec))
    warnings.push({ path: ["spec", "validations"], text: `there are none: ${JUDGES_NOTHING}` });
  return warnings;
}
