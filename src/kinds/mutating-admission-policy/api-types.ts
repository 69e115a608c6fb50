import { apiTypes } from "../admission-policy/api-types.js";
import { list, string, struct } from "../shared/decode/api-type.js";
import { POLICY_KIND } from "./resource.js";

/** The Go types of policies and bindings by API version. */
export const API_TYPES = apiTypes({
  kind: POLICY_KIND,
  policySpec: (of) => ({
    mutations: list(
      struct(of("Mutation"), {
        patchType: string(of("PatchType")),
        applyConfiguration: struct(of("ApplyConfiguration"), { expression: string() }),
        jsonPatch: struct(of("JSONPatch"), { expression: string() }),
      }),
    ),
    reinvocationPolicy: string("v1.ReinvocationPolicyType"),
  }),
  bindingSpec: () => ({}),
});
