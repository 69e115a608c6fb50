/** Lines with each CertificateRequestPolicy's decision on a request, for the command line. */

import { printable } from "../data/printable.js";
import { isJsonObject } from "../data/same-value.js";
import type { Verdict } from "../policy/served/verdict.js";
import { indented } from "./explain/expression-lines.js";

/** The implementation name of policies that decide such requests. */
const POLICY_KIND = "CertificateRequestPolicy";

type Account = Readonly<Record<string, unknown>>;

/** The decisions behind an answer: the policy's own, or those of a group's members, in order. */
export function decisionLines({ entry, outcome, observations }: Verdict): readonly string[] {
  const own = outcome.account?.();
  if (own === undefined && outcome.verdict === "skip" && entry.policy.implementation === POLICY_KIND)
    return [printable(`${entry.id}: does not apply: ${outcome.reason}`)];
  const members = observations.flatMap(({ policy, outcome: { account } }) =>
    account === undefined ? [] : linesOf(policy, account()),
  );
  return own === undefined ? members : linesOf(entry.id, own);
}

function linesOf(id: string, account: Account): readonly string[] {
  const policies = Array.isArray(account.policies) ? account.policies.filter(isJsonObject) : [];
  const head = printable(`${id}: ${meaning(account)}`);
  const approved = policies.some(({ name }) => name === account.approvedBy);
  return [head, ...indented(policies.flatMap((policy) => policyLines(policy, approved)))];
}

function meaning({ decision, message }: Account): string {
  switch (decision) {
    case "Approved":
      return String(message);
    case "Denied":
      // The message has the reasons of all policies, which have lines of their own.
      return "Denied: no policy approves it";
    case "Unprocessed":
      return `Unprocessed: no policy decides it: ${message}`;
    default:
      // The details of the answer have the reason.
      return "Error: it could not be reviewed";
  }
}

function policyLines({ name, selected, bound, ready, errors }: Account, approved: boolean): readonly string[] {
  const line = (what: string): readonly string[] => [printable(`${name}: ${what}`)];
  if (selected !== true) return line("not selected: it is for other issuers or namespaces");
  if (bound !== true)
    return line(
      bound === false
        ? "not bound: the requester may not use it"
        : "it was not checked whether the requester may use it",
    );
  if (ready !== true && errors === null) return line("not ready");
  if (!Array.isArray(errors)) return line(approved ? "not asked: another one approves" : "not evaluated");
  if (errors.length === 0) return line("approves");
  const texts = errors.map((error) => printable(String(isJsonObject(error) ? error.text : error)));
  return [...line("objects"), ...indented(texts)];
}
