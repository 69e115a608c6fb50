import { type ApiType, list, map, string, struct } from "../shared/decode/api-type.js";
import { OBJECT_META } from "../shared/decode/object-meta.js";

/** A label selector. */
export const LABEL_SELECTOR = struct("v1.LabelSelector", {
  matchLabels: map(string()),
  matchExpressions: list(
    struct("v1.LabelSelectorRequirement", {
      key: string(),
      operator: string("v1.LabelSelectorOperator"),
      values: list(string()),
    }),
  ),
});

const RULE = ["RuleWithOperations", "Rule"];
/** The Go structs inside of a rule that its members belong to. */
const RULE_STRUCTS = {
  operations: ["RuleWithOperations"],
  apiGroups: RULE,
  apiVersions: RULE,
  resources: RULE,
  scope: RULE,
};

/** The members of a rule of webhooks. */
export const RULE_MEMBERS = {
  operations: list(string("v1.OperationType")),
  apiGroups: list(string()),
  apiVersions: list(string()),
  resources: list(string()),
  scope: string("v1.ScopeType"),
};

/** The types of policies and bindings in one API version. */
export interface ApiTypes {
  readonly policy: ApiType;
  readonly binding: ApiType;
  /** `spec` of a policy. */
  readonly spec: ApiType;
}

/** The members of one type. */
type Fields = Readonly<Record<string, ApiType>>;

/** A kind's additions to the common members; `of` is the name of a type of this API version, which Go's messages print. */
export interface KindTypes {
  readonly kind: string;
  readonly policySpec: (of: (name: string) => string) => Fields;
  /** The status of policies that have one. The server overwrites it, but decodes it first. */
  readonly policyStatus?: (of: (name: string) => string) => Fields;
  readonly bindingSpec: (of: (name: string) => string) => Fields;
}

/** The Go types of a kind's policies and bindings by API version, for strict decoding. All versions have the same members. */
export const apiTypes = (kind: KindTypes): ReadonlyMap<string, ApiTypes> =>
  new Map(["v1", "v1beta1", "v1alpha1"].map((version) => [version, typesOf(version, kind)]));

function typesOf(version: string, { kind, policySpec, policyStatus, bindingSpec }: KindTypes): ApiTypes {
  const of = (name: string): string => `${version}.${name}`;
  const rules = list(
    struct(of("NamedRuleWithOperations"), { resourceNames: list(string()), ...RULE_MEMBERS }, RULE_STRUCTS),
  );
  const matchResources = struct(of("MatchResources"), {
    namespaceSelector: LABEL_SELECTOR,
    objectSelector: LABEL_SELECTOR,
    resourceRules: rules,
    excludeResourceRules: rules,
    matchPolicy: string(of("MatchPolicyType")),
  });
  const spec = struct(of(`${kind}Spec`), {
    paramKind: struct(of("ParamKind"), { apiVersion: string(), kind: string() }),
    matchConstraints: matchResources,
    failurePolicy: string(of("FailurePolicyType")),
    matchConditions: list(struct(of("MatchCondition"), { name: string(), expression: string() })),
    variables: list(struct(of("Variable"), { name: string(), expression: string() })),
    ...policySpec(of),
  });
  const binding = struct(of(`${kind}BindingSpec`), {
    policyName: string(),
    paramRef: struct(of("ParamRef"), {
      name: string(),
      namespace: string(),
      selector: LABEL_SELECTOR,
      parameterNotFoundAction: string(of("ParameterNotFoundActionType")),
    }),
    matchResources,
    ...bindingSpec(of),
  });
  const object = (name: string, fields: Fields): ApiType =>
    struct(of(name), { apiVersion: string(), kind: string(), metadata: OBJECT_META, ...fields });
  return {
    policy: object(kind, { spec, ...(policyStatus && { status: struct(of(`${kind}Status`), policyStatus(of)) }) }),
    binding: object(`${kind}Binding`, { spec: binding }),
    spec,
  };
}
