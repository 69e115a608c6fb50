/**
 * What a group tells the client about its members: causes and warnings, in the order of definition.
 */
import type { GroupWarnings } from "../../config/entry.js";
import type { Cause, Outcome } from "../../policy/index.js";
import type { MemberAnswer } from "./member.js";

/** One cause per answer that denied or failed (spec kubewarden.md 5.3). */
export function causesOf(members: readonly string[], answers: readonly MemberAnswer[]): Cause[] {
  const causes: Cause[] = [];
  for (const { member, outcome } of members.flatMap((name) => answers.filter((answer) => answer.member === name))) {
    if (outcome.verdict !== "deny" && outcome.verdict !== "error") continue;
    causes.push({ reason: null, message: outcome.message ?? null, field: `spec.policies.${member}` });
  }
  return causes;
}

/** The warnings of a group that has decided. */
export function warningsOf(
  members: readonly string[],
  answers: readonly MemberAnswer[],
  mode: GroupWarnings,
  allowed: boolean,
): string[] {
  if (mode === "none") return [];
  const everyMember = mode === "all" || !allowed;
  const warnings: string[] = [];
  for (const name of members) {
    let asked = false;
    for (const { member, outcome } of answers) {
      if (member !== name) continue;
      asked = true;
      if (everyMember || outcome.verdict === "deny" || outcome.verdict === "error")
        warnings.push(lineOf(name, outcome));
      if (outcome.warnings !== undefined) for (const warning of outcome.warnings) warnings.push(`${name}: ${warning}`);
    }
    if (!asked && everyMember) warnings.push(`${name} was not evaluated`);
  }
  return warnings;
}

function lineOf(name: string, outcome: Outcome): string {
  switch (outcome.verdict) {
    case "allow":
      return `${name} was accepted`;
    case "deny":
      return outcome.message === undefined ? `${name} was rejected` : `${name} was rejected: ${outcome.message}`;
    case "error":
      return `${name} failed: ${outcome.message}`;
    case "skip":
      return `${name} does not apply: ${outcome.reason}`;
  }
}
