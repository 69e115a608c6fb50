/** The demands of Kubewarden's policies: they define them themselves, and the policies do not check them again (spec kubewarden.md 11.1, 11.2). */
import { member, namespaceOf, text } from "../../kubernetes/object.js";
import { type AskedPolicy, expressionsAskAboutRights, failurePolicyOf, matchPolicyOf, timeoutOf } from "./demand.js";
import { rulesByName } from "./exclusions.js";
import { readConditions } from "./portable-conditions.js";
import { readRules, readSelector, webhookRules } from "./rules.js";

/** The end of the names of Kubewarden's webhooks. */
const DOMAIN = "kubewarden.admission";
/** Side effects that a webhook may have (the API server's own rule). */
const SIDE_EFFECTS: ReadonlySet<string> = new Set(["None", "NoneOnDryRun"]);

/**
 * A policy or a group, in a namespace or cluster-wide.
 * @param id the id under which it is served
 * @param mayCanI whether its modules may call `kubernetes/can_i`
 */
export function kubewardenDemand(id: string, resource: unknown, mayCanI: boolean): AskedPolicy {
  const spec = member(resource, "spec");
  const namespace = namespaceOf(resource);
  const rules = readRules(member(spec, "rules"));
  const sideEffects = text(spec, "sideEffects");
  return {
    id,
    demand: {
      rules: webhookRules(rules),
      named: rulesByName(rules),
      namespaceSelector: namespace === "" ? readSelector(member(spec, "namespaceSelector")) : {},
      objectSelector: readSelector(member(spec, "objectSelector")),
      matchConditions: readConditions(member(spec, "matchConditions")),
      matchPolicy: matchPolicyOf(member(spec, "matchPolicy")),
      failurePolicy: failurePolicyOf(member(spec, "failurePolicy")),
      sideEffects: SIDE_EFFECTS.has(sideEffects) ? sideEffects : "None",
      timeoutSeconds: timeoutOf(member(spec, "timeoutSeconds")),
    },
    asksAboutRights: mayCanI || expressionsAskAboutRights(spec),
    mutating: member(spec, "mutating") === true,
    shares: false,
    domain: DOMAIN,
    ...(namespace !== "" && { namespace }),
    ...(member(spec, "allowInsideAdmissionControllerNamespace") === true && { insideOwnNamespace: true }),
  };
}
