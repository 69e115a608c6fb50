import { type ApiType, integer, list, map, string, struct } from "../../cel-policy/decode/api-type.js";
import { CONDITION } from "../../cel-policy/decode/meta-types.js";
import { OBJECT_META } from "../../cel-policy/decode/object-meta.js";

const LABEL_SELECTOR = struct("v1.LabelSelector", {
  matchLabels: map(string()),
  matchExpressions: list(
    struct("v1.LabelSelectorRequirement", {
      key: string(),
      operator: string("v1.LabelSelectorOperator"),
      values: list(string()),
    }),
  ),
});

/** The types of one API version. */
export interface ApiTypes {
  readonly policy: ApiType;
  readonly binding: ApiType;
  /** `spec` of a policy. */
  readonly spec: ApiType;
}

/** The types in one API version, whose name Go's messages print. */
function apiTypes(version: string): ApiTypes {
  const of = (name: string): string => `${version}.${name}`;
  const rules = list(
    struct(of("NamedRuleWithOperations"), {
      resourceNames: list(string()),
      operations: list(string("v1.OperationType")),
      apiGroups: list(string()),
      apiVersions: list(string()),
      resources: list(string()),
      scope: string("v1.ScopeType"),
    }),
  );
  const matchResources = struct(of("MatchResources"), {
    namespaceSelector: LABEL_SELECTOR,
    objectSelector: LABEL_SELECTOR,
    resourceRules: rules,
    excludeResourceRules: rules,
    matchPolicy: string(of("MatchPolicyType")),
  });
  const spec = struct(of("ValidatingAdmissionPolicySpec"), {
    paramKind: struct(of("ParamKind"), { apiVersion: string(), kind: string() }),
    matchConstraints: matchResources,
    validations: list(
      struct(of("Validation"), {
        expression: string(),
        message: string(),
        reason: string("v1.StatusReason"),
        messageExpression: string(),
      }),
    ),
    failurePolicy: string(of("FailurePolicyType")),
    auditAnnotations: list(struct(of("AuditAnnotation"), { key: string(), valueExpression: string() })),
    matchConditions: list(struct(of("MatchCondition"), { name: string(), expression: string() })),
    variables: list(struct(of("Variable"), { name: string(), expression: string() })),
  });
  const bindingSpec = struct(of("ValidatingAdmissionPolicyBindingSpec"), {
    policyName: string(),
    paramRef: struct(of("ParamRef"), {
      name: string(),
      namespace: string(),
      selector: LABEL_SELECTOR,
      parameterNotFoundAction: string(of("ParameterNotFoundActionType")),
    }),
    matchResources,
    validationActions: list(string(of("ValidationAction"))),
  });
  const status = struct(of("ValidatingAdmissionPolicyStatus"), {
    observedGeneration: integer,
    typeChecking: struct(of("TypeChecking"), {
      expressionWarnings: list(struct(of("ExpressionWarning"), { fieldRef: string(), warning: string() })),
    }),
    conditions: list(CONDITION),
  });
  const object = (kind: string, fields: Readonly<Record<string, ApiType>>): ApiType =>
    struct(of(kind), { apiVersion: string(), kind: string(), metadata: OBJECT_META, ...fields });
  return {
    policy: object("ValidatingAdmissionPolicy", { spec, status }),
    binding: object("ValidatingAdmissionPolicyBinding", { spec: bindingSpec }),
    spec,
  };
}

/** The Go types of policies and bindings by API version, for strict decoding. All versions have the same members. */
export const API_TYPES: ReadonlyMap<string, ApiTypes> = new Map(
  ["v1", "v1beta1", "v1alpha1"].map((version) => [version, apiTypes(version)]),
);
