/** The meaning of the exit codes of each command: the table of docs/command-line.md. */
import type { Command } from "commander";
import { EXIT } from "../data/exit-codes.js";

/** Meanings for one command; absent: it never ends so. */
export interface ExitMeanings {
  /** 0. */
  readonly fine: string;
  /** 1. */
  readonly no?: string;
  /** 2, beside a command line that is not understood. */
  readonly notAsked?: string;
  /** 3; the command has `--allow-empty`. */
  readonly nothing?: string;
}

const COULD_NOT_START: ExitMeanings = { fine: "stopped in order", no: "could not start" };
const DONE: ExitMeanings = { fine: "done", no: "not done" };
const PRINTED: ExitMeanings = { fine: "printed" };

/** The meanings by command. */
export const EXIT_MEANINGS: Readonly<Record<string, ExitMeanings>> = {
  serve: COULD_NOT_START,
  play: COULD_NOT_START,
  scaffold: { fine: "made", notAsked: "nothing was made" },
  check: {
    fine: "no mistake",
    no: "a mistake; with `--strict` a warning, too",
    notAsked: "a file can't be read, is empty, a text or a list, or is named and has documents, but no policy",
    nothing: "there is no policy in a file or folder",
  },
  convert: {
    fine: "everything is converted",
    no: "something is not",
    notAsked: "an input can't be read, or a file is there already",
    nothing: "there is nothing to convert",
  },
  explain: { fine: "printed", notAsked: "there is no such code" },
  eval: {
    fine: "allowed",
    no: "denied",
    notAsked: "a policy failed, or it or the object can't be read: the worst of all answers counts",
    nothing: "no policy applies to an object, or there is none",
  },
  bench: {
    fine: "measured",
    notAsked: "its answers fail, or it or an object can't be read",
    nothing: "the policy applies to no object",
  },
  test: {
    fine: "every case and row is as expected",
    no: "one is not, or too little is covered",
    notAsked: "a file can't be read or has mistakes, a row names what is not there, or its test can't run",
    nothing: "a file or folder has no case and no row",
  },
  apply: {
    fine: "nothing failed",
    no: "a policy failed, or could not judge an object",
    notAsked: "a policy, resource or other file can't be used",
    nothing: "no policy matched a resource, or a named file has none",
  },
  replay: {
    fine: "done",
    no: "with `--fail-on-change`: an answer would change",
    notAsked: "a file can't be read, or holds no request",
    nothing: "no request in the files could be asked about",
  },
  cel: { fine: "a value", no: "an error in place of a value", nothing: "`--batch` without a line" },
  read: { fine: "all read", no: "a file is broken", notAsked: "a file is not there" },
  audit: {
    fine: "nothing failed",
    no: "a policy failed, or could not judge an object",
    notAsked: "a policy, kind or object could not be asked about, or there is no cluster",
    nothing: "no policy matched an object",
  },
  webhooks: {
    fine: "every entry has one",
    no: "some have none",
    notAsked: "the file or the cluster can't be read",
    nothing: "there is no policy",
  },
  inspect: { fine: "could be loaded", no: "not", notAsked: "it is not there", nothing: "a file has no policy" },
  pull: DONE,
  push: DONE,
  verify: {
    fine: "signed as wanted",
    no: "not",
    notAsked: "it could not be looked for",
    nothing: "the file takes no module from a registry",
  },
  digest: DONE,
  policies: { fine: "listed", notAsked: "the folder is not there" },
  rm: DONE,
  completion: PRINTED,
  docs: PRINTED,
  help: PRINTED,
  version: PRINTED,
};

/** Adds `--allow-empty` to the commands that can end with 3. */
export function withAllowEmpty(command: Command): void {
  if (EXIT_MEANINGS[command.name()]?.nothing === undefined) return;
  command.option("--allow-empty", `exit 0 in place of ${EXIT.NOTHING_JUDGED} when nothing is judged`);
}

/** The exit code of a command that has ended. */
export function exitCodeOf(command: Command, code: number): number {
  const isMeant = code === EXIT.NOTHING_JUDGED && command.opts<{ allowEmpty?: true }>().allowEmpty === true;
  return isMeant ? EXIT.FINE : code;
}

/** The table for documents. */
export function exitCodeTable(): string {
  const rows = Object.entries(EXIT_MEANINGS).map(([name, { fine, no, notAsked, nothing }]) => {
    const cells = [fine, no ?? "", notAsked ?? "not understood", nothing ?? ""];
    return `| \`${name}\` | ${cells.join(" | ")} |`;
  });
  return ["| Command | 0 | 1 | 2 | 3 |", "| --- | --- | --- | --- | --- |", ...rows].join("\n");
}
