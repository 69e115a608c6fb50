/**
 * The shape of a value in the configuration. One shape reads the value, makes the JSON Schema and names the type in the documentation, so
 * the three can't diverge.
 */

import type { Path } from "./documents/problem.js";
import { describeNode, nodeValue, type SourceNode, textHint } from "./documents/source-node.js";
import type { ProblemSink } from "./problem-sink.js";
import { flagHint, listHint, mapHint, notTextHint, numberHint, objectHint, wordMeant } from "./value-hints.js";

/** A JSON Schema (2020-12) or a part of one. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A kind of value. */
export interface Shape<T> {
  /** The type in the documentation's tables: `string`, `list of string`. */
  readonly label: string;
  readonly schema: JsonSchema;
  /** Of a map: the keys that it may have, where these are known. */
  readonly fields?: Fields;
  /** Of a list: its items. */
  readonly item?: Shape<unknown>;
  /** The value, frozen; undefined after at least one error was given to `sink`. Of a record that a sink salvages, the valid keys are given. */
  read(node: SourceNode, path: Path, sink: ProblemSink): T | undefined;
}

/** One key of a record. */
export interface Field<T, R extends boolean = boolean> {
  readonly shape: Shape<T>;
  readonly required: R;
  /** Its meaning, for people: shown in the documentation and by editors. */
  readonly doc: string;
  /** The default when it is absent, for the documentation. */
  readonly default?: string;
}

/** The keys of a record. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** Any JSON value. */
export const anyValue: Shape<unknown> = {
  label: "any",
  schema: {},
  read: (node) => nodeValue(node),
};

/** A map with string keys and any values. */
export const jsonObject: Shape<Readonly<Record<string, unknown>>> = {
  label: "map",
  schema: { type: "object" },
  read(node, path, sink) {
    if (node.kind === "map") return nodeValue(node) as Readonly<Record<string, unknown>>;
    return mismatch(node, path, sink, "a map with string keys", objectHint(node));
  },
};

/** `true` or `false`. */
export const flag: Shape<boolean> = {
  label: "boolean",
  schema: { type: "boolean" },
  read(node, path, sink) {
    if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
    return mismatch(node, path, sink, "true or false", flagHint(node));
  },
};

/** A string; `what` names it in messages and `mayBeEmpty` lets `""` pass. */
export function text(what = "a string", { mayBeEmpty = false } = {}): Shape<string> {
  return {
    label: "string",
    schema: mayBeEmpty ? { type: "string" } : { type: "string", minLength: 1 },
    read(node, path, sink) {
      if (node.kind !== "scalar" || typeof node.value !== "string")
        return mismatch(node, path, sink, what, notTextHint(node), textHint(node));
      if (node.value !== "" || mayBeEmpty) return node.value;
      sink.error(path, `must not be empty: expected ${what}`);
      return undefined;
    },
  };
}

/** A whole number between two bounds. */
export function integer(minimum: number, maximum: number): Shape<number> {
  const what = `a whole number from ${minimum} to ${maximum}`;
  return {
    label: `integer, ${minimum} to ${maximum}`,
    schema: { type: "integer", minimum, maximum },
    read(node, path, sink) {
      if (node.kind !== "scalar" || typeof node.value !== "number") {
        return mismatch(node, path, sink, what, numberHint(node));
      }
      if (Number.isInteger(node.value) && node.value >= minimum && node.value <= maximum) return node.value;
      return mismatch(node, path, sink, what);
    },
  };
}

/** One of some words, letter case included. */
export function oneOf<const W extends string>(...words: readonly W[]): Shape<W> {
  return {
    label: words.map((word) => `\`${word}\``).join(", "),
    schema: { enum: words },
    read(node, path, sink) {
      const value = node.kind === "scalar" ? node.value : undefined;
      const word = words.find((candidate) => candidate === value);
      if (word !== undefined) return word;
      const meant = typeof value === "string" ? wordMeant(value, words) : undefined;
      const hint = meant === undefined ? textHint(node) : ` (did you mean ${JSON.stringify(meant)}?)`;
      return mismatch(node, path, sink, `one of ${words.join(", ")}`, undefined, hint);
    },
  };
}

/** A list of values of one shape. */
export function listOf<T>(item: Shape<T>): Shape<readonly T[]> {
  return {
    label: `list of ${item.label}`,
    schema: { type: "array", items: item.schema },
    item,
    read(node, path, sink) {
      if (node.kind !== "list")
        return mismatch(
          node,
          path,
          sink,
          "a list",
          isText(item) || node.kind === "map" ? listHint(node, Object.keys(item.fields ?? {})) : undefined,
        );
      const values = node.items.map((each, index) => item.read(each, [...path, index], sink));
      return values.includes(undefined) ? undefined : Object.freeze(values as T[]);
    },
  };
}

const isText = ({ schema }: Shape<unknown>): boolean => schema.type === "string" || schema.enum !== undefined;

/** One value, or a list of them: always read as a list. */
export function oneOrMore<T>(item: Shape<T>): Shape<readonly T[]> {
  const list = listOf(item);
  return {
    label: `${item.label} or ${list.label}`,
    schema: { anyOf: [item.schema, { ...list.schema, minItems: 1 }] },
    read(node, path, sink) {
      if (node.kind !== "list") {
        const value = item.read(node, path, sink);
        return value === undefined ? undefined : Object.freeze([value]);
      }
      if (node.items.length > 0) return list.read(node, path, sink);
      sink.error(path, "must not be empty");
      return undefined;
    },
  };
}

/** A map from any key to values of one shape. */
export function mapOf<T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    label: `map of ${item.label}`,
    schema: { type: "object", additionalProperties: item.schema },
    read(node, path, sink) {
      if (node.kind !== "map") return mismatch(node, path, sink, "a map", mapHint(node));
      const pairs = node.pairs.map(({ key, value }) => [key, item.read(value, [...path, key], sink)] as const);
      if (pairs.some(([, value]) => value === undefined)) return undefined;
      return Object.freeze(Object.fromEntries(pairs)) as Readonly<Record<string, T>>;
    },
  };
}

/** Whether a value has the right type, so that only the value is wrong: another word, or a number out of its bounds. */
function isRightType(node: SourceNode, expected: string): boolean {
  if (node.kind !== "scalar") return false;
  return typeof node.value === "string"
    ? expected.startsWith("one of ")
    : typeof node.value === "number" && expected.startsWith("a whole number");
}

/** Reports the expected and the found value. */
export function mismatch(
  node: SourceNode,
  path: Path,
  sink: ProblemSink,
  expected: string,
  hint?: string,
  suffix = "",
): undefined {
  const code = isRightType(node, expected) ? "CONFIG_VALUE" : "CONFIG_WRONG_TYPE";
  sink.error(path, `expected ${expected}, found ${describeNode(node)}${suffix}`, {
    code,
    ...(hint !== undefined && { hint }),
  });
  return undefined;
}
