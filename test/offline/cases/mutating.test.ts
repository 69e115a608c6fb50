import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseJson, stringifyJson } from "../../../src/data/json.js";
import { createMutationCompilers } from "../../../src/kinds/mutating-admission-policy/compilers.js";
import { asStruct, structOfObject } from "../../../src/kubernetes/go-types/as-struct.js";
import { isObject, type JsonObject } from "../../../src/kubernetes/object.js";
import { bundledSchemas } from "../../../src/kubernetes/structured-merge/merge-schemas.js";
import { decideCase } from "../../../src/offline/cases/mutating-admission-policy/case.js";

const tools = { compilers: createMutationCompilers(), schemas: bundledSchemas() };

interface Vector {
  readonly id: string;
  readonly written: JsonObject;
  /** The same inside of a server, where objects of built-in kinds are Go structs; `undefined` where that makes no difference. */
  readonly typed: unknown;
  /** The plugin's answer; what a server does with Go structs is left out. */
  readonly expected: JsonObject;
}

function readVectors(file: string): readonly Vector[] {
  const lines = readFileSync(new URL(`../../../../test/vectors/map/${file}`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => {
    const written = parseJson(line) as JsonObject & { readonly id: string; readonly result: JsonObject };
    const { typed, ...expected } = written.result;
    return { id: written.id, written, typed, expected };
  });
}

/** A value as it is written down; lists inside of messages, whose order is random, are sorted. */
const comparable = (value: unknown): unknown =>
  JSON.parse(stringifyJson(value), (_, part: unknown) => (typeof part === "string" ? sorted(part) : part));

function sorted(text: string): string {
  const list = / (?<atomic>may not mutate atomic arrays, maps or structs: )|errors:\n/.exec(text);
  if (list === null) return text;
  const start = list.index + list[0].length;
  const separator = list.groups?.atomic === undefined ? "\n" : ", ";
  return text.slice(0, start) + text.slice(start).split(separator).sort().join(separator);
}

/** An answer with its object as its struct prints it, also where nothing has changed: then it is as it came. */
function asStored(answer: JsonObject): JsonObject {
  const { object } = answer;
  const type = isObject(object) ? structOfObject(object) : undefined;
  if (!isObject(object) || type === undefined) return answer;
  const shaped = asStruct(object, type);
  return shaped.ok ? { ...answer, object: shaped.object } : answer;
}

const curated = readVectors("curated.jsonl");
const generated = readVectors("generated.jsonl");

describe("mutations of the real admission plugin", () => {
  for (const { id, written, expected } of curated) {
    test(`curated: ${id}`, () => {
      assert.deepEqual(comparable(decideCase(written, tools)), comparable(expected));
    });
  }

  test("every generated case", () => {
    for (const { id, written, expected } of generated) {
      assert.deepEqual(comparable(decideCase(written, tools)), comparable(expected), id);
    }
  });

  test("every case in which Go's structs make a difference", () => {
    const differing = [...curated, ...generated].filter(({ typed }) => typed !== undefined);
    for (const { id, written, typed } of differing) {
      const decided = decideCase(written, tools, true) as JsonObject;
      assert.deepEqual(comparable(asStored(decided)), comparable(typed), id);
    }
    assert.equal(differing.length, 73);
  });

  test("there are as many as there should be", () => {
    assert.deepEqual([curated.length, generated.length], [475, 297]);
  });
});
