import assert from "node:assert/strict";
import { test } from "node:test";
import { KnownKinds } from "../../../src/offline/scan/known-kinds.js";
import { survey } from "../../../src/offline/scan/survey.js";

const pod = (name: string) => `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"}}`;
const file = (name: string, text: string) => ({
  name,
  given: name,
  inFolder: false,
  bytes: 1024 * 1024 * 1024,
  async *read() {
    yield Buffer.from(text);
  },
});

test("large inputs are counted as they are judged: lists inside of lists and of lines by their items", async () => {
  const inner = `{"apiVersion":"v1","kind":"PodList","items":[${pod("b")},${pod("c")}]}`;
  const first = `${pod("a")}\n`.repeat(5000);
  const yaml = `${"---\napiVersion: v1\nkind: Pod\nmetadata: {name: x}\n".repeat(9000)}---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: PodList
  items: [{metadata: {name: d}}, {metadata: {name: e}}, {metadata: {name: f}}]
`;
  const lines = `${first}{"apiVersion":"v1","kind":"List","items":[${inner}]}\n{"apiVersion":"v1","kind":"PodList","items":null}`;
  const count = async (name: string, text: string) => (await survey([file(name, text)], new KnownKinds())).resources;
  assert.equal(await count("a.jsonl", lines), 5002);
  assert.equal(await count("a.yaml", yaml), 9003);
});
