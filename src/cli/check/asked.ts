/** Warnings about rules of policies that webhooks never ask about, and about rules that could lock a cluster. */
import { auditedConfig } from "../../cluster/audit/audited-policies.js";
import { askedEntries } from "../../cluster/webhooks/from-entries.js";
import { ruleAdvice, type ServerFacts } from "../../cluster/webhooks/unasked.js";
import { opened } from "../../config/documents/documents.js";
import type { ProblemCode } from "../../config/documents/problem-codes.js";
import type { ConfigResult, PolicyEntry, Problem } from "../../config/index.js";
import { isObject, member } from "../../kubernetes/object.js";

/** Warnings about the rules of a configuration's policies; none where it can't be read. */
export function askedProblems(read: ConfigResult | undefined, server: ServerFacts): readonly Problem[] {
  if (read?.ok !== true) return [];
  const { entries } = auditedConfig(read.config);
  const advice = new Map(
    askedEntries(entries, new Map()).policies.map((policy) => [policy.id, ruleAdvice(policy, server)]),
  );
  return entries.flatMap((entry): readonly Problem[] => {
    const told = advice.get(entry.id);
    if (told === undefined || entry.kind === "invalid") return [];
    return [warning(entry, told.isDangerous ? "POLICY_CAN_LOCK" : "POLICY_NEVER_ASKED", told.text)];
  });
}

/** The warning at the rules of an entry's policy. */
function warning(entry: PolicyEntry, code: ProblemCode, message: string): Problem {
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
