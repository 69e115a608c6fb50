/** A policy's spec as Go's encoder would write it: empty members are left out, those that Go always writes are present. */
import type { LabelSelector } from "../../shared/match/label-selector.js";
import type { MatchResources } from "../../shared/match/match-resources.js";
import type { ResourceRule } from "../../shared/match/resource-rule.js";
import type { NamedExpression, PolicySpec } from "../resource.js";

type Filled<T> = T extends undefined ? never : T;

/** Leaves out members that are `undefined`. */
function present<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** A list that is not empty, its items converted. */
function items<T, R>(list: readonly T[] | undefined, make: (item: T) => R): readonly R[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list.map(make);
}

const texts = (list: readonly string[] | undefined): readonly string[] | undefined => items(list, (text) => text);
const filled = (text: string | undefined): string | undefined => (text === "" ? undefined : text);
const whole = <T, R>(value: T, make: (value: Filled<T>) => R): R | undefined =>
  value === undefined ? undefined : make(value as Filled<T>);

/** The spec in Go's form, in the order of Go's struct. */
export function goSpec(spec: PolicySpec): PolicySpec {
  return present<PolicySpec>({
    matchConstraints: whole(spec.matchConstraints, goMatch),
    validations: items(spec.validations, ({ expression = "", message, reason, messageExpression }) =>
      present({ expression, message: filled(message), reason, messageExpression: filled(messageExpression) }),
    ),
    failurePolicy: spec.failurePolicy,
    auditAnnotations: items(spec.auditAnnotations, ({ key = "", valueExpression = "" }) => ({ key, valueExpression })),
    matchConditions: items(spec.matchConditions, goNamed),
    variables: items(spec.variables, goNamed),
    autogen: whole(spec.autogen, ({ podControllers, validatingAdmissionPolicy }) =>
      present({
        podControllers: whole(podControllers, ({ controllers }) => present({ controllers: texts(controllers) })),
        validatingAdmissionPolicy: whole(validatingAdmissionPolicy, ({ enabled }) => present({ enabled })),
      }),
    ),
    validationActions: texts(spec.validationActions),
    webhookConfiguration: whole(spec.webhookConfiguration, ({ timeoutSeconds }) => present({ timeoutSeconds })),
    evaluation: whole(spec.evaluation, ({ mode, admission, background }) =>
      present({
        mode: filled(mode),
        admission: whole(admission, ({ enabled }) => present({ enabled })),
        background: whole(background, ({ enabled }) => present({ enabled })),
      }),
    ),
  });
}

const goNamed = ({ name = "", expression = "" }: NamedExpression): NamedExpression => ({ name, expression });

function goMatch(match: MatchResources): MatchResources {
  return present<MatchResources>({
    namespaceSelector: whole(match.namespaceSelector, goSelector),
    objectSelector: whole(match.objectSelector, goSelector),
    resourceRules: items(match.resourceRules, goRule),
    excludeResourceRules: items(match.excludeResourceRules, goRule),
    matchPolicy: match.matchPolicy,
  });
}

function goSelector({ matchLabels = {}, matchExpressions }: LabelSelector): LabelSelector {
  return present<LabelSelector>({
    matchLabels: Object.keys(matchLabels).length === 0 ? undefined : matchLabels,
    matchExpressions: items(matchExpressions, ({ key, operator, values }) =>
      present({ key, operator, values: texts(values) }),
    ),
  });
}

const goRule = (rule: ResourceRule): ResourceRule =>
  present<ResourceRule>({
    resourceNames: texts(rule.resourceNames),
    operations: texts(rule.operations),
    apiGroups: texts(rule.apiGroups),
    apiVersions: texts(rule.apiVersions),
    resources: texts(rule.resources),
    scope: rule.scope,
  });
