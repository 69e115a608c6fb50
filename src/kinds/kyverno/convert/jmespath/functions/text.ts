/** Functions of texts. */
import type { Cel } from "../../cel-text.js";
import * as cel from "../../cel-text.js";
import { matchesText } from "../../conditions/comparisons.js";
import { NotConverted } from "../../not-converted.js";
import { known, type Value } from "../value.js";
import { asInt } from "./arithmetic.js";
import { declare, expression, knownText, simple } from "./declare.js";

const text = (value: Cel): Value => known(value, "string");

/** A text, or a number as it is printed. */
const printed = (value: Value): Cel => (value.type === "string" ? value.cel : cel.call("string", value.cel));

/** A text in lower letters. */
const lower = ({ cel: value, constant }: Value): Cel =>
  typeof constant?.value === "string" ? cel.literal(constant.value.toLowerCase()) : cel.method(value, "lowerAscii");

/** A regular expression of RE2, which Kyverno and CEL share. */
function regex(value: Value): Cel {
  const { value: source } = value.constant ?? {};
  if (typeof source !== "string") return value.cel;
  const refused = new NotConverted(
    [],
    `${JSON.stringify(source)} is not an expression of RE2: an error in Kyverno always`,
  );
  if (/(?<!\\)(?:\\\\)*(?:\(\?<?[=!]|\\[1-9])/.test(source)) throw refused;
  try {
    // Flags and the letter P of names are left away: JavaScript does not have them.
    new RegExp(
      source.replace(/\(\?(?:[a-zA-Z-]+(\)|:)|P(?=<))/g, (_, end?: string) =>
        end === ")" ? "" : end === ":" ? "(?:" : "(?",
      ),
    );
  } catch {
    throw refused;
  }
  return value.cel;
}

/** Go's template of a replacement, such as `${1}-$2`, in CEL's words: `\1-\2`. */
function replacementOf(template: string, { constant }: Value): Cel {
  const parts = /\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\(\?P?<(?<name>\w+)>|\((?!\?)/gs;
  const groups = [...String(constant?.value).matchAll(parts)].filter(([part]) => part.startsWith("("));
  const count = constant === undefined ? 9 : groups.length;
  const replacement = template
    .replaceAll("\\", "\\\\")
    .replace(/\$(?:\$|\{(\w+)\}|(\w+))/g, (part, braced: string | undefined, bare: string | undefined) => {
      const name = braced ?? bare;
      if (name === undefined) return "$";
      const named = groups.findIndex((group) => group.groups?.name === name) + 1;
      const index = /^\d+$/.test(name) ? Number(name) : named || count + 1;
      if (index > 9) throw new NotConverted([], `${part} is not converted: CEL replaces by nine groups`);
      return index > count ? "" : `\\${index}`;
    });
  return cel.literal(replacement);
}

const replaced = (source: Value, expression: Value, replacement: Cel): Value =>
  text(cel.call("regex.replace", printed(source), regex(expression), replacement));

/** The parts of a path without empty ones and `.`; a part and the `..` that takes it back are left out. */
const PATH = [
  '(A.startsWith("/") ? "/" : "") + cel.bind(p, A.split("/").filter(e, !(e in ["", "."])), lists.range(size(p))',
  '.filter(i, p[i] != ".." && !lists.range(size(p)).exists(j, j > i && ',
  'p.slice(i + 1, j + 1).filter(e, e == "..").size() * 2 > j - i)).map(i, p[i]).join("/"))',
].join("");

const PART = "[a-z0-9]+(?:(?:[.]|_|__|-+)[a-z0-9]+)*";
const IMAGE = `^((?:[A-Za-z0-9.-]+(?::[0-9]+)?/)?${PART}(?:/${PART})*)(?::\\w[\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9+._-]*:[0-9a-fA-F]{32,})?$`;

/** An image with its registry, and its digest or tag: `docker.io` and `latest` where there is none. */
const NORMALIZED = [
  '(A.matches(B) ? "" : "docker.io/") + regex.extract(A, C).value()',
  ' + regex.extract(A, "(@.*)$").orValue(regex.extract(A, "(:[^/]+)$").orValue(":latest"))',
].join("");

export const TEXT_FUNCTIONS = [
  simple("starts_with", "string, string", "bool", "A.startsWith(B)"),
  simple("ends_with", "string, string", "bool", "A.endsWith(B)"),
  simple("to_upper", "string", "string", "A.upperAscii()"),
  simple("to_lower", "string", "string", "A.lowerAscii()"),
  simple("compare", "string, string", "int", "A < B ? -1 : A > B ? 1 : 0"),
  declare("equal_fold", "string, string", (a, b) => known(cel.equal(lower(a), lower(b)), "bool")),
  declare("trim", "string, string", (a, b) => {
    const set = knownText("trim", b, "the set of characters").replace(/[\\\]^-]/g, "\\$&");
    if (set === "") return text(a.cel);
    return text(cel.call("regex.replace", a.cel, cel.literal(`^[${set}]+|[${set}]+$`), cel.literal("")));
  }),
  declare("trim_prefix", "string, string", (a, b, { scope }) => {
    const { value } = b.constant ?? {};
    const length = typeof value === "string" ? cel.literal([...value].length) : cel.call("size", b.cel);
    const c = known(length, "int");
    return text(expression("A.startsWith(B) ? A.substring(C) : A", a, b, { scope, c }));
  }),
  declare("truncate", "string, number", (a, b, call) => {
    const length = asInt(b);
    const isNatural = b.constant !== undefined && !length.text.startsWith("-");
    const limit = isNatural ? length : cel.call("math.greatest", cel.literal(0), length);
    return text(expression("A.substring(0, math.least(B, size(A)))", a, { ...b, cel: limit }, call));
  }),
  simple("split", "string, string", "list", "A.split(B)", { items: { type: "string", nullable: false, fails: false } }),
  simple("join", "string, array", "string", "B.join(A)"),
  declare("replace", "string, string, string, number", (a, b, { c, d }) =>
    text(cel.method(a.cel, "replace", b.cel, c.cel, asInt(d))),
  ),
  simple("replace_all", "string, string, string", "string", "A.replace(B, C)"),
  declare("regex_match", "string, string|number", (a, b) => known(cel.method(printed(b), "matches", regex(a)), "bool")),
  declare("regex_replace_all", "string, string|number, string|number", (a, b, { c }) => {
    const isNumeric = c.constant !== undefined && c.type === "number";
    const template = isNumeric ? String(c.constant.value) : knownText("regex_replace_all", c, "the replacement");
    return replaced(b, a, replacementOf(template, a));
  }),
  declare("regex_replace_all_literal", "string, string|number, string|number", (a, b, { c }) => {
    const { value } = c.constant ?? {};
    const escaped = cel.method(printed(c), "replace", cel.literal("\\"), cel.literal("\\\\"));
    return replaced(b, a, value === undefined ? escaped : cel.literal(String(value).replaceAll("\\", "\\\\")));
  }),
  declare("pattern_match", "string, string|number", (a, b) => known(matchesText(printed(b), a).yes, "bool")),
  declare("to_boolean", "string", (a) =>
    known(cel.filled('{"true": true, "false": false}[A]', { A: lower(a) }), "bool"),
  ),
  simple("base64_encode", "string", "string", "base64.encode(bytes(A))"),
  // CEL's own function reads text without padding, too.
  simple("base64_decode", "string", "string", 'string(base64.decode(size(A) % 4 == 0 ? A : "="))'),
  simple("path_canonicalize", "string", "string", PATH),
  declare("image_normalize", "string", (a, b, { scope }) => {
    const [registry, image] = ["^([^/]*[.:A-Z][^/]*|localhost)/", IMAGE].map((source) => cel.literal(source)) as [
      Cel,
      Cel,
    ];
    return text(expression(NORMALIZED, a, { ...b, cel: registry }, { scope, c: text(image) }));
  }),
  simple("parse_json", "string", "dyn", "json.unmarshal(A)", { nullable: true }),
  simple("parse_yaml", "string", "dyn", "yaml.parse(A)", { nullable: true }),
  simple("sha256", "string", "string", "sha256(A)"),
  simple("sha1", "string", "string", "sha1(A)"),
  simple("md5", "string", "string", "md5(A)"),
  declare("random", "string", (a) => {
    if (knownText("random", a, "the pattern") === "")
      throw new NotConverted([], "random of nothing is an error in Kyverno");
    return text(cel.call("random", a.cel));
  }),
  simple("x509_decode", "string", "map", "x509.decode(A)"),
];
