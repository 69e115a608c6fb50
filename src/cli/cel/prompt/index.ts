/** The prompt of `cel`: reads expressions and commands, prints values. */
import { createInterface } from "node:readline";
import { type CommandIo, say } from "../../../data/command-io.js";
import { isTerminal, paintFor } from "../../look/paint.js";
import { addToHistory, historyFile, readHistory } from "./history.js";
import { isUnfinished } from "./open-brackets.js";
import { PromptSession, type SessionOptions } from "./session.js";

/** Longest expression that is waited for: a bracket was left open otherwise. */
const LONGEST_INPUT = 1024 * 1024;
const FIRST = "cel> ";
const NEXT = "...> ";

/** How a prompt is run. */
export interface PromptOptions extends Omit<SessionOptions, "paint"> {
  /** Whether what is typed is remembered for the next time. */
  readonly history: boolean;
}

/** Answers until the input ends. @returns the exit code */
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
  // Whatever was typed is given up, as in a shell.
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
    // An empty line ends what does not end by itself.
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
