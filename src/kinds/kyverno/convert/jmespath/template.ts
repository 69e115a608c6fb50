/** Values with variables: `{{ … }}` in texts, lists and maps. */
import { stringifyJson } from "../../../../data/json.js";
import { isObject } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { NotConverted, placed } from "../not-converted.js";
import type { Scope } from "../scope.js";
import type { Term } from "../term.js";
import { query } from "./query.js";
import { constant, isNumber, known } from "./value.js";

/** An innermost variable: those around it are found when it is replaced by a word. */
const VARIABLE = /(?<!\\)\{\{((?:\{[^{}]*\}|[^{}])*)\}\}/g;
const WORD = /(_variable_\d+_)/;
/** A reference to another field of the pattern. */
const REFERENCE = /(?:^|[^\\])\$\([^ ]+\)/;

/**
 * A JSON value in which texts may have variables. Without variables it is a constant (`constant` is set). A text that is one variable only keeps the variable's type;
 * inside other text it is printed as Kyverno prints it.
 */
export function template(value: unknown, scope: Scope): Term {
  if (typeof value === "string") return textTemplate(value, scope);
  if (!hasVariables(value)) return constant(value);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, i) => placed([i], () => template(item, scope)));
    return known(cel.list(items.map(({ cel: text }) => cel.call("dyn", text))), "list");
  }
  if (!isObject(value)) return constant(value);
  const entries = Object.entries(value).map(([key, item]) => {
    if (hasVariables(key)) throw new NotConverted([key], "a key with variables is not converted");
    return [key, cel.call("dyn", placed([key], () => template(item, scope)).cel)] as const;
  });
  return known(cel.map(entries), "map");
}

function textTemplate(text: string, scope: Scope): Term {
  if (REFERENCE.test(text)) throw new NotConverted([], "a reference $(…) to another field is not converted");
  const terms = new Map<string, Term>();
  let rest = text;
  for (let before = ""; before !== rest; ) {
    before = rest;
    rest = rest.replaceAll(VARIABLE, (_, inner: string) => {
      const word = `_variable_${terms.size}_`;
      terms.set(word, query(inner.trim().replace(/^-\s*/, ""), scope, terms));
      return word;
    });
  }
  const only = terms.get(rest);
  if (only !== undefined) return only;
  const parts = rest.split(WORD).flatMap((part) => {
    if (part === "") return [];
    const term = terms.get(part);
    return term === undefined ? [constant(part.replaceAll("\\{{", "{{"))] : [printed(term)];
  });
  if (parts.every((part) => part.constant !== undefined))
    return constant(parts.map((part) => String(part.constant?.value)).join(""));
  return known(cel.plus(...parts.map((part) => part.cel)), "string", { fails: parts.some((part) => part.fails) });
}

/** A value inside of text. */
function printed(term: Term): Term {
  const { type, nullable } = term;
  if (term.constant !== undefined) {
    const { value } = term.constant;
    return constant(typeof value === "string" ? value : stringifyJson(value));
  }
  if (type === "string" && !nullable) return term;
  if (type === "list" || type === "map")
    return { ...known(cel.call("json.marshal", term.cel), "string"), fails: term.fails };
  return { ...known(cel.call("string", term.cel), "string"), fails: term.fails || (nullable && !isNumber(term)) };
}

/** Whether a value has variables anywhere. */
export function hasVariables(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes("{{");
}

/** A message with its variables: a plain text without any. */
export function messageOf(text: string, scope: Scope): string | Cel {
  const { cel: words, constant: only } = template(text, scope);
  return typeof only?.value === "string" ? only.value : words;
}
