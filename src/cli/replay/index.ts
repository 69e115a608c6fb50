/** `replay`: evaluates recorded requests by another configuration. */

import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { EXIT, nothingJudged } from "../../data/exit-codes.js";
import { stringifyJson } from "../../data/json.js";
import { didYouMean } from "../../data/suggest.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { Asker } from "../../offline/replay/asker.js";
import { aboutOf, type Changed } from "../../offline/replay/changed.js";
import { type Input, inputsOf } from "../../offline/replay/inputs.js";
import type { Output, Summary } from "../../offline/replay/output.js";
import type { Found } from "../../offline/replay/question.js";
import { readRequests } from "../../offline/replay/read.js";
import { replay } from "../../offline/replay/run.js";
import { Progress } from "../apply/progress.js";
import { isTerminal, paintFor } from "../look/paint.js";
import { TextOutput } from "./text-output.js";

// Changes as JSON: one document, written while changes are found, so that no list of them is kept.

/** JSON on standard output. */
class JsonOutput implements Output {
  readonly #write: (text: string) => Promise<void>;
  #isFirst = true;

  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  async change({ policy, change, question, before, after }: Changed): Promise<void> {
    const { place, time, redacted, doubts } = question;
    const one = {
      policy,
      change,
      place,
      ...(time !== undefined && time !== "" && { time }),
      request: aboutOf(question),
      before: before ?? null,
      after,
      ...(redacted && { redacted }),
      ...(doubts.length > 0 && { doubts }),
    };
    await this.#write(`${this.#isFirst ? '{"changes":[\n' : ",\n"}${stringifyJson(defined(one))}`);
    this.#isFirst = false;
  }

  async end({ tally, unreadable, skipped, doubts }: Summary): Promise<void> {
    const rest = {
      policies: Object.fromEntries(tally.policies),
      total: tally.total,
      unreadable,
      skipped: Object.fromEntries(skipped),
      doubts: Object.fromEntries(doubts),
    };
    const begin = this.#isFirst ? '{"changes":[' : "\n";
    await this.#write(`${begin}],\n${stringifyJson(rest).slice(1)}\n`);
  }
}

/** Removes undefined members. */
function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(defined);
  if (typeof value !== "object" || value === null || value instanceof Number) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, defined(member)]])),
  );
}

/** Arguments beside the files. */
export interface ReplayArguments {
  /** A configuration in place of the recorded answers. */
  readonly against?: string;
  readonly policy?: readonly string[];
  readonly map?: readonly string[];
  readonly output?: string;
  readonly all?: boolean;
  readonly failOnChange?: boolean;
}

/**
 * Runs the command.
 * @returns 0; 1 with `--fail-on-change` when something would change; 3 when nothing of the files could be asked about
 * @throws UsageError for invalid arguments
 */
export async function replayCommand(
  files: readonly string[],
  args: ReplayArguments,
  settings: LoaderSettings,
  io: CommandIo,
): Promise<number> {
  if (files.length === 0) throw new UsageError("which requests? replay <file…>; serve --record writes such files");
  const renamed = renamedOf(args.map ?? []);
  const inputs = await inputsOf(files, io.stdin);
  const after = await Asker.load(settings, io);
  let before: Asker | undefined;
  try {
    if (args.against !== undefined) before = await Asker.load({ ...settings, file: args.against }, io);
    for (const [, id] of renamed) requireId(id, after, "--map");
    const only = new Set(args.policy ?? []);
    const progress = progressOf(inputs, io);
    const write = writerOf(io, () => progress?.clear());
    const paint = paintFor(io.stdout, io.env);
    const output = args.output === "json" ? new JsonOutput(write) : new TextOutput(write, paint, args.all === true);
    const summary = await replay(allRequests(inputs, progress), { after, before, only, renamed, output });
    progress?.clear();
    await output.end(summary);
    const { tally } = summary;
    if (tally.total.requests === 0) {
      if (summary.unreadable.count === 0) return nothingJudged(nothingUsable(only), io);
      say(io.stderr, `Error: ${nothingUsable(only)}`);
      return EXIT.NOT_ASKED;
    }
    return args.failOnChange === true && tally.changes > 0 ? EXIT.NO : EXIT.FINE;
  } finally {
    after.close();
    before?.close();
  }
}

function nothingUsable(only: ReadonlySet<string>): string {
  return only.size > 0
    ? `no request that was put to ${[...only].join(", ")} is in the files`
    : "no request that a policy could be asked about is in the files";
}

/** Parses pairs `old=new`. */
function renamedOf(pairs: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    pairs.map((pair) => {
      const [from = "", to = "", ...more] = pair.split("=");
      if (from === "" || to === "" || more.length > 0)
        throw new UsageError(`--map ${pair}: write <recorded id>=<id in the policies file>`);
      return [from, to];
    }),
  );
}

function requireId(id: string, { policies }: Asker, option: string): void {
  if (policies.entries.has(id)) return;
  const ids = [...policies.entries.keys()];
  const hint = didYouMean(id, ids) || ` (there are ${ids.slice(0, 20).join(", ")})`;
  throw new UsageError(`${option}: the policies file has no policy ${id}${hint}`);
}

async function* allRequests(inputs: readonly Input[], progress: Progress | undefined): AsyncGenerator<Found> {
  let done = 0;
  for (const input of inputs) {
    yield* readRequests(input, (bytes) => {
      done += bytes;
      progress?.at(done);
    });
  }
}

function progressOf(inputs: readonly Input[], { stderr }: CommandIo): Progress | undefined {
  const total = inputs.reduce((sum, { bytes }) => sum + bytes, 0);
  return isTerminal(stderr) && total > 0 ? new Progress(stderr, total, () => performance.now()) : undefined;
}

/** Writes, and waits for a slow reader. */
function writerOf({ stdout }: CommandIo, clear: () => void): (text: string) => Promise<void> {
  return async (text) => {
    clear();
    if (!stdout.write(text)) await new Promise((resolve) => stdout.once("drain", resolve));
  };
}
