import { apiTypes } from "../../admission-policy/api-types.js";
import { list, string, struct } from "../../cel-policy/decode/api-type.js";
import { POLICY_KIND } from "./resource.js";

/** The Go types of policies and bindings by API version. */
export const API_TYPES = apiTypes({
  kind: POLICY_KIND,
  policySpec: (of) => ({
    validations: list(
      struct(of("Validation"), {
        expression: string(),
        message: string(),
        reason: string("v1.StatusReason"),
        messageExpression: string(),
      }),
    ),
    auditAnnotations: list(struct(of("AuditAnnotation"), { key: string(), valueExpression: string() })),
  }),
  bindingSpec: (of) => ({ validationActions: list(string(of("ValidationAction"))) }),
  hasStatus: true,
});
