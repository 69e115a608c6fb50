/** The steps of a page, in order: commands with what they print, and edits, which comments tell. */

/** One step. */
export type PageStep =
  | { readonly kind: "run"; readonly command: string; readonly output: string; readonly block: string }
  | { readonly kind: "append"; readonly file: string; readonly text: string }
  | { readonly kind: "replace"; readonly file: string; readonly from: string; readonly to: string };

const STEP =
  /```console\n\$ (?<command>.*)\n(?<output>[\s\S]*?)```|<!-- (?<file>\S+): (?:at the end -->\n\n```yaml\n(?<text>[\s\S]*?)```|"(?<from>.*)" becomes "(?<to>.*)" -->)/g;

/** @param page its text */
export function stepsOf(page: string): readonly PageStep[] {
  return [...page.matchAll(STEP)].map(({ 0: block, groups }): PageStep => {
    const { command, output = "", file = "", text, from = "", to = "" } = groups ?? {};
    if (command !== undefined) return { kind: "run", command, output, block };
    return text === undefined ? { kind: "replace", file, from, to } : { kind: "append", file, text };
  });
}
