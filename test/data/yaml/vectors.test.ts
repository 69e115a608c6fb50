import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { difference, type ReferenceAnswer } from "./reference.js";

interface Vector extends ReferenceAnswer {
  readonly id: string;
  readonly text: string;
}

const LINES = readFileSync(new URL("../../../../test/vectors/yaml/edge.jsonl", import.meta.url), "utf8");

describe("files are read as Kubernetes' decoder reads them", () => {
  for (const line of LINES.trim().split("\n")) {
    const vector = JSON.parse(line) as Vector;
    test(vector.id, () => assert.equal(difference(vector.text, vector), undefined));
  }
});
