/** Common mistakes of people who take YAML for something else, with hints. */

/** Longest line that is checked for them, in UTF-16 units. */
const MAX_LENGTH = 2000;

/** Before a value: its key, in a map, in an item of a list or in braces. */
const KEY = String.raw`[\w-]+:\s+`;
const blockValue = (beginning: string): RegExp => new RegExp(String.raw`^\s*(?:- +)*(?:${KEY}|(?<=- +))${beginning}`);
const value = (beginning: string): RegExp =>
  new RegExp(String.raw`^\s*(?:- +)*(?:${KEY}|(?<=- +)|(?:${KEY})?[{[](?:.*[{,[])?\s*(?:${KEY})?)${beginning}`);
const QUOTE_IT = "put the text into quotes";

const HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/^ *\t/, "YAML is indented with spaces only: put two spaces in the place of each tab"],
  [/^\s*(?:\/\/|\/\*)/, "JSON has no comments; those of YAML begin with #"],
  [/^(?:<{7}|={7}|>{7})/, "this is what a merge conflict of git leaves behind: choose one of the two sides"],
  [value("!"), `what begins with ! is a YAML tag: ${QUOTE_IT}`],
  [value(String.raw`\*`), `what begins with * is an alias, the name of a value above: ${QUOTE_IT}`],
  [value("&"), `what begins with & is an anchor, a name for the value: ${QUOTE_IT}`],
  [
    blockValue(String.raw`(?:'[^']*'\s*[^\s#']|"[^"\\]*"\s*[^\s#"])`),
    "the text ends at its second quote: put all of it into the other kind of quotes",
  ],
  [
    new RegExp(String.raw`^\s*(?:- +)*${KEY}[^'"#|>[{\s%@\x60].*:\s`),
    "a value that has a colon and a space in it stands in quotes",
  ],
  [
    blockValue(String.raw`(?:\[.*\]|\{.*\})\s*[.=!<>+&|?]`),
    "the list or map ends at its bracket: put the whole text into quotes",
  ],
];

/** Text between braces that Helm replaces; the first one is looked for, in a text that may be YAML all the same. */
const HELM_VALUE = /\{\{-?[^{}\n]{0,200}(?<=[\s({$-])\.(?:Values|Release|Chart|Capabilities|Files|Template)\b/;
/** The beginnings of what templates do, in a text that is not YAML. */
const ACTION =
  /\{\{-?\s*(?:\.|\$|\/\*|(?:if|else|end|range|with|define|include|template|block|toYaml|default|quote|printf|lookup|tpl)\b)/;

/** The place of something that Helm replaces; undefined for a text that is not a template of a chart. */
export function helmTemplateAt(text: string): number | undefined {
  return text.includes("{{") ? HELM_VALUE.exec(text)?.index : undefined;
}

const isHelmTemplate = (text: string): boolean => text.includes("{{") && (HELM_VALUE.test(text) || ACTION.test(text));

/** The warning about a text that is made into another before it is used. */
export const HELM_TEMPLATE = "this is a Helm template: render it with `helm template` first";
/** The same about any other text with braces. */
export const TEMPLATE = "{{ begins a template, which has to be rendered first; a text that begins so stands in quotes";

/** The warning about a text that begins with a tag. */
export const taggedReason = (meant: string): string =>
  `what begins with ! is a YAML tag, which is dropped: put the text into quotes${meant.length > MOST_QUOTED ? "" : `, ${quoted(meant)}`}`;

const quoted = (text: string): string =>
  text.includes('"') && !text.includes("'") ? `'${text}'` : JSON.stringify(text);

/** Most characters of a text that a warning repeats. */
const MOST_QUOTED = 80;

/** The hint for a line with a syntax error; undefined when none is likely. */
export function yamlHint(text: string, line: number): string | undefined {
  const written = lineOf(text, line);
  if (written.includes("{{")) return isHelmTemplate(text) ? HELM_TEMPLATE : TEMPLATE;
  const known = written.length > MAX_LENGTH ? undefined : HINTS.find(([pattern]) => pattern.test(written))?.[1];
  // An action in a line of its own leaves a mistake behind that is found in another one.
  if (known === undefined && /^[ \t]*\{\{/m.test(text) && isHelmTemplate(text)) return HELM_TEMPLATE;
  return known ?? indentHint(written, lineOf(text, line - 1));
}

/** The hint for a line that is not indented as the one above it asks for: deeper than a complete value, of which it is read as more, or not below its |. */
function indentHint(written: string, above: string): string | undefined {
  const here = written.search(/\S/);
  const [, start, colon, value = ""] = /^( *(?:- +)*)[\w-]+(:?)(?:\s+(\S.*))?\s*$/.exec(above) ?? [];
  if (start === undefined) return undefined;
  if (/^[|>]/.test(value))
    return here <= start.length ? `indent the text deeper than the key of its ${value}` : undefined;
  if (here <= start.length || !/^ +[\w-]+:/.test(written)) return undefined;
  if (colon === "") return value === "" ? "the line above has no colon behind its key" : undefined;
  return value === ""
    ? undefined
    : "this line is indented deeper than the one above it, and so goes on with its value: indent both alike";
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
