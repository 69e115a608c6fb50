import { apiTypes } from "../admission-policy/api-types.js";
import { integer, list, string, struct } from "../shared/decode/api-type.js";
import { CONDITION } from "../shared/decode/object-meta.js";
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
  policyStatus: (of) => ({
    observedGeneration: integer,
    typeChecking: struct(of("TypeChecking"), {
      expressionWarnings: list(struct(of("ExpressionWarning"), { fieldRef: string(), warning: string() })),
    }),
    conditions: list(CONDITION),
  }),
  bindingSpec: (of) => ({ validationActions: list(string(of("ValidationAction"))) }),
});
