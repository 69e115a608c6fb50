import type { Counts, Finding, ReportedPolicy } from "./finding.js";

/** Counts of nothing. */
export const NO_COUNTS: Counts = { pass: 0, fail: 0, error: 0, skip: 0, judged: 0 };

/** Number of findings by status. */
export function countsOf(findings: readonly Finding[], policies: readonly ReportedPolicy[]): Counts {
  let [pass, fail, error, skip, judged] = [0, 0, 0, 0, 0];
  for (const { status, policy, unmatched } of findings) {
    if (unmatched !== true) judged++;
    if (status === "pass") pass++;
    else if (status === "fail") fail++;
    else if (status === "error") error++;
    else if (policies[policy]?.countsSkips !== false) skip++;
  }
  return { pass, fail, error, skip, judged };
}

/** Adds counts. */
export const sum = (a: Counts, b: Counts): Counts => ({
  pass: a.pass + b.pass,
  fail: a.fail + b.fail,
  error: a.error + b.error,
  skip: a.skip + b.skip,
  judged: a.judged + b.judged,
});
