/** Values with variables: `{{ … }}` in texts, lists and maps. */
import { isObject } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { NotConverted, placed } from "../not-converted.js";
import type { Scope } from "../scope.js";
import type { Term } from "../term.js";
import { type Nested, query } from "./query.js";
import { constant, known, printed } from "./value.js";

/** An innermost variable: those around it are found when it is replaced by a word. */
const VARIABLE = /(?<!\\)\{\{((?:\{[^{}]*\}|[^{}])*)\}\}/g;
const WORD = /(_variable_\d+_)/;
/** The most variables in one text. */
const MOST_VARIABLES = 100;
/** The longest text that may have variables, in characters. */
const LONGEST_TEXT = 100_000;

/** Whether a text has a reference to another field, `$(…)`. */
const hasReference = (text: string): boolean =>
  text.split(" ").some((word) => {
    const start = word.search(/(?<!\\)\$\(/);
    return start >= 0 && word.lastIndexOf(")") > start + 2;
  });

/** The names of which Kyverno demands one in a variable, beside those of the context. */
const ROOT = /request|serviceAccountName|element|@|image|target|[a-z_0-9]\([^{}]/;

/** A text, in which words stand for its variables. */
export interface TextParts {
  readonly text: string;
  readonly variables: Nested;
}

/**
 * A JSON value in which texts may have variables. Without variables it is a constant (`constant` is set). A text that is one variable only keeps the variable's type;
 * inside other text it is printed as Kyverno prints it.
 */
export function template(value: unknown, scope: Scope): Term {
  if (typeof value === "string") return joined(partsOf(value, scope));
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

/** Converts the variables of a text. */
export function partsOf(text: string, scope: Scope): TextParts {
  checkLength(text);
  if (hasReference(text)) throw new NotConverted([], "a reference $(…) to another field is not converted");
  const variables = new Map<string, Term>();
  let rest = text;
  for (let before = ""; before !== rest; ) {
    before = rest;
    rest = rest.replaceAll(VARIABLE, (_, inner: string) => {
      const word = `_variable_${variables.size}_`;
      if (variables.size === MOST_VARIABLES)
        throw new NotConverted([], `a text with more than ${MOST_VARIABLES} variables is not converted`);
      const source = inner.trim().replace(/^-\s*/, "");
      if (!ROOT.test(source) && ![...scope.names.keys()].some((name) => source.includes(name)))
        throw new NotConverted(
          [],
          `Kyverno refuses the variable ${JSON.stringify(source)}: it names nothing of the request`,
        );
      variables.set(word, query(source, scope, { nested: variables }));
      return word;
    });
  }
  return { text: rest, variables };
}

function checkLength(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  throw new NotConverted([], `a text of more than ${LONGEST_TEXT} characters is not converted`);
}

/** The value of a text, or of a part of it. */
export function joined({ text, variables }: TextParts): Term {
  const only = variables.get(text);
  if (only !== undefined) return only;
  const parts = text.split(WORD).flatMap((part) => {
    if (part === "") return [];
    const variable = variables.get(part);
    return [variable === undefined ? constant(part.replaceAll("\\{{", "{{")) : printed(variable)];
  });
  if (parts.every((part) => part.constant !== undefined))
    return constant(checkLength(parts.map((part) => String(part.constant?.value)).join("")));
  return known(cel.plus(...parts.map((part) => part.cel)), "string", { fails: parts.some((part) => part.fails) });
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
