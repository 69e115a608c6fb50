import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createKinds } from "../../src/kinds/registry.js";
import type { WasmRuntime } from "../../src/wasm/index.js";

/** Pages that say which policies there are, each with where it does. */
const PAGES = { "configuration.md": "## A WASM module", "concepts.md": "## Request" };

const source = createKinds({ runtime: undefined as unknown as WasmRuntime, policyTimeout: 1_000, now: () => 0 });

for (const [page, end] of Object.entries(PAGES)) {
  test(`docs/${page} names every kind of policies`, async () => {
    const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), "utf8");
    const [beginning = ""] = text.split(end);
    assert.notEqual(beginning, text, `the section ${end}`);
    const { documents } = await source.for([]);
    const kinds = documents.flatMap(({ policies }) => policies.map(({ kind }) => kind));
    assert.ok(kinds.length > 3);
    assert.deepEqual(
      kinds.filter((kind) => !new RegExp(`\\b${kind.replace(/y$/, "(?:y|ies)")}\\b`).test(beginning)),
      [],
    );
  });
}
