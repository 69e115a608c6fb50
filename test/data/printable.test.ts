import assert from "node:assert/strict";
import { test } from "node:test";
import { printable } from "../../src/data/printable.js";

test("what a terminal would obey stands as an escape, everything else as it is", () => {
  assert.equal(printable("a\u001b[2Jb\u0007\r\n"), "a\\u001b[2Jb\\u0007 ");
  // The direction of what follows, turned: a name that looks like another.
  assert.equal(printable("x\u202egnp.exe"), "x\\u202egnp.exe");
  assert.equal(printable("Größe 日本 🚀"), "Größe 日本 🚀");
});
