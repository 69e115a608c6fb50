/** What to write instead of members that an older design or another kind of policies had (spec kyverno.md 1.5). */
import { didYouMean } from "../../data/suggest.js";
import type { ObjectSchema } from "../../kubernetes/custom-resource/schema.js";
import { siblings } from "../../kubernetes/custom-resource/unknown-members.js";
import { type FieldPath, formatPath } from "../../kubernetes/field-error.js";
import { EXCEPTION_KIND, NAMESPACED_POLICY_KIND, POLICY_KIND } from "./resource.js";

const ACTIONS = "use spec.validationActions instead: [Deny] for Enforce, [Audit] for Audit";
const PARAMETERS = "policies have no parameters: use resource.Get(...) or globalContext.Get(...) instead";

const POLICY_HINTS: ReadonlyMap<string, string> = new Map([
  ["spec.failureAction", ACTIONS],
  ["spec.validationFailureAction", ACTIONS],
  ["spec.validations.failureAction", ACTIONS],
  ["spec.failureActionOverrides", "use two policies with a namespaceSelector, match conditions or exceptions instead"],
  ["spec.webhookConfiguration.failurePolicy", "use spec.failurePolicy instead"],
  ["spec.webhookConfiguration.matchConditions", "use spec.matchConditions instead"],
  ["spec.webhookConfiguration.matchPolicy", "use spec.matchConstraints.matchPolicy instead"],
  ["spec.webhookTimeoutSeconds", "use spec.webhookConfiguration.timeoutSeconds instead"],
  ["spec.background", "use spec.evaluation.background.enabled instead"],
  ["spec.admission", "use spec.evaluation.admission.enabled instead"],
  ["spec.params", PARAMETERS],
  ["spec.paramKind", PARAMETERS],
  ["spec.paramRef", PARAMETERS],
  ["spec.rules", "use spec.validations instead"],
  ["spec.images", "use parseImageReference(...) or image.GetMetadata(...) instead, or an ImageValidatingPolicy"],
  ["spec.attestors", "only an ImageValidatingPolicy has attestors"],
]);

const POLICY_REFS = "use spec.policyRefs instead: a list of names and kinds";
const EXCEPTION_HINTS: ReadonlyMap<string, string> = new Map([
  ["spec.policyNames", POLICY_REFS],
  ["spec.exceptions", POLICY_REFS],
  ["spec.policyRefs.namespace", "policies are named without their namespace"],
  ["spec.matchConstraints", "use spec.matchConditions instead"],
  ["spec.match", "use spec.matchConditions instead"],
  ["spec.conditions", "use spec.matchConditions instead"],
]);

const HINTS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  [POLICY_KIND, POLICY_HINTS],
  [NAMESPACED_POLICY_KIND, POLICY_HINTS],
  [EXCEPTION_KIND, EXCEPTION_HINTS],
]);

/** What may be meant by an unknown member; `undefined` when nobody can tell. */
export function hintFor(kind: string, path: FieldPath, schema: ObjectSchema): string | undefined {
  const members = formatPath(path.filter((part) => typeof part === "string"));
  const known = HINTS.get(kind)?.get(members);
  if (known !== undefined) return known;
  const suggestion = didYouMean(String(path.at(-1)), siblings(path, schema)).trim();
  return suggestion === "" ? undefined : suggestion;
}
