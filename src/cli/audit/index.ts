/** `audit`: evaluates policies on a cluster's objects, once. */

import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { AuditRunner, type FinishedAudit } from "../../cluster/audit/audit-runner.js";
import type { AuditedPolicy, LeftOut } from "../../cluster/audit/audited-policy.js";
import { COMMAND_AUTHOR, REPORT_APIS } from "../../cluster/audit/object-report.js";
import { FullPace } from "../../cluster/audit/pace.js";
import { AuditPolicySource } from "../../cluster/audit/policy-source.js";
import { formatProblem, loadConfig } from "../../config/index.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import { EXIT, nothingJudged } from "../../data/exit-codes.js";
import { decisionOf } from "../../kinds/admission-policy/upgrade-witness.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { createLoader, findCluster, type PolicyLoader } from "../../loader/index.js";
import { givenFile, type LoaderSettings, policiesFile } from "../../loader/settings.js";
import type { Status } from "../../offline/reports/finding.js";
import type { Outcome, Policy } from "../../policy/index.js";
import { openAccess } from "../../world/cluster.js";
import { Progress } from "../apply/progress.js";
import { upgradeVersion } from "../kubernetes-version.js";
import { clusterEntryOptions } from "../loader-settings.js";
import { isTerminal } from "../look/paint.js";
import type { AuditValues } from "./options.js";
import { auditOutput } from "./output.js";

/** As for `apply`: nearly all allocated memory is soon garbage. */
const HEAP_FLAGS = ["--heap-growing-percent=20", "--semi-space-growth-factor=1"];

/**
 * Audits a cluster.
 * @returns 1 when a policy failed or could not decide, 2 when something could not be evaluated, 3 when no policy matched an object; else 0
 */
export async function auditCommand(values: AuditValues, settings: LoaderSettings, io: CommandIo): Promise<number> {
  for (const flag of HEAP_FLAGS) setFlagsFromString(flag);
  const now = () => performance.now();
  const { kubeconfig } = settings;
  if (values.upgrade !== undefined && values.writeReports)
    throw new UsageError(
      "--upgrade: a report says what is decided now, so that none is written: leave out --write-reports",
    );
  const upgrade = values.upgrade === undefined ? undefined : upgradeVersion(values.upgrade, settings.kubernetesVersion);
  const access = findCluster({ env: io.env, now, ...(kubeconfig !== undefined && { kubeconfig }) });
  if ("missing" in access) return refused(access.missing, io);
  const file = values.fromCluster ? givenFile(settings) : policiesFile(settings);
  const read = file === undefined ? undefined : loadConfig(file);
  if (read?.ok === false) return refused(read.message, io);
  const loader = createLoader({ ...settings, kubernetes: true });
  const newer = upgrade && createLoader({ ...settings, kubernetes: true, kubernetesVersion: upgrade });
  const cluster = openAccess(access, now, () => {});
  if (cluster === undefined) return refused("there is no way to a cluster", io);
  const ended = new AbortController();
  try {
    const runner = new AuditRunner({
      cluster,
      policyTimeout: loader.policyTimeout,
      now,
      wall: Date.now,
      onDefect: (policy, error) => say(io.stderr, `warning: ${policy}: ${String(error)}`),
      api: REPORT_APIS[values.reportApi === "openreports.io" ? "openreports" : "wgpolicyk8s"],
      author: COMMAND_AUTHOR,
      writes: values.writeReports === true,
      namespace: values.namespace ?? "",
      excluded: new Set((values.excludeNamespaces ?? "").split(",").filter((each) => each !== "")),
    });
    const load = async (by: PolicyLoader) => {
      const source = new AuditPolicySource(by, now, values.fromCluster && clusterEntryOptions(values));
      source.useFile(read?.config);
      const unread = values.fromCluster ? await takePolicies(source, cluster, values) : [];
      const loaded = await source.load();
      return { ...loaded, leftOut: [...unread, ...loaded.leftOut] };
    };
    const loaded = await load(loader);
    if (upgrade !== undefined && upgrade === loader.evaluatedAs())
      return refused(`the cluster has Kubernetes ${upgrade} already`, io);
    const then = newer && (await load(newer));
    runner.use(
      then && upgrade ? { ...loaded, policies: bothReleases(loaded.policies, then.policies, upgrade) } : loaded,
    );
    for (const problem of [...(read?.problems ?? []), ...loaded.problems]) say(io.stderr, formatProblem(problem));
    const color = values.removeColor !== true && isTerminal(io.stdout) && !io.env.NO_COLOR;
    const output = auditOutput(values, runner.reported, color);
    const progress = new Bar(io, values.removeColor !== true, now);
    const finished = await runner.run({
      pace: new FullPace(now),
      signal: ended.signal,
      ...(progress.isShown && { progress: (done: number, total: number) => progress.at(done, total) }),
      found: (report) => {
        const text = output.add(report);
        return text === "" ? undefined : printed(text, io, progress);
      },
    });
    progress.clear();
    await printed(output.end(), io, progress);
    tell(finished, output, io);
    return exitCode(finished, values, io);
  } finally {
    ended.abort();
    loader.close();
    newer?.close();
    await cluster.close();
  }
}

/** Only policies that match an object have a status for it. */
function exitCode({ counts, isWell, summary }: FinishedAudit, { namespace }: AuditValues, io: CommandIo): number {
  if (!isWell) return EXIT.NOT_ASKED;
  if (counts.fail > 0 || counts.error > 0) return EXIT.NO;
  if (Object.values(counts).some((count) => count > 0)) return EXIT.FINE;
  const where = namespace === undefined ? "" : ` in the namespace ${namespace}`;
  if (summary.results.size === 0) return nothingJudged("there is no policy to ask in the background", io);
  return nothingJudged(`no policy matched one of ${counted(summary.objects, "object")}${where}`, io);
}

/** Reads the policies of the cluster; those of a kind that can't be read are left out. */
async function takePolicies(
  source: AuditPolicySource,
  cluster: Cluster,
  values: AuditValues,
): Promise<readonly LeftOut[]> {
  const { readDocuments } = await import("../../cluster/sources/read-once.js");
  const { documents, problems } = await readDocuments(cluster, clusterEntryOptions(values));
  source.take({ version: 1, base: 0, put: documents, removed: [], sets: [] });
  return problems.map((reason) => ({ id: "of the cluster", reason, isProblem: true }));
}

/** Policies that deny where a newer release decides otherwise, and allow all else that they match. */
function bothReleases(
  policies: readonly AuditedPolicy[],
  newer: readonly AuditedPolicy[],
  release: string,
): readonly AuditedPolicy[] {
  const byId = new Map(newer.map((each) => [each.served.id, each.served.policy]));
  return policies.map((each) => {
    const { policy } = each.served;
    const then = byId.get(each.served.id);
    if (then === undefined) return each;
    const { id, kind, implementation, rules } = policy;
    const evaluate = async (...asked: Parameters<Policy["evaluate"]>): Promise<Outcome> => {
      const [before, after] = await Promise.all([policy.evaluate(...asked), then.evaluate(...asked)]);
      const [was, is] = [decisionOf(before), decisionOf(after)];
      if (was === undefined || is === undefined) return was === undefined ? before : after;
      if (was.key === is.key) return before.verdict === "skip" ? before : { verdict: "allow" };
      return {
        verdict: "deny",
        message: `Kubernetes ${release} decides otherwise: ${was.words} before, ${is.words} then`,
      };
    };
    return {
      ...each,
      served: { ...each.served, policy: { id, kind, implementation, rules, immediate: false, evaluate } },
    };
  });
}

/** A bar on a terminal. */
class Bar {
  readonly isShown: boolean;
  readonly #stderr: CommandIo["stderr"];
  readonly #now: () => number;
  #progress: Progress | undefined;

  constructor({ stderr }: CommandIo, wanted: boolean, now: () => number) {
    this.isShown = wanted && isTerminal(stderr);
    this.#stderr = stderr;
    this.#now = now;
  }

  at(done: number, total: number): void {
    this.#progress ??= new Progress(this.#stderr, total, this.#now);
    this.#progress.at(done);
  }

  clear(): void {
    this.#progress?.clear();
  }
}

/** Prints a text at the reader's pace. */
async function printed(text: string, { stdout }: CommandIo, progress: Bar): Promise<void> {
  if (text === "") return;
  progress.clear();
  if (!stdout.write(text)) await once(stdout, "drain");
}

const ORDER: readonly Status[] = ["pass", "fail", "warn", "error", "skip"];

/** Prints left out policies, problems and counts. */
function tell(
  { summary, leftOut, written, counts }: FinishedAudit,
  output: { readonly forPeople: boolean; readonly dropped: number },
  { stdout, stderr }: CommandIo,
): void {
  for (const { id, reason, isProblem } of leftOut) {
    say(stderr, `${isProblem ? "Error" : "warning"}: the policy ${id} is not asked: ${reason}`);
  }
  for (const problem of summary.problems) say(stderr, `Error: ${problem}`);
  if (summary.moreProblems > 0) say(stderr, `Error: ${counted(summary.moreProblems, "more problem")}`);
  if (output.dropped > 0) say(stderr, `warning: not shown: ${counted(output.dropped, "more result")}`);
  const found = ORDER.map((status) => `${status}: ${counts[status]}`).join(", ");
  const reports =
    written === undefined
      ? ""
      : `; reports written: ${written.applied}, deleted: ${written.deleted}, unchanged: ${written.unchanged}`;
  const line = `\n${found} (${counted(summary.objects, "object")}, ${counted(summary.results.size, "policy", "policies")}${reports})\n`;
  (output.forPeople ? stdout : stderr).write(line);
}

const refused = (message: string, { stderr }: CommandIo): number => {
  say(stderr, `Error: ${message}`);
  return EXIT.NOT_ASKED;
};
