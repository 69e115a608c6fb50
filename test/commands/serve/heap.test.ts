import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { withSmallYoungGeneration } from "../../../src/commands/serve/heap.js";

const read = (file: string): string => readFileSync(new URL(`../../../../${file}`, import.meta.url), "utf8");

test("processes that answer requests keep little room for short-lived objects, as the executable's first line says", () => {
  const flags = withSmallYoungGeneration(["--enable-source-maps"]);
  assert.deepEqual(flags.slice(1), ["--enable-source-maps"]);
  assert.equal(read("src/main.ts").split("\n")[0], `#!/usr/bin/env -S node ${flags[0]}`);
  const { scripts } = JSON.parse(read("package.json")) as { scripts: { start: string } };
  assert.equal(scripts.start, `node ${flags[0]} dist/server/main.js`);
});

test("whoever has said how much room it is knows better", () => {
  assert.deepEqual(withSmallYoungGeneration(["--max-semi-space-size=64"]), ["--max-semi-space-size=64"]);
  assert.deepEqual(withSmallYoungGeneration([], "--trace-gc --max_semi_space_size=64"), []);
  assert.deepEqual(withSmallYoungGeneration([], "--min-semi-space-size=8"), []);
});
