/** The demands of Kyverno's policies (spec kyverno.md 2.8, 3). */
import { autogenOf } from "../../kinds/kyverno/autogen/autogen.js";
import { readOldPolicy } from "../../kinds/kyverno/read-old-policy.js";
import { isMutating, type PolicySpec } from "../../kinds/kyverno/resource.js";
import { isObject, member, namespaceOf, text } from "../../kubernetes/object.js";
import { CEL_SIDE_EFFECTS, OWN_DOMAIN, operationsOf } from "./admission-policy-demand.js";
import { anyOf, webhookRulesOf } from "./constraints.js";
import { type AskedPolicy, expressionsAskAboutRights, failurePolicyOf, matchPolicyOf, timeoutOf } from "./demand.js";
import { type PortableConditions, readConditions } from "./portable-conditions.js";
import { readMatch, textsOf } from "./rules.js";
import { together } from "./together.js";

/** Modes of evaluation without admission requests. */
const OTHER_MODES: ReadonlySet<unknown> = new Set(["JSON", "HTTP", "Envoy"]);

/** The operations at which `object` exists: a missing one is empty for Kyverno but null for the API server, so conditions are equal only where it exists. */
const OBJECT_AT: ReadonlySet<string> = new Set(["CREATE", "UPDATE"]);
const OLD_OBJECT_AT: ReadonlySet<string> = new Set(["UPDATE", "DELETE"]);

/** The options of a demand. */
interface KyvernoOptions {
  readonly conditions: PortableConditions;
  /** Whether it has exceptions: exempted requests must not fail on its conditions. */
  readonly excepted: boolean;
}

/**
 * The demand of a policy of Kyverno; `undefined` for one without admission requests. Controllers of pods that it is for are included.
 *
 * For Kyverno's engine a missing object has no labels, so that a selector of objects without a label holds for every CREATE; its own webhooks have that
 * selector and get only the others, and so do these.
 */
export function kyvernoDemand(
  id: string,
  resource: unknown,
  { conditions, excepted }: KyvernoOptions,
): AskedPolicy | undefined {
  const spec = member(resource, "spec");
  const evaluation = member(spec, "evaluation");
  if (OTHER_MODES.has(member(evaluation, "mode"))) return undefined;
  if (member(member(evaluation, "admission"), "enabled") === false) return undefined;
  const written = member(spec, "matchConstraints");
  if (!isObject(written)) return undefined;
  const own = readMatch(written);
  const variants = autogenOf(specOf(spec, own)).map(({ spec: { matchConstraints = {} } }) => matchConstraints);
  const said = anyOf(
    [own, ...variants].filter(({ resourceRules = [] }) => resourceRules.length > 0).map(webhookRulesOf),
  );
  const failurePolicy = failurePolicyOf(member(spec, "failurePolicy"));
  const actions = textsOf(member(spec, "validationActions"));
  const denies = actions.length === 0 || actions.includes("Deny");
  const use = {
    others: 1,
    objectAt: OBJECT_AT,
    oldObjectAt: OLD_OBJECT_AT,
    operations: operationsOf(said.rules),
  };
  // Variants have conditions of their own. A failing condition makes the API server refuse the request, so it must be one for which the policy would deny.
  // The conditions of a policy are about what those before have left.
  const mutating = isMutating({ kind: text(resource, "kind") });
  const denying = denies && said.isExact && !excepted;
  const copies = !mutating && variants.length === 0 && (failurePolicy === "Ignore" || denying);
  const namespace = namespaceOf(resource);
  return {
    id,
    demand: {
      rules: said.rules,
      named: said.named,
      namespaceSelector: said.namespaceSelector,
      objectSelector: said.objectSelector,
      matchConditions: copies ? conditions.of(readConditions(member(spec, "matchConditions")), use) : [],
      matchPolicy: matchPolicyOf(own.matchPolicy),
      failurePolicy,
      sideEffects: CEL_SIDE_EFFECTS,
      timeoutSeconds: timeoutOf(member(member(spec, "webhookConfiguration"), "timeoutSeconds")),
    },
    asksAboutRights: expressionsAskAboutRights(spec),
    mutating,
    shares: !mutating,
    domain: OWN_DOMAIN,
    ...(namespace !== "" && { namespace }),
  };
}

/** The demand of a policy of the old language: that of all policies that its rules become; `undefined` where admission asks none of them. */
export function oldKyvernoDemand(id: string, resource: unknown, conditions: PortableConditions) {
  if (!isObject(resource)) return undefined;
  const asked = readOldPolicy(resource).rules.flatMap(({ policies }) =>
    policies.flatMap(({ resource: policy }) => kyvernoDemand(id, policy, { conditions, excepted: true }) ?? []),
  );
  if (asked.length === 0) return undefined;
  const demanded = together(id, asked);
  // It checks everything again that it is asked about.
  return { ...demanded, shares: !demanded.mutating };
}

/** The parts of a spec that decide which variants there are. */
function specOf(spec: unknown, matchConstraints: NonNullable<PolicySpec["matchConstraints"]>): PolicySpec {
  const controllers = member(member(member(spec, "autogen"), "podControllers"), "controllers");
  return {
    matchConstraints,
    ...(Array.isArray(controllers) && { autogen: { podControllers: { controllers: textsOf(controllers) } } }),
  };
}
