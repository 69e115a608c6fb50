import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { scanJson } from "../../src/data/json-scan.js";

test("a text that was passed over is not held, whether or not the built-in parser reads it", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const scanned = (text: string, readable: boolean): WeakRef<Buffer> => {
    const bytes = Buffer.from(text);
    assert.equal(scanJson(bytes, 1, { member: "request", mayRepeat: true }) !== undefined, readable);
    return new WeakRef(bytes);
  };
  // The last one is what would be held.
  for (const [text, readable] of [
    ['{"request":{}}', true],
    [`{"request":${"[".repeat(1000)}`, false],
  ] as const) {
    const bytes = scanned(text, readable);
    await turn();
    collect();
    assert.equal(bytes.deref(), undefined, text.slice(0, 20));
  }
});
