import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { readJson } from "../../../src/data/json.js";
import { difference, isSingle, type MapCase, runMutations } from "./support/single-policy.js";

const vectors = ["curated", "generated"].flatMap((name) => {
  const file = new URL(`../../../../test/vectors/map/${name}.jsonl`, import.meta.url);
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => readJson(line).value as MapCase);
});

describe("mutations of one policy", () => {
  const single = vectors.filter(isSingle);

  test("are what the server makes of them, in object and message", () => {
    assert.ok(single.length > 250, String(single.length));
    const differences: string[] = [];
    for (const each of single) {
      const found = difference(each, runMutations(each));
      if (found !== undefined) differences.push(`${each.id}: ${found}`);
    }
    assert.deepEqual(differences, []);
  });
});
