/** Reads policies and bindings from documents: decoded strictly, defaulted, validated. */

import type { KubernetesVersion } from "../../cel/index.js";
import type { FieldError } from "../../kubernetes/field-error.js";
import { type ReadDocument, readDocument as readCommon, repeatedVariables } from "../admission-policy/read.js";
import { errorsOnServer, type ServedVersions, type Server } from "../admission-policy/server.js";
import { API_TYPES } from "./api-types.js";
import { type CompiledPolicy, compilePolicy } from "./compiled-policy.js";
import type { MutationCompilers } from "./compilers.js";
import { BINDING_KIND, type BindingResource, POLICY_KIND, type PolicyResource } from "./resource.js";
import { validatePolicy } from "./validate-policy.js";

/** The servers of each API version. */
const SERVED: ServedVersions = {
  v1: { since: "1.36" },
  v1beta1: { since: "1.34" },
  // Its removal in 1.38 was taken back.
  v1alpha1: { since: "1.32" },
};

const KIND = { policyKind: POLICY_KIND, bindingKind: BINDING_KIND, types: API_TYPES, served: SERVED };

/** Reads a document by the rules of a server's version. Kinds that are neither policies nor bindings are `other`. */
export const readDocument = (
  document: unknown,
  server?: KubernetesVersion,
): ReadDocument<PolicyResource, BindingResource> => readCommon(document, KIND, server);

/** Compiles and validates a policy: like the API server of a given version, if there is one. */
export function checkPolicy(
  policy: PolicyResource,
  compilers: MutationCompilers,
  server?: Server<MutationCompilers>,
): { readonly compiled: CompiledPolicy; readonly errors: readonly FieldError[] } {
  const compiled = compilePolicy(policy.spec, compilers, "written");
  const errors =
    server === undefined
      ? validatePolicy(policy, compiled)
      : errorsOnServer((each) => validatePolicy(policy, compilePolicy(policy.spec, each, "written"), server), server);
  return { compiled, errors: [...errors, ...repeatedVariables(policy)] };
}
