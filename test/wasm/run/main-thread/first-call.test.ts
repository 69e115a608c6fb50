/** Which modules run on the main thread, and when. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rewriteModule } from "../../../../src/wasm/rewrite/binary/rewrite.js";
import { shortCallsBefore } from "../../../../src/wasm/run/main-thread/first-call.js";
import { file } from "../../support.js";
import { bytesOf } from "../../wat.js";

const NEVER = Number.POSITIVE_INFINITY;

/** A number as modules have it. */
function leb(value: number): readonly number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)];
}

const section = (id: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([id, ...leb(content.length)]), content]);

/** A module with so many functions of about so many bytes each. Its text would take longer to be read than all that is tested here. */
function code(functions: number, bytes: number): Uint8Array {
  const count = leb(functions);
  const dropped = Buffer.alloc(bytes - (bytes % 3), Buffer.from([0x41, 0x00, 0x1a]));
  const body = Buffer.concat([Buffer.from([0]), dropped, Buffer.from([0x0b])]);
  const sized = Buffer.concat([Buffer.from(leb(body.length)), body]);
  return Buffer.concat([
    Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
    section(1, Buffer.from([1, 0x60, 0, 0])),
    section(3, Buffer.from([...count, ...new Array<number>(functions).fill(0)])),
    section(10, Buffer.concat([Buffer.from(count), ...new Array<Buffer>(functions).fill(sized)])),
  ]);
}

const wanted = (module: Uint8Array): number => shortCallsBefore(module, undefined);

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
    assert.equal(wanted(code(4, 100_000)), 0);
    assert.equal(wanted(code(6, 100_000)), 4);
    assert.equal(wanted(code(42, 100_000)), NEVER);
  });

  test("never comes when a function, its table or its memory is large", () => {
    assert.equal(wanted(code(1, 540_000)), NEVER);
    assert.equal(wanted(bytesOf("(module (table 20000 funcref))")), 0);
    assert.equal(wanted(bytesOf("(module (table 15000 funcref) (table 5001 10000 funcref))")), NEVER);
    assert.equal(shortCallsBefore(bytesOf("(module)"), { initial: 80, maximum: 100 }), 0);
    assert.equal(shortCallsBefore(bytesOf("(module)"), { initial: 81, maximum: 100 }), NEVER);
  });

  test("may come with a larger memory when only what was written to is brought back", () => {
    assert.equal(shortCallsBefore(bytesOf("(module)"), { initial: 512, maximum: 600 }, true), 0);
    assert.equal(shortCallsBefore(bytesOf("(module)"), { initial: 513, maximum: 600 }, true), NEVER);
  });
});
