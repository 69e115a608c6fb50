/**
 * The demands of ValidatingAdmissionPolicies and MutatingAdmissionPolicies, where they are not left to the API server (spec validating-admission-policy.md 1.4,
 * 3, mutating-admission-policy.md 2, 3).
 */
import { isObject, member } from "../../kubernetes/object.js";
import { webhookRulesOf } from "./constraints.js";
import {
  type AskedPolicy,
  DEFAULT_TIMEOUT_SECONDS,
  failurePolicyOf,
  matchPolicyOf,
  type WebhookRule,
} from "./demand.js";
import { type PortableConditions, readConditions } from "./portable-conditions.js";
import { readMatch, textsOf } from "./rules.js";
import { allOf } from "./selectors.js";

/** The end of the names of webhooks that are not Kubewarden's. */
export const OWN_DOMAIN = "policy-server.admission";

/** Kyverno's value for its webhooks; used for all CEL policies, so that they may share one: the API server sends dry runs either way. */
export const CEL_SIDE_EFFECTS = "NoneOnDryRun";

/** The operations of rules. */
export const operationsOf = (rules: readonly WebhookRule[]): ReadonlySet<string> =>
  new Set(rules.flatMap(({ operations }) => operations));

/** The options of a demand. */
interface AdmissionPolicyOptions {
  readonly conditions: PortableConditions;
  /** Specs of the bindings that name it; absent: it acts by itself, and denies. */
  readonly bindings?: readonly unknown[];
  /** In place of the bindings' own. */
  readonly validationActions?: readonly string[];
  /** Whether it is a MutatingAdmissionPolicy; default false. */
  readonly mutating?: boolean;
  /** Whether the API server has it, too. */
  readonly isAdmissionPolicy?: true;
}

/** The operations about which a MutatingAdmissionPolicy is asked: nothing is mutated that is deleted. */
const MUTATED = ["CONNECT", "CREATE", "UPDATE"];

/**
 * The demand of a policy; `undefined` for one without a binding, which never acts.
 * @param spec the policy's spec
 */
export function admissionPolicyDemand(
  id: string,
  spec: unknown,
  { conditions, bindings, validationActions, mutating = false, isAdmissionPolicy }: AdmissionPolicyOptions,
): AskedPolicy | undefined {
  if (bindings?.length === 0) return undefined;
  const match = readMatch(member(spec, "matchConstraints"));
  const asked = webhookRulesOf(match);
  const said = mutating ? { ...asked, rules: asked.rules.flatMap(mutatedOf) } : asked;
  const [binding, ...more] = bindings ?? [];
  const narrowing = member(binding, "matchResources");
  const bound = more.length === 0 && isObject(narrowing) ? readMatch(narrowing) : {};
  // Its rules may hold for the object in another version than the policy's do: the policy itself checks them.
  const narrowed = webhookRulesOf({ ...bound, resourceRules: [] });
  const rulesNarrow = (bound.resourceRules ?? []).length + (bound.excludeResourceRules ?? []).length > 0;
  const bindingSaid =
    more.length === 0
      ? narrowed.isExact && !rulesNarrow
      : bindings?.some((each) => !isObject(member(each, "matchResources")));
  const failurePolicy = failurePolicyOf(member(spec, "failurePolicy"));
  // A failure of a mutating one is always a refusal.
  const denies = mutating || actionsOf(bindings, validationActions).includes("Deny");
  const hasParams = isObject(member(spec, "paramKind"));
  // A failing condition makes the API server refuse the request, so it must be one for which the policy would deny: the policy evaluates it only for bound
  // requests with a parameter.
  const copies = failurePolicy === "Ignore" || (denies && said.isExact && bindingSaid === true && !hasParams);
  const use = { others: 1, operations: operationsOf(said.rules) };
  return {
    id,
    demand: {
      rules: said.rules,
      named: said.named,
      namespaceSelector: allOf(said.namespaceSelector, narrowed.namespaceSelector),
      objectSelector: allOf(said.objectSelector, narrowed.objectSelector),
      matchConditions: copies ? conditions.of(readConditions(member(spec, "matchConditions")), use) : [],
      matchPolicy: matchPolicyOf(match.matchPolicy),
      failurePolicy,
      sideEffects: CEL_SIDE_EFFECTS,
      timeoutSeconds: DEFAULT_TIMEOUT_SECONDS,
    },
    // It does not judge reviews, even where its rules name them (spec validating-admission-policy.md 3.8).
    asksAboutRights: true,
    hasExemptions: true,
    ...(isAdmissionPolicy && { isAdmissionPolicy }),
    mutating,
    shares: true,
    domain: OWN_DOMAIN,
    ...(mutating && { reinvocation: member(spec, "reinvocationPolicy") === "IfNeeded" ? "IfNeeded" : "Never" }),
  };
}

/** The part of a rule about operations that mutate. */
function mutatedOf(rule: WebhookRule): readonly WebhookRule[] {
  const operations = MUTATED.filter((each) => rule.operations.includes(each) || rule.operations.includes("*"));
  return operations.length === 0 ? [] : [{ ...rule, operations }];
}

function actionsOf(bindings: readonly unknown[] | undefined, given: readonly string[] | undefined): readonly string[] {
  if (given !== undefined) return given;
  if (bindings === undefined) return ["Deny"];
  return bindings.flatMap((each) => textsOf(member(each, "validationActions")));
}
