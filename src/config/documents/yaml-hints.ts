/** What people write who take YAML for something else, and what to write instead. */

/** Longest line that is looked at for that, in UTF-16 units. */
const MAX_LENGTH = 2000;

const HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/^ *\t/, "YAML is indented with spaces only: put two spaces in the place of each tab"],
  [/^\s*(?:\/\/|\/\*)/, "JSON has no comments; those of YAML begin with #"],
  [/\{\{.*\}\}/, "this looks like a template, which has to be rendered first (helm template …)"],
  [/^(?:<{7}|={7}|>{7})/, "this is what a merge conflict of git leaves behind: choose one of the two sides"],
  [/^\s*[\w-]+:\s+[^'"#|>[{\s][^'"#]*:\s/, "a value that has a colon and a space in it stands in quotes"],
  [/^\s*(?:[\w-]+:|-)\s+[!@`%*&]/, "a value that begins with this character stands in quotes"],
  [
    /^\s*"(?:[^"\\]|\\.)*\\[^"\\/abefnrtuvxNLPU0_ ].*"/,
    "\\ begins an escape in double quotes: use single quotes, or write \\\\",
  ],
];

/** Something to say about a line with a mistake of form; undefined when nothing is likely. */
export function yamlHint(text: string, line: number): string | undefined {
  const written = lineOf(text, line);
  if (written.length > MAX_LENGTH) return undefined;
  return HINTS.find(([pattern]) => pattern.test(written))?.[1] ?? indentHint(written, lineOf(text, line - 1));
}

/** A key below a complete value, but deeper: it is read as more of that value. */
function indentHint(written: string, above: string): string | undefined {
  const [here, there] = [/^( +)[\w-]+:/.exec(written), /^( *)(?:- )?[\w-]+:\s+\S/.exec(above)];
  if (here?.[1] === undefined || there?.[1] === undefined || here[1].length <= there[1].length) return undefined;
  return "this line is indented deeper than the one above it, and so goes on with its value: indent both alike";
}

function lineOf(text: string, line: number): string {
  let start = 0;
  for (let current = 1; current < line; current++) {
    const end = text.indexOf("\n", start);
    if (end === -1) return "";
    start = end + 1;
  }
  const end = text.indexOf("\n", start);
  return text.slice(start, end === -1 ? text.length : end);
}
