/** Policies and bindings out of documents: decoded strictly, defaulted, validated. */
import { type ReadDocument, readDocument as readCommon, repeatedVariables } from "../../admission-policy/read.js";
import type { FieldError } from "../../kubernetes/field-error.js";
import { API_TYPES } from "./api-types.js";
import { type CompiledPolicy, compilePolicy } from "./compiled-policy.js";
import type { MutationCompilers } from "./compilers.js";
import { BINDING_KIND, type BindingResource, POLICY_KIND, type PolicyResource } from "./resource.js";
import { validatePolicy } from "./validate-policy.js";

const KIND = { policyKind: POLICY_KIND, bindingKind: BINDING_KIND, types: API_TYPES };

/** Reads a document. Kinds that are neither policies nor bindings are `other`. */
export const readDocument = (document: unknown): ReadDocument<PolicyResource, BindingResource> =>
  readCommon(document, KIND);

/** Compiles and validates a policy. */
export function checkPolicy(
  policy: PolicyResource,
  compilers: MutationCompilers,
): { readonly compiled: CompiledPolicy; readonly errors: readonly FieldError[] } {
  const compiled = compilePolicy(policy.spec, compilers, "written");
  return { compiled, errors: [...validatePolicy(policy, compiled), ...repeatedVariables(policy)] };
}
