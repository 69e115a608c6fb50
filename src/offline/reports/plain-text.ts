/** The default output of `apply`: failures, then counts (spec kyverno.md 8.9). */
import { printable } from "../../data/printable.js";
import type { Counts, Finding, ReportedPolicy, Scanned } from "./finding.js";

/** The first line. */
export function headline(policies: number, resources: number, exceptions: number): string {
  const exempting = exceptions > 0 ? ` with ${exceptions} exception(s)` : "";
  return `\nApplying ${policies} policy rule(s) to ${resources} resource(s)${exempting}...\n`;
}

/** The failures of a resource, and errors and skips of policies that report them; empty without any. */
export function failures(
  { resource: { namespace, kind, name }, findings }: Scanned,
  policies: readonly ReportedPolicy[],
  auditWarn: boolean,
): string {
  let text = "";
  for (const { policy, rule, status, message } of findings) {
    if (!isTold({ policy, status }, policies)) continue;
    const path = `${namespace}/${kind}/${name}`;
    const about = `policy ${policies[policy]?.name ?? ""} -> resource ${path === "//" ? "JSON payload" : path}`;
    text += `${printable(about)} ${auditWarn && status === "fail" ? "failed as audit warning:" : SAID[status]}\n`;
    text += `1 - ${printable(`${rule} ${message === "" ? "validation failed" : message}`)}\n`;
  }
  return text;
}

const SAID: Readonly<Record<Finding["status"], string>> = {
  pass: "passed:",
  fail: "failed:",
  error: "could not be judged:",
  skip: "was not decided:",
};

/** Whether a finding is reported by itself. */
export const isTold = (
  { policy, status }: Pick<Finding, "policy" | "status">,
  policies: readonly ReportedPolicy[],
): boolean => status === "fail" || (status !== "pass" && policies[policy]?.tellsAllButPasses === true);

/** The lines of standard error about a resource: errors that are only counted, reasons of failures, and findings of groups' members. */
export function notes(
  { resource: { namespace, kind, name }, findings }: Scanned,
  policies: readonly ReportedPolicy[],
): readonly string[] {
  return findings.filter(isNoted).flatMap((finding) => {
    const { policy, status, message, note } = finding;
    if (note === undefined && isTold(finding, policies)) return [];
    const path = `${namespace}/${kind}/${name}`;
    const about = `policy ${policies[policy]?.name ?? ""} -> resource ${path === "//" ? "JSON payload" : path}`;
    const level = status === "fail" ? "detail" : "warning";
    const said = status === "error" ? `Error: ${about} could not be judged: ${message}` : `${level}: ${about}: ${note}`;
    return [printable(said)];
  });
}

/** Whether a finding may be one of the {@link notes}. */
export const isNoted = ({ status, note }: Pick<Finding, "status" | "note">): boolean =>
  status === "error" || note !== undefined;

/** The last line; nothing is ever counted as a warning. */
export const countsLine = ({ pass, fail, error, skip }: Counts): string =>
  `\npass: ${pass}, fail: ${fail}, warn: 0, error: ${error}, skip: ${skip} \n`;
