/** The syntax of other languages, and what CEL has instead: patterns over the text, since a text that can't be parsed has no parts. */
import { blanked, FILL, type Groups, rewritten } from "./blank.js";

/** A kind of syntax that is not CEL. */
export interface ForeignSyntax {
  /** The replacement, as a hint says it. */
  readonly hint: string;
  /** The text with all such places corrected; the same text where there is none. */
  readonly mend: (source: string) => string;
}

/** One pattern, with the flags `d` and `g`. */
const rule = (hint: string, pattern: RegExp, write: (groups: Groups) => string | undefined): ForeignSyntax => ({
  hint,
  mend: (source) => rewritten(source, pattern, write),
});

/** A name with fields, indexes and calls without spaces, such as may stand before an operator. */
const OPERAND = String.raw`(?:[\w.?[\]"'${FILL}]|\([^()]*\))+`;
/** A string, whose text is blanked. */
const STRING = `[rR]?(?:"${FILL}*"|'${FILL}*')`;
/** A literal or a chain of names. */
const VALUE = `(?:${STRING}|-?\\d[\\w.]*|\\[[^\\]]*\\]|\\{\\}|\\w+(?:\\.\\w+)*)`;

/** A pattern between slashes. */
const SLASHED = String.raw`\/((?:[^\/\\\n]|\\.)+)\/[a-z]*`;

const MACROS: ReadonlyMap<string, string> = new Map([
  ["some", "exists"],
  ["any", "exists"],
  ["every", "all"],
  ["each", "all"],
  ["where", "filter"],
  ["select", "map"],
]);

/** The text of a pattern as a raw string. */
const raw = (pattern: string): string => (pattern.includes('"') ? `r'${pattern}'` : `r"${pattern}"`);

const HAS_HINT = 'has() asks about a field, has(a.b); for a key write "key" in a, for a whole value a != null';

/** The rules, in the order in which they are tried: later ones do not see what an earlier one corrected. */
export const FOREIGN_SYNTAX: readonly ForeignSyntax[] = [
  rule("write quotes as \" or '", /[“”„‟]|[‘’‚]/dg, ([quote = ""]) => (/[“”„‟]/.test(quote) ? '"' : "'")),
  rule("leave the braces out: the whole text is an expression", /^\s*(?:\{\{|\$\{)(.*?)\}?\}\s*$/dgs, ([, inner]) =>
    inner?.trim(),
  ),
  rule("write an expression alone, without return", /^\s*return\s+/dg, () => ""),
  rule("leave the semicolon out: an expression is one, and has no end mark", /;\s*$/dg, () => ""),
  { hint: 'put texts together with +: "…" + string(x)', mend: withoutTemplates },
  rule(
    "a macro takes a variable and an expression: write .exists(x, …), .all(x, …), .filter(x, …) or .map(x, …)",
    /\.(\w+)\(\s*\(?\s*(\w+)\s*\)?\s*(?:=>|->)\s*/dg,
    ([, name = "", variable = ""]) => `.${MACROS.get(name) ?? name}(${variable}, `,
  ),
  rule("write == for ===", /===/dg, () => "=="),
  rule("write != for !==", /!==/dg, () => "!="),
  rule("write != for <>", /<>/dg, () => "!="),
  ...["", "!"].map((not) =>
    rule(
      `a text is matched by matches(): write ${not}x.matches(r"pattern")`,
      new RegExp(`(${OPERAND})\\s*${not || "="}~\\s*(?:${SLASHED}|(${STRING}|\\w+(?:\\.\\w+)*))`, "dg"),
      ([, operand = "", pattern, text]) =>
        `${not}${operand}.matches(${pattern === undefined ? (text ?? "") : raw(pattern)})`,
    ),
  ),
  rule(
    'a text is matched by matches(): write x.matches(r"pattern")',
    new RegExp(`${SLASHED}\\.(?:test|match|matches)\\(([^()]*)\\)`, "dg"),
    ([, pattern = "", argument = ""]) => `${argument}.matches(${raw(pattern)})`,
  ),
  rule(
    'a pattern is a text: write matches(r"pattern")',
    new RegExp(`\\.(?:match|matches|test)\\(\\s*${SLASHED}\\s*\\)`, "dg"),
    ([, pattern = ""]) => `.matches(${raw(pattern)})`,
  ),
  rule(
    "what may be absent is written a.?b.orValue(…)",
    new RegExp(`(${OPERAND})\\.(\\w+)\\s*\\?\\?\\s*(${VALUE})`, "dg"),
    ([, operand = "", field = "", value = ""]) =>
      operand.endsWith("?") ? `${operand}.${field}.orValue(${value})` : `${operand}.?${field}.orValue(${value})`,
  ),
  { hint: "what may be absent is written a.?b, and opened by orValue(): a.?b.orValue(…)", mend: withOptionals },
  rule(
    "write ! and parentheses for not: !(…)",
    new RegExp(`(${OPERAND})\\s+not\\s+in\\s+(${VALUE})`, "dgi"),
    ([, x, list]) => `!(${x} in ${list})`,
  ),
  rule("write != null", /\s+is\s+not\s+(?:null|none|nil)\b/dgi, () => " != null"),
  rule("write == null", /\s+is\s+(?:null|none|nil)\b/dgi, () => " == null"),
  rule("write && for and", /(?<=[\w)\]"'}])\s+and\s+(?=[\w([!"'-])/dgi, () => " && "),
  rule("write || for or", /(?<=[\w)\]"'}])\s+or\s+(?=[\w([!"'-])/dgi, () => " || "),
  rule(
    "write ! for not",
    /\bnot\s+(?!in\b)([^&|()]*?(?:\([^()]*\)[^&|()]*?)*)(?=\s*(?:&&|\|\||\)|$))/dgi,
    ([, operand = ""]) => (/[=<>]|\sin\s/.test(operand) ? `!(${operand})` : `!${operand}`),
  ),
  rule(
    "write a condition as `condition ? value : other`",
    /^\s*if\s+(.+?)\s+then\s+(.+?)\s+else\s+(.+?)\s*$/dgs,
    ([, condition, yes, no]) => `${condition} ? ${yes} : ${no}`,
  ),
  rule(
    "write a condition as `condition ? value : other`",
    /^\s*if\s*\((.+?)\)\s*\{?\s*(?:return\s+)?([^{};]+?);?\s*\}?\s*else\s*\{?\s*(?:return\s+)?([^{};]+?);?\s*\}?\s*$/dgs,
    ([, condition, yes, no]) => `${condition} ? ${yes} : ${no}`,
  ),
  rule("write >= for =>", /=>/dg, () => ">="),
  rule("write <= for =<", /=</dg, () => "<="),
  rule("write && for &", /(?<!&)&(?!&)/dg, () => "&&"),
  rule("write || for |", /(?<!\|)\|(?!\|)/dg, () => "||"),
  rule("write != for =!", /(?<![=!<>])=!(?![=~])/dg, () => "!="),
  rule("write == for =: an expression compares, and assigns nothing", /(?<![=!<>:])=(?![=~>])/dg, () => "=="),
  rule(
    "each element is looked at by all() or exists(): write list.all(x, x.field == …)",
    new RegExp(`([\\w.]+)\\[\\*\\]\\.([\\w.]+)\\s*(==|!=)\\s*(${VALUE})`, "dg"),
    ([, list, field, operator, value]) => `${list}.all(x, x.${field} ${operator} ${value})`,
  ),
  rule(
    "an element is taken by [0], not by .0",
    /(?<=[A-Za-z_)\]]\w*)\.(\d+)(?=[.\s)\]]|$)/dg,
    ([, index]) => `[${index}]`,
  ),
  rule(
    'a key that is a word of the language stands in brackets: a["in"]',
    /\.(in|true|false|null)\b(?!\()/dg,
    ([, word]) => `["${word}"]`,
  ),
  { hint: HAS_HINT, mend: withFields },
  { hint: "close the parentheses: a ) is missing", mend: (source) => source + missing(source) },
  { hint: "one ) is too many", mend: withoutExtra },
];

/** `…${x}…` in backquotes. */
function withoutTemplates(source: string): string {
  return rewritten(source, /(?<!\.)`([^`]*)`/dg, ([, text = ""]) => {
    const parts = text.split(/\$\{([^}]*)\}/);
    const texts = parts.map((part, i) => (i % 2 === 1 ? `string(${part})` : part === "" ? "" : JSON.stringify(part)));
    return texts.filter((part) => part !== "").join(" + ") || '""';
  });
}

/** `a.b?.c` asks whether b is there: `a.?b.c`. The resulting optional value is opened where the chain ends. */
function withOptionals(source: string): string {
  let text = source.replaceAll(/\?\.\[/g, "[?");
  for (let before = ""; before !== text; ) {
    before = text;
    text = rewritten(text, /\.(\w+)\?\.(?=[A-Za-z_])/dg, ([, field]) => `.?${field}.`);
  }
  text = rewritten(text, /(?<![.\w])(\w+)\?\.(?=[A-Za-z_])/dg, ([, name]) => `${name}.?`);
  if (text === source) return source;
  const { text: blank } = blanked(text);
  const chains = /\w+(?:\.\??\w+(?!\w*\()|\[\??[^[\]]*\])*/g;
  let result = "";
  let done = 0;
  for (const match of blank.matchAll(chains)) {
    const end = match.index + match[0].length;
    if (!/\.\?|\[\?/.test(match[0]) || blank.startsWith(".orValue(", end)) continue;
    result += `${text.slice(done, end)}.orValue(${absentValue(blank.slice(0, match.index), blank.slice(end))})`;
    done = end;
  }
  return result + text.slice(done);
}

/** The default for an absent value, derived from its use. */
function absentValue(before: string, behind: string): string {
  if (/^\s*(?:==|!=|\+)\s*["']/.test(behind)) return '""';
  if (/^\s*(?:==|!=|<=?|>=?)\s*-?\d/.test(behind)) return "0";
  if (/^\s*(?:==|!=)\s*null\b/.test(behind)) return "null";
  if (/^\.(?:exists|all|filter|map|exists_one|size)\(/.test(behind) || /(?:\bin|\bsize\()\s*$/.test(before))
    return "[]";
  return /^\.\w+\(/.test(behind) ? '""' : "false";
}

/** Corrects `has(a["b"])`, `has(a)`, `has(a.?b)`, `has(a.b == c)`. */
function withFields(source: string): string {
  const pattern = /([!=<>]\s*)?\bhas\(((?:[^()]|\([^()]*\))*)\)/dg;
  return rewritten(source, pattern, ([, before, inside = ""]) => {
    const text = withField(inside.trim());
    return before === undefined || text === undefined ? text : `${before}(${text})`;
  });
}

function withField(argument: string): string | undefined {
  const key = /^(.*)\[("[^"]*"|'[^']*')\]$/s.exec(argument);
  if (key !== null) return `${key[2]} in ${key[1]}`;
  const compared = /^([\w.]+\.\w+)\s*(==|!=|<=?|>=?|in)\s+?(.+)$/s.exec(argument);
  if (compared !== null) return `(has(${compared[1]}) && ${argument})`;
  if (/\.\?|\[\?/.test(argument)) return `${argument}.hasValue()`;
  return /^\w+$/.test(argument) ? `${argument} != null` : undefined;
}

/** The parentheses that are not closed. */
function missing(source: string): string {
  const { text } = blanked(source);
  const opened = text.split("(").length - text.split(")").length;
  return opened > 0 ? ")".repeat(opened) : "";
}

function withoutExtra(source: string): string {
  const { text } = blanked(source);
  const extra = text.split(")").length - text.split("(").length;
  const last = text.lastIndexOf(")");
  return extra === 1 ? source.slice(0, last) + source.slice(last + 1) : source;
}

/** Syntax that CEL accepts with another meaning: names with signs in them are differences and quotients. */
export const FOREIGN_NAMES: readonly ForeignSyntax[] = [
  rule(
    'a key with other signs than letters stands in brackets: labels["app.kubernetes.io/name"]',
    /(?<=\.)(labels|annotations|matchLabels|nodeSelector)\.([A-Za-z0-9][\w./-]*[./-][\w./-]*\w)/dg,
    ([, map, key = ""]) => (/[/-]/.test(key) ? `${map}["${key}"]` : undefined),
  ),
  rule(
    'a key with - in it stands in brackets: a["b-c"]',
    /(?<=[\w\]])\.([A-Za-z_]\w*(?:-\w+)+)/dg,
    ([, key]) => `["${key}"]`,
  ),
  rule(
    "each element is looked at by all() or exists(): write list.exists(x, x.field == …)",
    new RegExp(`([\\w.]+)\\[_\\]\\.([\\w.]+)\\s*(==|!=)\\s*(${VALUE})`, "dg"),
    ([, list, field, operator, value]) => `${list}.exists(x, x.${field} ${operator} ${value})`,
  ),
];
