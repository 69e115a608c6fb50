import { readFileSync } from "node:fs";
import { parseJson } from "../../src/data/json.js";
import type { JsonObject } from "../../src/kubernetes/object.js";

/** The vectors of the real admission plugin, beside this repository's tests. */
export const vectorFile = (name: string): URL => new URL(`../../../test/vectors/vap/${name}`, import.meta.url);

/** A line of a vector file: the case with exact numbers, and what is expected as plain JSON. */
export interface Vector {
  readonly id: string;
  readonly written: JsonObject;
  readonly expected: unknown;
}

export function readVectors(name: string): Vector[] {
  return readFileSync(vectorFile(name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const written = parseJson(line) as JsonObject;
      return { id: String(written.id), written, expected: (JSON.parse(line) as { result: unknown }).result };
    });
}

/** What would stand on the wire. */
export const asWritten = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
