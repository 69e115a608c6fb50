/** The prompt of `cel`: reads expressions and commands, prints values. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { type CommandIo, say } from "../../../data/command-io.js";
import { isTerminal, paintFor } from "../../look/paint.js";
import { PromptSession, type SessionOptions } from "./session.js";

// The history of the prompt, in a file of the user.

/** Most lines that are kept. */
const LINES = 1000;
/** Longest line that is kept: a longer one was pasted. */
const LONGEST = 4096;

/** The file of the history (https://specifications.freedesktop.org/basedir-spec); undefined without a home folder. */
export function historyFile(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { XDG_STATE_HOME: state = "", HOME: home = "" } = env;
  // By the specification a relative path is ignored.
  if (state.startsWith("/")) return join(state, "policy-server", "cel-history");
  return home === "" ? undefined : join(home, ".local", "state", "policy-server", "cel-history");
}

/** The lines, oldest first; empty without a readable file. */
export function readHistory(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "" && line.length <= LONGEST)
      .slice(-LINES);
  } catch {
    return [];
  }
}

/** Adds lines. Another prompt may have added its own meanwhile. @returns the reason of a failure */
export function addToHistory(file: string, typed: readonly string[]): string | undefined {
  const kept = typed.filter((line) => line.trim() !== "" && line.length <= LONGEST);
  if (kept.length === 0) return undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const lines = [...readHistory(file), ...kept];
    const once = lines.filter((line, index) => line !== lines[index + 1]).slice(-LINES);
    // Others must not read it: it may contain names and values.
    const next = `${file}.${process.pid}`;
    writeFileSync(next, `${once.join("\n")}\n`, { mode: 0o600 });
    renameSync(next, file);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const OPENING = "([{";
const CLOSING = ")]}";

/** Whether a bracket or a text in three quotes is open at the end. Strings and comments are skipped; the compiler reports errors. */
export function isUnfinished(source: string): boolean {
  let depth = 0;
  for (let i = 0; i < source.length; i++) {
    const c = source.charAt(i);
    if (OPENING.includes(c)) depth += 1;
    else if (CLOSING.includes(c)) depth -= 1;
    else if (c === "/" && source.charAt(i + 1) === "/") {
      const end = source.indexOf("\n", i);
      if (end < 0) break;
      i = end;
    } else if (c === '"' || c === "'") {
      const end = stringEnd(source, i);
      if (end === undefined) return source.startsWith(c.repeat(3), i);
      i = end;
    }
  }
  return depth > 0;
}

/** The index of the last quote of a string; undefined when it does not end. */
function stringEnd(source: string, start: number): number | undefined {
  const quote = source.charAt(start);
  const mark = source.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  const raw = /[rR]/.test(source.charAt(start - 1));
  for (let i = start + mark.length; i < source.length; i++) {
    if (source.charAt(i) === "\\" && !raw) i += 1;
    else if (source.startsWith(mark, i)) return i + mark.length - 1;
    else if (mark.length === 1 && source.charAt(i) === "\n") return i;
  }
  return undefined;
}

/** Longest expression that is continued: in a longer one a bracket was left open. */
const LONGEST_INPUT = 1024 * 1024;
const FIRST = "cel> ";
const NEXT = "...> ";

/** Options of a prompt. */
export interface PromptOptions extends Omit<SessionOptions, "paint"> {
  /** Whether the history is kept. */
  readonly history: boolean;
}

/** Answers inputs until their end. @returns the exit code */
export async function runPrompt(options: PromptOptions, { stdin, stdout, stderr, env }: CommandIo): Promise<number> {
  const session = new PromptSession({ ...options, paint: paintFor(stdout, env) });
  const terminal = isTerminal(stdin) && isTerminal(stdout);
  const file = options.history ? historyFile(env) : undefined;
  const typed: string[] = [];
  const reader = createInterface({
    input: stdin,
    output: stdout,
    terminal,
    prompt: FIRST,
    completer: session.complete,
    history: file === undefined ? [] : readHistory(file).reverse(),
    historySize: 1000,
    removeHistoryDuplicates: true,
  });
  stdout.write(`CEL of ${options.environment}. :help lists the commands, Ctrl+D ends.\n`);
  let waiting = "";
  const ask = (): void => {
    reader.setPrompt(waiting === "" ? FIRST : NEXT);
    reader.prompt();
  };
  // The current input is discarded, as in a shell.
  reader.on("SIGINT", () => {
    waiting = "";
    reader.write(null, { ctrl: true, name: "e" });
    reader.write(null, { ctrl: true, name: "u" });
    stdout.write("^C\n");
    ask();
  });
  const ended = new Promise<void>((resolve) => reader.on("close", resolve));
  reader.on("line", (line) => {
    typed.push(line);
    const input = waiting === "" ? line : `${waiting}\n${line}`;
    // An empty line ends an incomplete input.
    if (isUnfinished(input) && line.trim() !== "" && input.length <= LONGEST_INPUT) {
      waiting = input;
      ask();
      return;
    }
    waiting = "";
    const { text, quit } = session.answer(input);
    if (text !== "") stdout.write(`${text}\n`);
    if (quit === true) reader.close();
    else ask();
  });
  ask();
  await ended;
  if (terminal) stdout.write("\n");
  const problem = file === undefined ? undefined : addToHistory(file, typed);
  if (problem !== undefined) say(stderr, `the history can't be kept: ${problem}`);
  return 0;
}
