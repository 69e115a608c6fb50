/** A map with known keys: unknown ones are errors with a suggestion. */

import { didYouMean, nearest } from "../data/suggest.js";
import type { Path } from "./documents/problem.js";
import { isNothing, pairOf, type SourceNode } from "./documents/source-node.js";
import { misplaced } from "./misplaced-keys.js";
import type { ProblemSink } from "./problem-sink.js";
import { type Field, type Fields, type JsonSchema, mismatch, type Shape } from "./shape.js";
import { mapHint } from "./value-hints.js";

export type { Field, Fields } from "./shape.js";

/** The value that a record with these keys reads: optional keys are absent when they were absent or null. */
export type RecordValue<F extends Fields> = {
  readonly [K in keyof F as F[K]["required"] extends true ? K : never]: FieldValue<F[K]>;
} & { readonly [K in keyof F as F[K]["required"] extends true ? never : K]?: FieldValue<F[K]> };

type FieldValue<F> = F extends Field<infer T> ? T : never;

/** A required key. */
export function required<T>(shape: Shape<T>, doc: string): Field<T, true> {
  return { shape, doc, required: true };
}

/** A key that may be absent or null. */
export function optional<T>(shape: Shape<T>, doc: string, whenAbsent?: string): Field<T, false> {
  return { shape, doc, required: false, ...(whenAbsent === undefined ? {} : { default: whenAbsent }) };
}

/** Hints for keys that users are likely to bring from elsewhere. */
export type Hints = Readonly<Record<string, string>>;

/** A map with these keys and no others. */
export function record<F extends Fields>(fields: F, hints: Hints = {}): Shape<RecordValue<F>> & { readonly fields: F } {
  return {
    fields,
    label: `map with ${Object.keys(fields)
      .map((key) => `\`${key}\``)
      .join(", ")}`,
    schema: recordSchema(fields),
    read: (node, path, sink) => readRecord(fields, hints, node, path, sink),
  };
}

/** The JSON Schema of a record. */
export function recordSchema(fields: Fields): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const needed: string[] = [];
  for (const [key, { shape, doc, required: isRequired }] of Object.entries(fields)) {
    const value = isRequired ? shape.schema : nullable(shape.schema);
    properties[key] = { description: doc, ...value };
    if (isRequired) needed.push(key);
  }
  const schema = { type: "object", properties, additionalProperties: false };
  return needed.length === 0 ? schema : { ...schema, required: needed };
}

/** The schema of an optional key, which may be written with nothing after it. */
function nullable(schema: JsonSchema): JsonSchema {
  if (typeof schema.type === "string") return { ...schema, type: [schema.type, "null"] };
  if (Array.isArray(schema.enum)) return { ...schema, enum: [...schema.enum, null] };
  return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: "null" }] };
}

function readRecord<F extends Fields>(
  fields: F,
  hints: Hints,
  node: SourceNode,
  path: Path,
  sink: ProblemSink,
): RecordValue<F> | undefined {
  if (node.kind !== "map")
    return mismatch(
      node,
      path,
      sink,
      `a map with the keys ${Object.keys(fields).join(", ")}`,
      mapHint(node) ?? onlyKeyHint(fields, node),
    );
  const before = sink.errorCount;
  const value: Record<string, unknown> = {};
  const unknown = new Map(
    node.pairs.flatMap(({ key }) =>
      Object.hasOwn(fields, key) ? [] : [[key, misplaced(key, node, fields, sink.outer)]],
    ),
  );
  // Keys whose values are written elsewhere, or that are misspelt: they are reported as such.
  const meant = new Set(
    [...unknown].map(
      ([key, place]) =>
        place?.below ?? /^write "(\w+)"/.exec(hints[key] ?? "")?.[1] ?? nearest(key, Object.keys(fields)),
    ),
  );
  for (const pair of node.pairs) {
    const keyPath = [...path, pair.key];
    const field = Object.hasOwn(fields, pair.key) ? fields[pair.key] : undefined;
    if (field === undefined) {
      const message = unknownKey(pair.key, fields, hints, unknown.get(pair.key)?.advice);
      sink.keyError(keyPath, message, { code: "CONFIG_UNKNOWN_KEY" });
      continue;
    }
    if (isNothing(pair.value) && (!field.required || meant.has(pair.key))) continue;
    sink.outer.push({ knows: (key) => Object.hasOwn(fields, key), node, key: pair.key });
    const read = field.shape.read(pair.value, keyPath, sink);
    sink.outer.pop();
    if (read !== undefined) value[pair.key] = read;
  }
  for (const [key, { required: isRequired, doc }] of Object.entries(fields)) {
    if (isRequired && pairOf(node, key) === undefined && !meant.has(key)) {
      sink.error(path, `missing key ${JSON.stringify(key)}: ${doc}`, { code: "CONFIG_MISSING_KEY" });
    }
  }
  return sink.salvages || sink.errorCount === before ? (Object.freeze(value) as RecordValue<F>) : undefined;
}

/** The hint for a text in the place of a map: one of its keys stands there, or only one is required, such as a validation's expression. */
function onlyKeyHint(fields: Fields, node: SourceNode): string | undefined {
  if (node.kind !== "scalar" || typeof node.value !== "string") return undefined;
  const [, begun = ""] = /^(\w+)(?::| ["'])/.exec(node.value) ?? [];
  if (Object.hasOwn(fields, begun)) return `write a colon and a space behind ${begun}`;
  const [key, ...more] = Object.keys(fields).filter((name) => fields[name]?.required);
  return key !== undefined && more.length === 0 ? `write ${key}: before the text` : undefined;
}

function unknownKey(key: string, fields: Fields, hints: Hints, advice: string | undefined): string {
  const hint = Object.hasOwn(hints, key) ? hints[key] : advice && `it does not belong here: ${advice}`;
  if (hint !== undefined) return `unknown key: ${hint}`;
  const suggestion = didYouMean(key, Object.keys(fields));
  return `unknown key${suggestion === "" ? `, expected one of ${Object.keys(fields).join(", ")}` : suggestion}`;
}
