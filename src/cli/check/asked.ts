/** Warnings about rules of policies that webhooks never ask about, and about rules that could lock a cluster. */
import { auditedConfig } from "../../cluster/audit/audited-policies.js";
import { unaskedNamespace } from "../../cluster/webhooks/exclusions.js";
import { askedEntries } from "../../cluster/webhooks/from-entries.js";
import { ruleAdvice } from "../../cluster/webhooks/unasked.js";
import { opened } from "../../config/documents/documents.js";
import type { Config, PolicyEntry, Problem } from "../../config/index.js";
import { isObject, member } from "../../kubernetes/object.js";

/** The facts about the cluster in which the policies are to be. */
export interface AskingCluster {
  /** Its minor version; absent: any. */
  readonly release?: string | undefined;
  /** Whether it evaluates ValidatingAdmissionPolicies by itself. */
  readonly evaluatesAdmissionPolicies: boolean;
}

/** Warnings about the rules of a configuration's policies. */
export function askedProblems(config: Config, server: AskingCluster): readonly Problem[] {
  const { entries } = auditedConfig(config);
  const { policies } = askedEntries(entries, new Map());
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return policies.flatMap((policy): readonly Problem[] => {
    const entry = byId.get(policy.id);
    if (entry === undefined || entry.kind === "invalid") return [];
    const namespace = unaskedNamespace("", [], policy);
    if (namespace !== undefined)
      return [warning(entry, NEVER_ASKED, `it is never asked: no webhook asks about the namespace ${namespace}`)];
    const advice = policy.demand.rules.length === 0 ? undefined : ruleAdvice(policy, server);
    if (advice === undefined) return [];
    return [
      advice.isNeverAsked
        ? warning(entry, NEVER_ASKED, `it is never asked: ${advice.text}`)
        : warning(entry, advice.isDangerous ? "POLICY_CAN_LOCK" : NEVER_ASKED, advice.text),
    ];
  });
}

const NEVER_ASKED = "POLICY_NEVER_ASKED";

/** The warning at the rules of an entry's policy. */
function warning(entry: PolicyEntry, code: typeof NEVER_ASKED | "POLICY_CAN_LOCK", message: string): Problem {
  const { origin } = entry;
  const documents = entry.kind === "resource" ? opened(entry.documents) : [];
  const policy = documents.find(({ value }) => isObject(member(member(value, "spec"), "matchConstraints")));
  const constraints = ["matchConstraints", "resourceRules"];
  const [document, path] =
    policy !== undefined
      ? [policy, ["spec", ...constraints]]
      : [origin.document, [...origin.path, ...(entry.kind === "cel" ? ["cel", ...constraints] : ["rules"])]];
  return { ...document.problem("error", path, message, undefined, { code }), severity: "warning" };
}
