/** JSON that comes from outside is read by `data/json`: the built-in parser misreads some keys on some versions of Node (test/data/escaped-keys.test.ts). */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const SRC = new URL("../../../src/", import.meta.url);

/** Files that may ask the built-in parser, how often, and why: all of it is JSON that this package brings along, or that our own code has written. */
const ALLOWED: Readonly<Record<string, readonly [times: number, why: string]>> = {
  "data/json.ts": [2, "texts of which a scan has found that it reads them exactly"],
  "cel/values/time-zone-data.ts": [1, "data/time-zones.json"],
  "kinds/shared/type-check/bundled-schemas.ts": [1, "data/kubernetes-openapi.json"],
  "kubernetes/structured-merge/merge-schemas.ts": [1, "data/kubernetes-openapi.json"],
  "kubernetes/go-types/catalogue.ts": [2, "data/kubernetes-go-types.json"],
  "wasm/run/snapshot/neutral-requests.ts": [2, "data/neutral-requests.json, and what is printed of it"],
  "page/browser/dom/drafts.ts": [1, "drafts that the page itself has put into the browser's storage"],
  "page/browser/model/draft-link.ts": [
    1,
    "the texts of a link, in a browser, whose form is checked and which are shown before they are taken",
  ],
  "page/browser/dom/wire.ts": [1, "answers of this server, in a browser, which decides nothing"],
};
/** What reads JSON by the built-in parser: itself, the bodies of `fetch` and undici, and what Express and the module loader have for it. */
const READERS = [
  /\bJSON\s*(?:\?\.|\.)\s*parse\b/g,
  /\b(?:response|body|request)\.json\(\)/g,
  /\bexpress\.json\b/g,
  /\bwith\s*\{\s*type:\s*"json"/g,
  /\brequire\([^)]*\.json["'`]/g,
];

test("the built-in parser of JSON reads nothing that comes from outside", () => {
  const found: Record<string, number> = {};
  for (const file of readdirSync(SRC, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue;
    const code = readFileSync(new URL(file, SRC), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    const times = READERS.reduce((sum, reader) => sum + [...code.matchAll(reader)].length, 0);
    if (times > 0) found[file] = times;
  }
  assert.deepEqual(found, Object.fromEntries(Object.entries(ALLOWED).map(([file, [times]]) => [file, times])));
});
