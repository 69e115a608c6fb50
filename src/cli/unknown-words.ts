/** Messages about words of a command line that are not known: what was probably meant, or all that there is. */
import { existsSync } from "node:fs";
import type { Command, Option } from "commander";
import { nearest } from "../data/suggest.js";

/** Names of commands elsewhere, by the command that does the same here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  eval: "evaluate",
  check: "validate lint",
  serve: "run start server",
  scaffold: "init new create generate",
  play: "edit page ui",
  bench: "benchmark",
  audit: "scan",
  inspect: "describe show",
  pull: "download",
  push: "upload publish",
  digest: "hash",
  policies: "list ls",
  rm: "remove delete",
  docs: "documentation",
};

/** The message for an unknown command: the one that was probably meant, what to do with a file, or all commands. */
export function unknownCommand(name: string, program: Command): string {
  const names = program.commands.map((command) => command.name());
  const begun = names.filter((each) => name.length > 1 && each.startsWith(name.toLowerCase()));
  const elsewhere = (each: string): readonly string[] => ELSEWHERE[each]?.split(" ") ?? [];
  const near = nearest(name, names.flatMap(elsewhere)) ?? "";
  const same = names.find((each) => elsewhere(each).includes(near));
  const meant = nearest(name, names) ?? (begun.length === 1 ? begun[0] : same);
  const unknown = `unknown command '${name}'`;
  if (looksLikeFile(name)) {
    const file = existsSync(name) ? "a file" : "there is no such file either, and a file";
    return `${unknown}: ${file} is named as in policy-server check ${name}, or policy-server serve --policies ${name}`;
  }
  if (meant === undefined) return `${unknown} (commands: ${names.join(", ")})`;
  return `${unknown} (did you mean ${JSON.stringify(meant)}?)`;
}

const looksLikeFile = (name: string): boolean => /[/\\]|\.\w+$/.test(name) || existsSync(name);

/** The note on an unknown option: what it is called here, the option that was probably meant, or all letters of the command. */
export function optionNote(flag: string, command: Command): string | undefined {
  const options = command.createHelp().visibleOptions(command);
  const word = flag.replace(/^--?|=.*/g, "");
  if (/^v(?:ersion)?$/i.test(word)) return "(the version: policy-server version)";
  const output = options.find(({ short }) => short === "-o");
  if (output !== undefined && /^(?:format|out|output-format)$/.test(word)) return `(Did you mean ${termOf(output)}?)`;
  const [files] = command.registeredArguments;
  if (/^f(?:ile(?:s|name)?)?$/.test(word) && /^(?:files?|paths?)$/.test(files?.name() ?? ""))
    return `(files are named without an option: policy-server ${command.name()} FILE)`;
  // Commander has a guess of its own for words with two dashes.
  if (flag.startsWith("--")) return undefined;
  const named = options.map(({ long }) => long?.slice(2) ?? "").filter((name) => name !== "");
  const long = word.length > 1 ? nearest(word, named) : undefined;
  if (long !== undefined) return `(Did you mean --${long}?)`;
  const [letter = ""] = word.toLowerCase();
  const otherCase = options.find(({ short }) => short?.toLowerCase() === `-${letter}`);
  if (otherCase !== undefined) return `(Did you mean ${termOf(otherCase)}?)`;
  const begun = named.filter((name) => name.startsWith(letter) && name !== "help");
  if (begun.length > 0 && begun.length <= MOST_BEGUN)
    return `(Did you mean ${begun.map((name) => `--${name}`).join(" or ")}?)`;
  const letters = options.filter(({ short }) => short !== undefined).map(termOf);
  return `(letters that it knows: ${letters.join("; ")})`;
}

/** Most options that a letter is taken for. */
const MOST_BEGUN = 3;

const termOf = ({ short, long }: Option): string => [short, long].filter(Boolean).join(", ");
