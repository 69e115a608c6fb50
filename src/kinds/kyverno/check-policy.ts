/** The checks of Kyverno when a policy is created, beside the schema (spec kyverno.md 1.4). */

import { type FieldError, forbidden, formatFieldError, required } from "../../kubernetes/field-error.js";
import { matchWarnings } from "../shared/match/match-warnings.js";
import { validateMatch } from "../shared/match/validate-match.js";
import { authorizationMode } from "./authorization/mode.js";
import { unknownControllers } from "./autogen/controllers.js";
import type { CompileError } from "./compile.js";
import { imageMistakes, imageWarnings } from "./image-validating/check-images.js";
import { NamedObjects } from "./named-objects.js";
import { compileErrorTexts } from "./prepare-policies.js";
import {
  isConfined,
  isImageValidating,
  isMutating,
  judgesNothing,
  type PolicyResource,
  type PolicySpec,
} from "./resource.js";

/** The error of a policy for an authorization server, which evaluates no admission requests: served here it would let everything pass (spec kyverno.md 6.3). */
export function modeError(resource: PolicyResource): FieldError | undefined {
  const mode = authorizationMode(resource);
  if (mode === undefined) return undefined;
  const text = `the mode ${mode} is for an authorization server, and this one answers admission requests: ask such policies with \`policy-server apply\` or \`policy-server test\``;
  return { path: ["spec", "evaluation", "mode"], text };
}

/** The error of a policy that changes existing objects: served here it would do nothing, or half of what it says. */
export function targetsError({ kind, spec }: PolicyResource): FieldError | undefined {
  if (!isMutating({ kind })) return undefined;
  const { targetMatchConstraints, evaluation } = spec;
  const named = targetMatchConstraints !== undefined;
  if (!named && evaluation?.mutateExisting?.enabled !== true) return undefined;
  const path = ["spec", ...(named ? ["targetMatchConstraints"] : ["evaluation", "mutateExisting"])];
  const text =
    "policies that change existing objects are not served: this one answers for the object of a request only. Leave it to Kyverno, or say in matchConstraints which requests it changes";
  return { path, text };
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
  const takesPayloads = isImageValidating(resource) && spec.evaluation?.mode === "JSON";
  if ((spec.matchConstraints?.resourceRules ?? []).length === 0 && !takesPayloads) {
    const detail = "a matchConstraints with at least one resource rule is required";
    errors.push(required(["spec", "matchConstraints"], detail));
  }
  if (isMutating(resource)) errors.push(...mutatingMistakes(spec, objects));
  if (isImageValidating(resource)) errors.push(...imageMistakes(spec));
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

/** The mistakes that only mutating policies can have. */
function mutatingMistakes(spec: PolicySpec, objects: NamedObjects): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.evaluation?.admission?.enabled === false) {
    const detail = "disabling both admission and mutateExisting evaluation modes is not allowed";
    errors.push(forbidden(["spec", "evaluation"], detail));
  }
  if (spec.autogen?.mutatingAdmissionPolicy?.enabled !== true) return errors;
  for (const [i, condition] of (spec.matchConditions ?? []).entries()) {
    if (!objects.mentions({ matchConditions: [condition] }, "variables")) continue;
    const detail =
      "variables cannot be referenced in matchConditions when spec.autogen.mutatingAdmissionPolicy.enabled is true; native MutatingAdmissionPolicy evaluates match conditions before variables, so inline the expression instead";
    errors.push(forbidden(["spec", "matchConditions", i, "expression"], detail));
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

/** Warnings about parts that Kyverno accepts, but that have no effect: constraints that match nothing, names of nothing. */
export function policyWarnings(policy: PolicyResource): FieldError[] {
  const { matchConstraints, autogen, evaluation } = policy.spec;
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
  if (isMutating(policy)) warnings.push(...mutatingWarnings(policy.spec, controllers, mode));
  else if (isImageValidating(policy)) warnings.push(...imageWarnings(policy.spec));
  else if (mode !== "" && !MODES.includes(mode)) {
    const text = `there is no mode ${JSON.stringify(mode)}, so it counts as Kubernetes: known are ${MODES.join(", ")}`;
    warnings.push({ path: ["spec", "evaluation", "mode"], text });
  }
  if (evaluation?.admission?.enabled === false) {
    const text = "the policy is for scans of stored objects only: it lets every request pass";
    warnings.push({ path: ["spec", "evaluation", "admission", "enabled"], text });
  }
  if (judgesNothing(policy)) {
    const mutating = isMutating(policy);
    const text = `there are none: the policy ${mutating ? "changes" : "judges"} nothing, and every request passes`;
    warnings.push({ path: ["spec", mutating ? "mutations" : "validations"], text });
  }
  return warnings;
}

/** Warnings about parts of mutating policies that Kyverno accepts, but that have no effect. */
function mutatingWarnings({ mutations = [] }: PolicySpec, controllers: readonly string[], mode: string): FieldError[] {
  const warnings: FieldError[] = [];
  if (mode !== "" && mode !== "Kubernetes") {
    const text = "mutating policies have no modes: they see the requests of the API server";
    warnings.push({ path: ["spec", "evaluation", "mode"], text });
  }
  mutations.forEach((mutation, i) => {
    const { patchType = "" } = mutation;
    const path = ["spec", "mutations", i, "patchType"];
    if (patchType !== "JSONPatch" && patchType !== "ApplyConfiguration") {
      const text = `there is no patchType ${JSON.stringify(patchType)}, so the mutation has no effect: write JSONPatch or ApplyConfiguration`;
      warnings.push({ path, text });
      return;
    }
    const member = patchType === "JSONPatch" ? "jsonPatch" : "applyConfiguration";
    if (mutation[member] === undefined)
      warnings.push({ path, text: `there is no ${member}, so the mutation has no effect` });
  });
  const custom = controllers.findIndex((name) => name.includes("."));
  if (custom >= 0) {
    const text = "pods in objects of custom controllers are not mutated: Kyverno skips the policy there";
    warnings.push({ path: ["spec", "autogen", "podControllers", "controllers", custom], text });
  }
  return warnings;
}
