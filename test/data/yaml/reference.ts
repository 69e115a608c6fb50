import { isDeepStrictEqual } from "node:util";
import { readYamlStream } from "../../../src/data/yaml/stream.js";

/** What Kubernetes' decoder makes of a text: its documents, and its error if it has one. */
export interface ReferenceAnswer {
  readonly docs: readonly unknown[];
  readonly error?: string;
}

/** How we read a text differently, if we do. Documents are compared as JSON values: numbers as doubles, the order of keys aside. */
export function difference(text: string, { docs, error }: ReferenceAnswer): string | undefined {
  const ours = readYamlStream(text);
  if ((ours.error === undefined) !== (error === undefined)) {
    return `${error === undefined ? "only we refuse" : "only Kubernetes refuses"}: ${error ?? ours.error}`;
  }
  const values = ours.documents.map(({ value }) => comparable(value));
  const expected = docs.map(comparable);
  if (isDeepStrictEqual(values, expected)) return undefined;
  return `${JSON.stringify(values)}, Kubernetes ${JSON.stringify(expected)} (${ours.error}, ${error})`;
}

/** A value as any reader of JSON has it. */
function comparable(value: unknown): unknown {
  if (typeof value === "bigint" || value instanceof Number) return Number(value);
  if (typeof value === "number") return value + 0;
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(comparable);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toWellFormed(), comparable(member)]));
}
