/** What Kyverno's policies want to be asked about (spec kyverno.md 2.8, 3). */
import { autogenOf } from "../../kinds/kyverno/autogen/autogen.js";
import type { PolicySpec } from "../../kinds/kyverno/resource.js";
import { isObject, member, namespaceOf } from "../../kubernetes/object.js";
import { anyOf, webhookRulesOf } from "./constraints.js";
import { type AskedPolicy, failurePolicyOf, matchPolicyOf, timeoutOf } from "./demand.js";
import { type PortableConditions, readConditions } from "./portable-conditions.js";
import { readMatch, textsOf } from "./rules.js";
import { CEL_SIDE_EFFECTS, OWN_DOMAIN, operationsOf } from "./shared.js";

/** Modes of evaluation that no API server asks for. */
const OTHER_MODES: ReadonlySet<unknown> = new Set(["JSON", "HTTP", "Envoy"]);

/** For Kyverno an object that is not there is an empty one, for the API server it is null: conditions are only the same where it is there. */
const OBJECT_AT: ReadonlySet<string> = new Set(["CREATE", "UPDATE"]);
const OLD_OBJECT_AT: ReadonlySet<string> = new Set(["UPDATE", "DELETE"]);

/** What a demand is made with. */
interface KyvernoOptions {
  readonly conditions: PortableConditions;
  /** Whether there are exceptions from it: what they exempt is not to fail on its conditions. */
  readonly excepted: boolean;
}

/**
 * A ValidatingPolicy or NamespacedValidatingPolicy; `undefined` for one that admission never asks. The pods' controllers that it judges are asked about, too.
 *
 * Labels of an object that is not there are none for Kyverno's engine, so that a selector of objects without a label holds for every CREATE; its own webhooks have that
 * selector and ask about the others only, and so do these.
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
    others: 2,
    objectAt: OBJECT_AT,
    oldObjectAt: OLD_OBJECT_AT,
    operations: operationsOf(said.rules),
  };
  // Variants have conditions of their own. Where a condition that fails makes the API server refuse, it must be one that makes the policy deny.
  const copies = variants.length === 0 && (failurePolicy === "Ignore" || (denies && said.isExact && !excepted));
  const namespace = namespaceOf(resource);
  return {
    id,
    demand: {
      rules: said.rules,
      namespaceSelector: said.namespaceSelector,
      objectSelector: said.objectSelector,
      matchConditions: copies ? conditions.of(readConditions(member(spec, "matchConditions")), use) : [],
      matchPolicy: matchPolicyOf(own.matchPolicy),
      failurePolicy,
      sideEffects: CEL_SIDE_EFFECTS,
      timeoutSeconds: timeoutOf(member(member(spec, "webhookConfiguration"), "timeoutSeconds")),
    },
    mutating: false,
    shares: true,
    domain: OWN_DOMAIN,
    ...(namespace !== "" && { namespace }),
  };
}

/** What of a spec decides which variants there are. */
function specOf(spec: unknown, matchConstraints: NonNullable<PolicySpec["matchConstraints"]>): PolicySpec {
  const controllers = member(member(member(spec, "autogen"), "podControllers"), "controllers");
  return {
    matchConstraints,
    ...(Array.isArray(controllers) && { autogen: { podControllers: { controllers: textsOf(controllers) } } }),
  };
}
