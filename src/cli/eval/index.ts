/** `eval`: evaluates policies, and prints their answers. */

import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import type { ConfigResult } from "../../config/index.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { EXIT, nothingJudged, worstOf } from "../../data/exit-codes.js";
import { yamlText } from "../../data/yaml.js";
import { explainAnswer } from "../../kinds/explanation/index.js";
import { type Asking, Explainer } from "../../kinds/shared/index.js";
import { definedKinds } from "../../loader/defined-kinds.js";
import { type Executor, recordSession, replaySession, SessionError } from "../../loader/index.js";
import { createPolicySource, problemLines } from "../../loader/policy-source.js";
import { type LoaderSettings, policiesFile } from "../../loader/settings.js";
import { createEvaluator } from "../../policy/served/evaluator.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import { isJudged, type Verdict } from "../../policy/served/verdict.js";
import { clusterEntryOptions } from "../loader-settings.js";
import { isTerminal, paintFor } from "../look/paint.js";
import { type Answered, exitCodeOf } from "./answered.js";
import { type EntryOptions, withoutMadePlace } from "./direct-entry.js";
import { createOutput, FORMATS, type Format } from "./output.js";
import { type Question, type QuestionOptions, questionsOf } from "./question.js";
import { subjectOf } from "./subject.js";

// Host calls of guests: recorded, replayed, or neither.

/** A session file to write, or one to replay. */
interface SessionOptions {
  readonly recordHostCapabilities?: string;
  readonly replayHostCapabilities?: string;
}

/** A session for guests' host calls. */
interface Session {
  readonly execute: Executor;
  /** Ends the session after the last question. */
  end(io: CommandIo): Promise<void>;
}

/** The session of the options; undefined where the host answers. */
async function sessionOf({
  recordHostCapabilities: record,
  replayHostCapabilities: replay,
}: SessionOptions): Promise<Session | undefined> {
  if (record !== undefined && replay !== undefined)
    throw new UsageError("a session is either recorded or replayed: give one of the two options");
  if (record !== undefined) {
    const { execute, text: written } = recordSession();
    return { execute, end: () => writeFile(record, written()) };
  }
  if (replay === undefined) return undefined;
  const content = await readFile(replay).catch(() => undefined);
  if (content === undefined) throw new UsageError(`cannot read ${replay}`);
  try {
    const { execute, left } = replaySession(yamlText(content));
    const end = async (io: CommandIo) => {
      if (left() > 0) say(io.stderr, `warning: ${left()} recorded exchanges of ${replay} were not asked for`);
    };
    return { execute, end };
  } catch (error) {
    if (error instanceof SessionError) throw new UsageError(`${replay}: ${error.message}`);
    throw error;
  }
}

/** Options of the command line beside the policies and their loading. */
export interface EvalOptions extends QuestionOptions, SessionOptions, EntryOptions {
  /** Whether the policies are those that a cluster has, in place of the file's. */
  readonly fromCluster?: boolean;
  readonly kyvernoClusterPolicies?: boolean;
  /** Whether to explain answers. */
  readonly explain?: boolean;
  /** Whether to evaluate every policy of the file. */
  readonly all?: boolean;
  /** One of {@link FORMATS}. */
  readonly output?: string;
}

/**
 * `eval <policy…>`: evaluates policies on one or many subjects.
 * @returns 0 allowed, 1 denied, 2 when a policy failed or is unavailable: the worst of all answers; 3 when no policy applies
 * @throws UsageError for invalid questions
 */
export async function evalCommand(
  asked: readonly string[],
  options: EvalOptions,
  given: LoaderSettings,
  io: CommandIo,
): Promise<number> {
  const settings = options.fromCluster === true ? { ...given, kubernetes: true } : given;
  const format = formatOf(options.output, io);
  const { all, object, request, raw, csr } = options;
  const last = asked.at(all === true ? 0 : 1) === undefined ? undefined : asked.at(-1);
  if (last !== undefined && [object, request, raw, csr].every((given) => given === undefined))
    throw new UsageError(`no object is given: name it by --object, as in --object ${last}`);
  const isAsked = (id: string): boolean => all === true || asked.includes(id);
  const read = options.fromCluster === true ? await readCluster(settings, options, isAsked, io) : undefined;
  const subject = subjectOf({ ...options, asked, read, file: policiesFile(settings) });
  const { single, questions } = await questionsOf(
    options,
    io,
    definedKinds(() => (subject.config.ok ? subject.config.config : undefined)),
  );
  const session = await sessionOf(options);
  const explainer = options.explain === true ? new Explainer() : undefined;
  const source = createPolicySource(settings, {
    ...(session && { executor: session.execute }),
    ...(explainer && { watcher: explainer }),
    read: () => subject.config,
  });
  try {
    const loaded = await source.load();
    const problems = problemLines(loaded).map(withoutMadePlace);
    for (const line of problems) say(io.stderr, line);
    if (loaded.fatal !== undefined || !subject.config.ok) return EXIT.NOT_ASKED;
    if (format === "text" && subject.othersWithMistakes > 0) say(io.stderr, othersText(subject.othersWithMistakes));
    const evaluator = createEvaluator(loaded.policies, { policyTimeout: source.policyTimeout });
    const entries = subject.ids.map((id) => servedPolicy(loaded.policies.entries, id));
    const output = createOutput(
      {
        format,
        chosen: options.output !== undefined,
        single: single && entries.length === 1,
        showing: { config: subject.config.config, paint: paintFor(io.stdout, io.env), isDirect: subject.isDirect },
        idWidth: Math.max(0, ...subject.ids.map((id) => id.length)),
      },
      io,
    );
    // Details that repeat a printed problem are only for programs.
    const isNews = (detail: string): boolean => format !== "text" || !problems.some((line) => line.includes(detail));
    const ask = async (entry: ServedPolicy, question: Question): Promise<Answered> => {
      const { review } = question;
      const askings: Asking[] = [];
      const policy = explainer?.explained(entry.policy, (asking) => askings.push(asking)) ?? entry.policy;
      const origin = review.kind === "raw" ? "validate_raw" : "validate";
      const verdict = await evaluator.evaluate({ ...entry, policy }, { review, origin });
      const [asking] = askings;
      const common = { entry, question, verdict, details: detailsOf(verdict).filter(isNews) };
      if (explainer === undefined || asking === undefined) return common;
      const explained = explainAnswer(asking, verdict.outcome, (group) => explainer.membersOf(group));
      return { ...common, explained };
    };
    const codes = new Set<number>();
    let judged = false;
    try {
      for await (const question of questions) {
        for (const entry of entries) {
          const answered = await ask(entry, question);
          output.add(answered);
          // Answers about many objects must not wait in memory for a slow reader.
          if ((io.stdout as { writableNeedDrain?: boolean }).writableNeedDrain === true) await once(io.stdout, "drain");
          codes.add(exitCodeOf(answered.verdict));
          judged ||= isJudged(answered.verdict);
        }
      }
    } finally {
      // Also when a later file is unreadable: the printed output is complete.
      output.end();
    }
    await session?.end(io);
    if (judged) return worstOf([...codes]);
    return nothingJudged(codes.size > 0 ? "no policy applies" : "no file has an object, or there are no policies", io);
  } finally {
    source.close();
  }
}

async function readCluster(
  settings: LoaderSettings,
  { kyvernoClusterPolicies = false }: EvalOptions,
  isAsked: (id: string) => boolean,
  io: CommandIo,
): Promise<ConfigResult> {
  const { clusterConfig } = await import("./from-cluster.js");
  return clusterConfig(settings, clusterEntryOptions({ kyvernoClusterPolicies }), isAsked, io);
}

function formatOf(written: string | undefined, io: CommandIo): Format {
  if (written === undefined) return isTerminal(io.stdout) ? "text" : "json";
  const format = FORMATS.find((each) => each === written);
  if (format === undefined) throw new UsageError(`unknown format '${written}', expected one of ${FORMATS.join(", ")}`);
  return format;
}

function servedPolicy(entries: ReadonlyMap<string, ServedPolicy>, id: string): ServedPolicy {
  const entry = entries.get(id);
  // Members of a group with errors are not served.
  if (entry === undefined) throw new UsageError(`${id} can't be asked: its group could not be loaded`);
  return entry;
}

const othersText = (count: number): string =>
  count === 1 ? "1 other entry has mistakes: run check" : `${count} other entries have mistakes: run check`;

const detailsOf = ({ outcome, observations }: Verdict): readonly string[] => [
  ...new Set(
    [outcome, ...observations.map((observation) => observation.outcome)].flatMap(({ detail }) => detail ?? []),
  ),
];
