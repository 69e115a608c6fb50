/**
 * Good command lines of which one part is dropped, emptied or misspelt: none that judged nothing exits 0, and each that fails says why. Whether one
 * has judged is known without reading what it prints: it is run again with a condition that is false, which must change the answer.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommandLine } from "../../src/cli/command-line.js";
import type { Fuzzer } from "./fuzzer.js";
import { GOOD_COMMANDS, type GoodCommand, KEPT } from "./good-commands.js";
import { pick, type Random, random } from "./random.js";

type Broken = Pick<GoodCommand, "args" | "files" | "stdin"> & { readonly how: string };

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const MOST_FAULTS = 10;

/** Runs a command line in a folder of its own. */
async function said({ args, files, stdin = "" }: Omit<Broken, "how">): Promise<Said> {
  const folder = mkdtempSync(join(tmpdir(), "broken-"));
  const before = process.cwd();
  const placed = (written: string): string => written.replaceAll("DIR", folder);
  try {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), placed(content));
    }
    // Commands look for policies.yaml where they are run.
    process.chdir(folder);
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const [out, err] = [text(stdout), text(stderr)];
    const io = { env: {}, stdin: Readable.from([Buffer.from(placed(stdin))]), stdout, stderr };
    const code = await runCommandLine(args.map(placed), io);
    stdout.end();
    stderr.end();
    return { code, out: (await out).replaceAll(folder, "DIR"), err: (await err).replaceAll(folder, "DIR") };
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  }
}

/** The command line with another condition of all policies. */
function flipped({ args, files, stdin }: Broken, flip: string): Omit<Broken, "how"> {
  const other = (written: string): string => written.replaceAll(KEPT, flip);
  return {
    args: args.map(other),
    files: Object.fromEntries(Object.entries(files).map(([name, content]) => [name, other(content)])),
    ...(stdin !== undefined && { stdin: other(stdin) }),
  };
}

/** A word with a slip: a letter that is missing, stands twice, or is swapped with the next one. */
function misspelt(next: Random, word: string): string {
  const at = next(word.length - 1);
  const [before, letter = "", after] = [word.slice(0, at), word[at], word.slice(at + 1)];
  return pick(next, [
    before + after,
    before + letter + letter + after,
    before + (after[0] ?? "") + letter + after.slice(1),
  ]);
}

/** A text with one slip in one of its words; the condition stays, so that it can be flipped. */
function withSlip(next: Random, written: string): string {
  const words = [...written.matchAll(/[A-Za-z]{2,}/g)].filter(
    ({ index, 0: word }) => !KEPT.includes(word) || index < 0,
  );
  if (words.length === 0) return written;
  const { 0: word, index } = pick(next, words);
  return written.slice(0, index) + misspelt(next, word) + written.slice(index + word.length);
}

/** A text with a line that is dropped, or whose value is. */
function withGap(next: Random, written: string): string {
  const lines = written.split("\n");
  const at = next(lines.length);
  const line = lines[at] ?? "";
  const left = next(2) === 0 ? [] : [line.replace(/:.*/, ":")];
  return [...lines.slice(0, at), ...left, ...lines.slice(at + 1)].join("\n");
}

/** Breaks one part. */
function broken(next: Random, { args, files, stdin }: GoodCommand): Broken {
  const good = { args, files, ...(stdin !== undefined && { stdin }) };
  const names = Object.keys(files);
  const inArguments = names.length === 0 || next(5) < 2;
  if (inArguments) {
    // Without its command the line would start a server.
    const at = next(args.length);
    const arg = args[at] ?? "";
    const way = next(3);
    if (way === 0 && at > 0) return { ...good, args: args.toSpliced(at, 1), how: `without ${arg}` };
    if (way === 1 && at > 0) return { ...good, args: args.with(at, ""), how: `${arg} is empty` };
    return { ...good, args: args.with(at, withSlip(next, arg)), how: `${arg} is misspelt` };
  }
  if (stdin !== undefined && next(2) === 0) {
    const way = pick(next, [() => "", withGap, withSlip]);
    return { ...good, stdin: way(next, stdin), how: "standard input" };
  }
  const name = pick(next, names);
  const { [name]: content = "", ...others } = files;
  const folder = dirname(name);
  switch (next(7)) {
    case 0:
      return { ...good, files: others, how: `${name} is not there` };
    case 1:
      return {
        ...good,
        files: { ...others, [name]: pick(next, ["", "\n", "---\n", "# nothing\n", "{}\n", "[]\n"]) },
        how: `${name} is empty`,
      };
    case 2:
      return { ...good, files: { ...others, [withSlip(next, name)]: content }, how: `${name} has another name` };
    case 3: {
      const left = Object.entries(files).filter(([each]) => !each.startsWith(`${folder}/`));
      return {
        ...good,
        files: { ...Object.fromEntries(left), [`${folder}/README.md`]: "x\n" },
        how: `${folder} is empty`,
      };
    }
    case 4:
    case 5:
      return { ...good, files: { ...others, [name]: withSlip(next, content) }, how: `a slip in ${name}` };
    default:
      return { ...good, files: { ...others, [name]: withGap(next, content) }, how: `a gap in ${name}` };
  }
}

/** Commands that tell what they found, and exit 0 whatever it is. */
const TELLING: ReadonlySet<string> = new Set(["cel", "replay"]);

const STACK = /^\s+at .*:\d+:\d+\)?$|TypeError|Cannot read propert|is not a function|\[object Object\]|\bundefined\b/m;

/** What is wrong with the answer to a command line; `undefined`: nothing. */
async function faultOf(command: Broken, { code, out, err }: Said, flip: string): Promise<string | undefined> {
  if (STACK.test(err)) return "it says what only a programmer understands";
  if (code < 0 || code > 3) return "the exit code is none of the table";
  if (code > 1 && err === "") return "it does not say why";
  if (code === 1 && err + out === "") return "it says nothing";
  if (code !== 0) return undefined;
  const other = await said(flipped(command, flip));
  return other.code === 0 && (!TELLING.has(command.args[0] ?? "") || other.out === out)
    ? "it is green, and judged nothing"
    : undefined;
}

/** What a run has found. */
export interface BrokenCommands {
  readonly cases: number;
  /** Command lines that were broken and exit 0 all the same, because they judged something. */
  readonly green: number;
  readonly faults: readonly string[];
}

/** Tries for so many milliseconds, or cases. */
export async function run(
  milliseconds: number,
  seed: number,
  most = Number.POSITIVE_INFINITY,
): Promise<BrokenCommands> {
  const next = random(seed);
  const faults: string[] = [];
  let [cases, green] = [0, 0];
  const end = performance.now() + milliseconds;
  for (; performance.now() < end && cases < most && faults.length < MOST_FAULTS; cases++) {
    const good = GOOD_COMMANDS[cases % GOOD_COMMANDS.length] as GoodCommand;
    const command = broken(next, good);
    const answer = await said(command);
    const fault = await faultOf(command, answer, good.flip);
    if (answer.code === 0) green++;
    if (fault !== undefined) faults.push(`${fault}: ${command.how}\n${accountOf(command, good, answer)}`);
  }
  return { cases, green, faults };
}

/** The good command lines themselves: each is green, and no longer when its condition is flipped. */
export async function goodFaults(): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const good of GOOD_COMMANDS) {
    const answer = await said(good);
    if (answer.code !== 0) faults.push(`${good.args.join(" ")}: ${answer.code}: ${answer.out}${answer.err}`);
    const fault = await faultOf({ ...good, how: "nothing" }, answer, good.flip);
    if (fault !== undefined) faults.push(`${good.args.join(" ")}: ${fault}`);
  }
  return faults;
}

function accountOf(command: Broken, good: GoodCommand, { code, out, err }: Said): string {
  const changed = Object.entries(command.files).filter(([name, content]) => good.files[name] !== content);
  const shown = changed.map(([name, content]) => `--- ${name}\n${content}`);
  const stdin = command.stdin === good.stdin ? [] : [`--- standard input\n${command.stdin ?? ""}`];
  return [command.args.join(" "), ...shown, ...stdin, `exit ${code}`, out, err].join("\n");
}

export const brokenCommandFuzzer: Fuzzer = {
  name: "commands",
  run: async (milliseconds, seed) => (await run(milliseconds, seed)).faults,
};
