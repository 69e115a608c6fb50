/** `completion words`: what may stand at the cursor, read from the definition of the command line. */
import type { Argument, Command, Option } from "commander";
import { PROBLEM_CODES } from "../../config/documents/problem-codes.js";
import { loadConfig } from "../../config/index.js";
import { policiesFile } from "../../loader/settings.js";
import { KNOWN_VERSIONS } from "../kubernetes-version.js";
import { SHELLS } from "./scripts.js";

/** The possible values of an option or an argument. `policies`: ids of the policies file. Without any of them: any text. */
interface Values {
  readonly words?: readonly string[];
  readonly paths?: ":files" | ":folders";
  readonly policies?: true;
}

const FILES: Values = { paths: ":files" };

/** Words that the definition of an option has only in its description, by flag. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  "--operation": ["CREATE", "UPDATE", "DELETE", "CONNECT"],
  "--execution-mode": ["kubewarden-wapc", "opa", "gatekeeper", "wasi", "extism"],
  "--output-format": ["json", "yaml", "markdown", "junit"],
  "--kubernetes-version": KNOWN_VERSIONS,
};

/**
 * The lines of an answer: each a word, with a tab and its description where there is one.
 * @param written the words of the command line up to the cursor, without the executable; the last may be empty
 * @param defaultCommand the command without a name
 * @param defaultFile the policies file where no word names one
 */
export function wordsAt(
  program: Command,
  written: readonly string[],
  defaultCommand: string,
  defaultFile: string | undefined,
): readonly string[] {
  const { words, prefix, current } = separated(written);
  let command: Command | undefined;
  let pending: Option | undefined;
  let file = defaultFile;
  let place = 0;
  const named = (name: string): Command | undefined => program.commands.find((each) => each.name() === name);
  const options = (): readonly Option[] => {
    const chosen = command ?? named(defaultCommand) ?? program;
    return chosen.createHelp().visibleOptions(chosen);
  };
  for (const word of words) {
    if (pending !== undefined) {
      if (pending.long === "--policies") file = word;
      pending = undefined;
    } else if (word.startsWith("-")) {
      pending = options().find(({ long, short, required }) => required && (word === long || word === short));
    } else if (command === undefined) command = named(word);
    else place++;
  }
  const commands = program.commands.map((each) => described(each.name(), each.description()));
  const lines = (): readonly string[] => {
    if (pending !== undefined) return linesOf(optionValues(pending), file);
    if (current.startsWith("-")) return options().map(({ long, description }) => described(long ?? "", description));
    if (command === undefined) return commands;
    const [first, second] = command.registeredArguments;
    const argument = place === 0 || first?.variadic ? first : second;
    return argument === undefined ? [] : linesOf(argumentValues(argument, commands), file);
  };
  return lines()
    .filter((line) => line.startsWith(":") || line.startsWith(current))
    .map((line) => (line.startsWith(":") ? line : `${prefix}${line}`));
}

/** The text in parentheses, variable and default, is only for the help. */
const described = (word: string, description: string): string => `${word}\t${description.replace(/ \([^()]*\)$/, "")}`;

/** The words before the cursor and the one at it, with `--flag=value` in two. bash makes three words of it: only the others want the flag back, as `prefix`. */
function separated(written: readonly string[]): {
  readonly words: readonly string[];
  readonly prefix: string;
  readonly current: string;
} {
  const last = written.at(-1) ?? "";
  const [, prefix = ""] = /^(--[\w-]+=)/.exec(last) ?? [];
  const words = written
    .slice(0, -1)
    .flatMap((word) => (word === "=" ? [] : /^--[\w-]+=/.test(word) ? word.split(/=(.*)/s, 2) : [word]));
  if (prefix !== "") words.push(prefix.slice(0, -1));
  return { words, prefix, current: last === "=" ? "" : last.slice(prefix.length) };
}

function argumentValues(argument: Argument, commands: readonly string[]): Values {
  const name = argument.name();
  if (argument.argChoices !== undefined) return { words: argument.argChoices };
  if (/^(?:policy|policies|what)$/.test(name)) return { ...FILES, policies: true };
  if (name === "shell") return { words: SHELLS };
  if (name === "code") return { words: PROBLEM_CODES };
  if (name === "command") return { words: commands };
  return /^(?:files?|paths?|name)$/.test(name) ? FILES : {};
}

function optionValues({ argChoices, description, flags, long }: Option): Values {
  const [, placeholder = ""] = /<(.+)>/.exec(flags) ?? [];
  const flag = long ?? flags;
  const words = argChoices ?? (placeholder.includes("|") ? placeholder.split("|") : WORDS[flag]);
  if (words !== undefined) return { words };
  if (/^ids?$/.test(placeholder) || flag === "--approve") return { policies: true };
  if (placeholder === "folder" || /^folder\b/.test(description)) return { paths: ":folders" };
  if (/^(?:file|files|path|paths|file-or-map)$/.test(placeholder)) return FILES;
  const isPath = placeholder === "text" && /(?:files?|path|policies|config|record)$/.test(flag);
  return isPath ? FILES : {};
}

function linesOf({ words = [], paths, policies }: Values, file: string | undefined): readonly string[] {
  return [...words, ...(policies ? policyIds(file) : []), ...(paths === undefined ? [] : [paths])];
}

/** Ids that need no quotes in any of the shells. */
const PLAIN_ID = /^[\w./-]+$/;

/** The ids of a policies file, members of groups included; none of a file that cannot be read. */
function policyIds(file: string | undefined): readonly string[] {
  const read = loadConfig(policiesFile({ file }), { salvage: true });
  const config = read.ok ? read.config : read.salvaged?.config;
  const ids = (config?.entries ?? []).flatMap((entry) => [
    entry.id,
    ...(entry.kind === "group" ? entry.members.map(({ name }) => `${entry.id}/${name}`) : []),
  ]);
  return ids.filter((id) => PLAIN_ID.test(id));
}
