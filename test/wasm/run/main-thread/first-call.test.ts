/** Which modules run on the main thread, and when. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rewriteModule } from "../../../../src/wasm/rewrite/binary/rewrite.js";
import { shortCallsBefore } from "../../../../src/wasm/run/main-thread/first-call.js";
import { file } from "../../support.js";
import { bytesOf } from "../../wat.js";

const NEVER = Number.POSITIVE_INFINITY;

/** A function of about so many bytes. */
const code = (bytes: number) => `(func ${"(drop (i32.const 0))".repeat(bytes / 3)})`;

function wanted(text: string): number {
  return shortCallsBefore(bytesOf(`(module ${text})`), undefined);
}

describe("a module's first call on the main thread", () => {
  test("may be its first at all when it is small", () => {
    for (const path of ["test/fixtures/trivial/wapc.wasm", "test/vectors/kubewarden/wasm/chaos-wapc.wasm"]) {
      const bytes = file(path);
      const { importedMemory } = rewriteModule(bytes, {
        maximumPages: 4_096,
        importMemoryAs: { module: "h", name: "m" },
      });
      assert.equal(shortCallsBefore(bytes, importedMemory), 0, path);
    }
  });

  test("comes behind some on threads when it has much code, and never when it has very much", () => {
    assert.equal(wanted(code(100_000).repeat(4)), 0);
    assert.equal(wanted(code(100_000).repeat(6)), 4);
    assert.equal(wanted(code(100_000).repeat(42)), NEVER);
  });

  test("never comes when a function, its table or its memory is large", () => {
    assert.equal(wanted(code(540_000)), NEVER);
    assert.equal(wanted("(table 20000 funcref)"), 0);
    assert.equal(wanted("(table 15000 funcref) (table 5001 10000 funcref)"), NEVER);
    assert.equal(shortCallsBefore(bytesOf("(module)"), { initial: 80, maximum: 100 }), 0);
    assert.equal(shortCallsBefore(bytesOf("(module)"), { initial: 81, maximum: 100 }), NEVER);
  });

  test("may come with a larger memory when only what was written to is brought back", () => {
    assert.equal(shortCallsBefore(bytesOf("(module)"), { initial: 512, maximum: 600 }, true), 0);
    assert.equal(shortCallsBefore(bytesOf("(module)"), { initial: 513, maximum: 600 }, true), NEVER);
  });
});
