/** Policies with a kind of parameters that get none. For `check`. */
import type { Problem } from "../../config/documents/problem.js";
import { type JsonObject, nameOf, text } from "../../kubernetes/object.js";
import type { Found } from "./documents.js";
import type { CommonBindingSpec, CommonPolicySpec, Resource } from "./resource.js";

/** The doubt about a policy that no binding gives parameters. */
export const NO_PARAMETERS = "no binding names parameters of this kind: params is null, and what reads it fails";

/**
 * The warnings about the parameters of a policy.
 * @param bindings those of all policies
 * @param objects the documents beside them; parameters of a kind of which there is none may be in a cluster
 */
export function parameterDoubts(
  { resource: { metadata, spec }, document }: Found<Resource<CommonPolicySpec>>,
  bindings: readonly Found<Resource<CommonBindingSpec>>[],
  objects: readonly JsonObject[],
): readonly Problem[] {
  const { paramKind } = spec;
  const own = bindings.filter((binding) => binding.resource.spec.policyName === metadata.name);
  if (paramKind === undefined) {
    const useless = own.filter((binding) => binding.resource.spec.paramRef !== undefined);
    const message = "this has no effect: the policy has no paramKind";
    return useless.map((binding) => binding.document.problem("warning", ["spec", "paramRef"], message));
  }
  if (own.length === 0) return [document.problem("warning", ["spec", "paramKind"], NO_PARAMETERS)];
  const known = objects.filter(
    (object) => text(object, "apiVersion") === paramKind.apiVersion && text(object, "kind") === paramKind.kind,
  );
  return own.flatMap((binding) => {
    const { paramRef } = binding.resource.spec;
    if (paramRef === undefined) {
      const message =
        "the binding has no paramRef, though the policy has a paramKind: params is null, and what reads it fails";
      return [binding.document.problem("warning", ["spec"], message)];
    }
    const { name = "" } = paramRef;
    if (name === "" || known.length === 0 || known.some((object) => nameOf(object) === name)) return [];
    const message = `there is no ${paramKind.kind ?? ""} ${JSON.stringify(name)} among the documents`;
    return [binding.document.problem("warning", ["spec", "paramRef", "name"], message)];
  });
}
