/** `explain CODE`: the section of docs/errors.md, which is shipped with the executable. */
import { readFileSync } from "node:fs";
import { type CommandIo, UsageError } from "../data/command-io.js";
import { nearest } from "../data/suggest.js";

const PAGE = new URL("../../../docs/errors.md", import.meta.url);
/** A section about a code, up to the next heading. */
const SECTION = /^### ([A-Z][A-Z_]+)\n([\s\S]*?)(?=^#|(?![\s\S]))/gm;

/**
 * Prints the documentation of a code, or all codes with the first sentence of each.
 * @throws UsageError for a code without a section
 */
export function explainCommand(code: string | undefined, { stdout }: Pick<CommandIo, "stdout">): void {
  const sections = codeSections(readFileSync(PAGE, "utf8"));
  if (code === undefined) {
    const width = Math.max(...[...sections.keys()].map((name) => name.length));
    for (const [name, text] of sections) stdout.write(`${name.padEnd(width)}  ${firstSentence(text)}\n`);
    return;
  }
  const wanted = code.trim().toUpperCase().replaceAll("-", "_");
  const section = sections.get(wanted);
  if (section === undefined) {
    const near = nearest(wanted, sections.keys());
    const help = near === undefined ? "`policy-server explain` prints all" : `did you mean ${near}?`;
    throw new UsageError(`there is no code '${code}': ${help}`);
  }
  stdout.write(`${wanted}\n\n${section}\n`);
}

/** The texts of all sections about codes. */
export function codeSections(page: string): ReadonlyMap<string, string> {
  return new Map([...page.matchAll(SECTION)].map(([, name = "", text = ""]) => [name, text.trim()]));
}

function firstSentence(text: string): string {
  const [line = ""] = text.split("\n\n");
  return /^[\s\S]*?\.(?=\s|$)/.exec(line.replaceAll("\n", " "))?.[0] ?? line;
}
