/** Functions of texts. */

import type { Cel } from "../../cel-text.js";
import * as cel from "../../cel-text.js";
import { NotConverted } from "../../not-converted.js";
import { known, shared, type Value } from "../value.js";
import { declare, knownText } from "./declare.js";

const text = (expression: Cel): Value => known(expression, "string");
const bool = (expression: Cel): Value => known(expression, "bool");
const number = (value: number): Cel => cel.literal(value);

/** A text, or a number as it is printed. */
const printed = (value: Value): Cel => (value.type === "string" ? value.cel : cel.call("string", value.cel));

/** A number as an int. */
const integer = ({ cel: expression, constant }: Value): Cel =>
  constant === undefined ? cel.call("int", expression) : number(Math.trunc(Number(constant.value)));

/** A text in lower letters. */
const lower = ({ cel: expression, constant }: Value): Cel =>
  typeof constant?.value === "string"
    ? cel.literal(constant.value.toLowerCase())
    : cel.method(expression, "lowerAscii");

/** A regular expression of RE2, which Kyverno and CEL share. */
function expressionOf(value: Value): Cel {
  const { value: known } = value.constant ?? {};
  if (typeof known === "string" && /(?<!\\)(?:\\\\)*(?:\(\?<?[=!]|\\[1-9])/.test(known))
    throw new NotConverted(
      [],
      `${JSON.stringify(known)} is not a regular expression of RE2: an error in Kyverno always`,
    );
  return value.cel;
}

/** Go's template of a replacement, such as `${1}-$2`, in CEL's words: `\1-\2`. */
function replacementOf(template: string, expression: Value): Cel {
  const source = expression.constant?.value;
  const groups =
    typeof source !== "string"
      ? undefined
      : [...source.matchAll(/\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\(\?P?<(?<name>\w+)>|\((?!\?)/gs)].filter(
          ([part]) => part.startsWith("("),
        );
  const replacement = template
    .replaceAll("\\", "\\\\")
    .replace(/\$(?:\$|\{(\w+)\}|(\w+))/g, (part, braced: string | undefined, bare: string | undefined) => {
      const name = braced ?? bare;
      if (name === undefined) return "$";
      const index = /^\d+$/.test(name)
        ? Number(name)
        : (groups ?? []).findIndex((group) => group.groups?.name === name) + 1 || Number.POSITIVE_INFINITY;
      if (index > (groups?.length ?? 9)) return "";
      if (index > 9) throw new NotConverted([], `${part} is not converted: CEL replaces by nine groups`);
      return `\\${index}`;
    });
  return cel.literal(replacement);
}

/** Whether a text matches a pattern with the wildcards `*` and `?`. */
function matchesPattern(pattern: Value, value: Cel): Cel {
  const { value: known } = pattern.constant ?? {};
  if (typeof known === "string" && !/[*?]/.test(known)) return cel.equal(value, pattern.cel);
  const escaped = (part: string): string => part.replace(/[.+^$(){}|[\]\\]/g, "\\$&");
  const expression =
    typeof known === "string"
      ? cel.literal(`(?s)^${escaped(known).replace(/\*+/g, ".*").replaceAll("?", ".")}$`)
      : cel.plus(cel.literal("(?s)^\\Q"), quotedParts(pattern.cel), cel.literal("\\E$"));
  return cel.method(value, "matches", expression);
}

const quotedParts = (pattern: Cel): Cel =>
  [["*", "\\E.*\\Q"] as const, ["?", "\\E.\\Q"] as const].reduce(
    (target, [from, to]) => cel.method(target, "replace", cel.literal(from), cel.literal(to)),
    pattern,
  );

/** The characters of a text as a set of a regular expression. */
const setOf = (characters: string): string => `[${characters.replace(/[\\\]^-]/g, "\\$&")}]+`;

/** A text without the prefix. */
function withoutPrefix(value: Cel, prefix: Value): Cel {
  const { value: known } = prefix.constant ?? {};
  const length = typeof known === "string" ? number([...known].length) : cel.call("size", prefix.cel);
  return cel.conditional(cel.method(value, "startsWith", prefix.cel), cel.method(value, "substring", length), value);
}

/** The first characters of a text. */
function truncated(value: Cel, length: Value): Cel {
  const limit = integer(length);
  const wanted =
    length.constant !== undefined && !limit.text.startsWith("-") ? limit : cel.call("math.greatest", number(0), limit);
  const end = cel.call("math.least", wanted, cel.call("size", value));
  return cel.method(value, "substring", number(0), wanted.text === "0" ? wanted : end);
}

/** Base64 with its padding: CEL's own function reads text without it, too. */
const decoded = (value: Cel): Cel => {
  const isPadded = cel.equal(cel.times("%", cel.call("size", value), number(4)), number(0));
  return cel.call("string", cel.call("base64.decode", cel.conditional(isPadded, value, cel.literal("="))));
};

/** The parts of a path without empty ones and `.`; a part and the `..` that takes it back are left out. */
function canonicalPath(value: Cel, scope: Parameters<typeof shared>[1]): Cel {
  const kept = cel.primary(
    'p[i] != ".." && !lists.range(size(p)).exists(j, j > i && p.slice(i + 1, j + 1).filter(e, e == "..").size() * 2 > j - i)',
  );
  const parts = cel.primary(`${cel.method(value, "split", cel.literal("/")).text}.filter(e, !(e in ["", "."]))`);
  const joined = cel.primary(
    `cel.bind(p, ${parts.text}, lists.range(size(p)).filter(i, ${kept.text}).map(i, p[i]).join("/"))`,
  );
  const isAbsolute = cel.method(value, "startsWith", cel.literal("/"));
  return shared(value, scope, () => cel.plus(cel.conditional(isAbsolute, cel.literal("/"), cel.literal("")), joined));
}

const PATH_PART = "[a-z0-9]+(?:(?:[.]|_|__|-+)[a-z0-9]+)*";
const IMAGE = `^((?:[A-Za-z0-9.-]+(?::[0-9]+)?/)?${PATH_PART}(?:/${PATH_PART})*)(?::\\w[\\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9+._-]*:[0-9a-fA-F]{32,})?$`;

/** An image with its registry, and its digest or tag: `docker.io` and `latest` where there is none. */
function normalizedImage(image: Cel): Cel {
  const extract = (expression: string): Cel => cel.call("regex.extract", image, cel.literal(expression));
  const hasRegistry = cel.method(image, "matches", cel.literal("^([^/]*[.:A-Z][^/]*|localhost)/"));
  return cel.plus(
    cel.conditional(hasRegistry, cel.literal(""), cel.literal("docker.io/")),
    cel.method(extract(IMAGE), "value"),
    cel.orValue(extract("(@.*)$"), cel.orValue(extract("(:[^/]+)$"), cel.literal(":latest"))),
  );
}

/** A function of CEL that takes the same arguments. */
const alike = (name: string, parameters: string, type: "dyn" | "map" | "string", celName: string) =>
  declare(name, parameters, (a) => known(cel.call(celName, a.cel), type, { nullable: type === "dyn" }));

export const TEXT_FUNCTIONS = [
  declare("starts_with", "string, string", (a, b) => bool(cel.method(a.cel, "startsWith", b.cel))),
  declare("ends_with", "string, string", (a, b) => bool(cel.method(a.cel, "endsWith", b.cel))),
  declare("to_upper", "string", (a) => text(cel.method(a.cel, "upperAscii"))),
  declare("to_lower", "string", (a) => text(cel.method(a.cel, "lowerAscii"))),
  declare("equal_fold", "string, string", (a, b) => bool(cel.equal(lower(a), lower(b)))),
  declare("trim", "string, string", (a, b) => {
    const set = setOf(knownText("trim", b, "the set of characters"));
    if (set === "[]+") return text(a.cel);
    return text(cel.call("regex.replace", a.cel, cel.literal(`^${set}|${set}$`), cel.literal("")));
  }),
  declare("trim_prefix", "string, string", (a, b, { scope }) =>
    text(shared(a.cel, scope, (value) => withoutPrefix(value, b))),
  ),
  declare("truncate", "string, number", (a, b, { scope }) =>
    text(shared(a.cel, scope, (value) => truncated(value, b))),
  ),
  declare("split", "string, string", (a, b) =>
    known(cel.method(a.cel, "split", b.cel), "list", { items: { type: "string", nullable: false, fails: false } }),
  ),
  declare("join", "string, array", (a, b) => text(cel.method(b.cel, "join", a.cel))),
  declare("replace", "string, string, string, number", (a, b, { c, d }) =>
    text(cel.method(a.cel, "replace", b.cel, c.cel, integer(d))),
  ),
  declare("replace_all", "string, string, string", (a, b, { c }) => text(cel.method(a.cel, "replace", b.cel, c.cel))),
  declare("regex_match", "string, string|number", (a, b) => bool(cel.method(printed(b), "matches", expressionOf(a)))),
  declare("regex_replace_all", "string, string|number, string|number", (a, b, { c }) => {
    const template =
      c.type === "number" ? String(c.constant?.value) : knownText("regex_replace_all", c, "the replacement");
    return text(cel.call("regex.replace", printed(b), expressionOf(a), replacementOf(template, a)));
  }),
  declare("regex_replace_all_literal", "string, string|number, string|number", (a, b, { c }) => {
    const { value } = c.constant ?? {};
    const literal =
      value === undefined
        ? cel.method(printed(c), "replace", cel.literal("\\"), cel.literal("\\\\"))
        : cel.literal(String(value).replaceAll("\\", "\\\\"));
    return text(cel.call("regex.replace", printed(b), expressionOf(a), literal));
  }),
  declare("pattern_match", "string, string|number", (a, b) => bool(matchesPattern(a, printed(b)))),
  declare("to_boolean", "string", (a) =>
    bool(
      cel.item(
        cel.map([
          ["true", cel.TRUE],
          ["false", cel.FALSE],
        ]),
        lower(a),
      ),
    ),
  ),
  declare("base64_encode", "string", (a) => text(cel.call("base64.encode", cel.call("bytes", a.cel)))),
  declare("base64_decode", "string", (a, _, { scope }) => text(shared(a.cel, scope, decoded))),
  declare("path_canonicalize", "string", (a, _, { scope }) => text(canonicalPath(a.cel, scope))),
  declare("image_normalize", "string", (a, _, { scope }) => text(shared(a.cel, scope, normalizedImage))),
  alike("parse_json", "string", "dyn", "json.unmarshal"),
  alike("parse_yaml", "string", "dyn", "yaml.parse"),
  alike("sha256", "string", "string", "sha256"),
  alike("sha1", "string", "string", "sha1"),
  alike("md5", "string", "string", "md5"),
  alike("random", "string", "string", "random"),
  alike("x509_decode", "string", "map", "x509.decode"),
];
