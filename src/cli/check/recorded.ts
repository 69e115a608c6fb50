/** Recorded requests, put to the policies of two releases of Kubernetes. */
import type { KubernetesVersion } from "../../cel/index.js";
import type { ConfigResult, Problem } from "../../config/index.js";
import type { CommandIo } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import type { LoadResult } from "../../loader/policy-source.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { Asker } from "../../offline/replay/asker.js";
import type { Changed } from "../../offline/replay/changed.js";
import type { Input } from "../../offline/replay/inputs.js";
import type { Answer, Found } from "../../offline/replay/question.js";
import { readRequests } from "../../offline/replay/read.js";
import { replay } from "../../offline/replay/run.js";

/** Most changed decisions that are told; all are counted. */
const MOST_TOLD = 100;

/** The questions about a newer release. */
export interface UpgradeOptions {
  /** The release: each policy is told whether its decisions can change. */
  readonly upgrade?: KubernetesVersion | undefined;
  /** Recordings, about whose requests it is asked, too. */
  readonly recorded?: readonly Input[] | undefined;
}

/** Whether a problem says that a decision changes. */
export const changes = ({ code, severity }: Problem): boolean =>
  code === "KUBERNETES_UPGRADE" && severity === "warning";

/** Adds a warning for each decision about a recorded request that the newer release changes, and a note that counts all. */
export async function withRecorded(
  loaded: LoadResult,
  { upgrade: release, recorded: inputs = [] }: UpgradeOptions,
  settings: LoaderSettings,
  read: (() => ConfigResult) | undefined,
): Promise<LoadResult> {
  if (release === undefined || inputs.length === 0 || loaded.fatal !== undefined) return loaded;
  const before = await Asker.load(settings, SILENT, read);
  const after = await Asker.load({ ...settings, kubernetesVersion: release }, SILENT, read);
  const problems: Problem[] = [];
  let changed = 0;
  const output = {
    change: async ({ policy, change, question, before: was, after: is }: Changed) => {
      if (was === undefined || "undecided" in is || (was.allowed === is.allowed && change !== "patch")) return;
      changed += 1;
      if (changed <= MOST_TOLD)
        problems.push(
          problem(
            "warning",
            question.place,
            `Kubernetes ${release} decides otherwise under ${policy}\nbefore: ${wordsOf(was)}\nthen: ${wordsOf(is)}`,
          ),
        );
    },
    end: () => Promise.resolve(),
  };
  try {
    const requests = allRequests(inputs);
    const { tally, unreadable } = await replay(requests, {
      before,
      after,
      only: new Set(),
      renamed: new Map(),
      output,
    });
    for (const { place, why } of unreadable.first) problems.push(problem("warning", place, why));
    const { requests: judged, undecided, allows, denies } = tally.total;
    const open = undecided + allows + denies;
    const first = inputs[0]?.name ?? "";
    if (judged === 0)
      problems.push(problem("warning", first, "none of the policies was asked about a recorded request"));
    if (open > 0) problems.push(problem("warning", first, `${open} of ${judged} decisions could not be made`));
    const all = counted(judged, "decision about recorded requests", "decisions about recorded requests");
    const note = `${changed} of ${all} ${changed === 1 ? "changes" : "change"} with Kubernetes ${release}`;
    problems.push(problem("note", first, note));
    return { ...loaded, problems: [...loaded.problems, ...problems] };
  } finally {
    before.close();
    after.close();
  }
}

/** The problems of loading are those of `check`. */
const SILENT = { stderr: { write: () => true } } as unknown as CommandIo;

/** `FILE:LINE` of a recording. */
function problem(severity: Problem["severity"], place: string, message: string): Problem {
  const [, file = place, line = "1"] = /^(.*?):(\d+)/.exec(place) ?? [];
  const where = { file, line: Number(line), column: 1, path: [] };
  return { severity, ...where, message, code: "KUBERNETES_UPGRADE" };
}

const wordsOf = ({ allowed, message = "" }: Answer): string => (allowed ? "allowed" : `denied (${message})`);

/** The requests for all policies, whichever of them were asked. */
async function* allRequests(inputs: readonly Input[]): AsyncGenerator<Found> {
  for (const input of inputs)
    for await (const found of readRequests(input, () => {}))
      yield found.kind === "question" ? { ...found, question: { ...found.question, recorded: [] } } : found;
}
