import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WasmLoadError } from "../../../../src/wasm/errors.js";
import { compileErrorText } from "../../../../src/wasm/module/not-a-module.js";
import { rewriteModule } from "../../../../src/wasm/rewrite/binary/rewrite.js";
import { file } from "../../support.js";

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const bytes = (...more: number[]) => Uint8Array.from([...HEADER, ...more]);
/** A module whose only section is its memory: these limits. */
const withMemory = (...limits: number[]) => bytes(5, limits.length + 1, 1, ...limits);
const AS = { module: "host", name: "memory" };

function instance(module: Uint8Array<ArrayBuffer>, imports = {}): WebAssembly.Instance {
  return new WebAssembly.Instance(new WebAssembly.Module(module), imports);
}

describe("rewriting a module", () => {
  test("what is no module is refused", () => {
    for (const [given, what] of [
      [[], "it is empty"],
      ["nothing of the kind", "it does not begin as a WebAssembly module does"],
      ["\n<!DOCTYPE html>", "it is a web page or XML"],
      ["(module)", "it is WebAssembly's text format, not compiled"],
      [[0x1f, 0x8b, 8], "it is compressed"],
      [HEADER.slice(0, 6), "it is cut off, or of a version of WebAssembly that is not known"],
      [
        [0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0],
        "it is a WebAssembly component; policies are core modules, built for a target such as wasm32-wasip1",
      ],
    ] as const) {
      const message = `invalid wasm file: ${what}`;
      assert.throws(() => rewriteModule(Buffer.from(given), { maximumPages: 1 }), { code: "wasm-invalid", message });
    }
  });

  test("what the engine refuses is said with the version that may know it", () => {
    const reason = "WebAssembly.compile(): Unknown type code 0x5e, enable with --experimental-wasm-gc @+16";
    const said = "it may use what only Node.js 22 and later have, and this is 20.17.0";
    assert.equal(compileErrorText(reason, "20.17.0"), `Unknown type code 0x5e @+16: ${said}`);
    assert.equal(compileErrorText(reason, "22.1.0"), reason.replace("WebAssembly.compile(): ", ""));
    assert.equal(compileErrorText("a mistake @+16", "20.17.0"), "a mistake @+16");
  });

  for (const [what, broken] of [
    ["a section longer than the file", bytes(5, 9, 1)],
    ["a length without end", bytes(5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)],
    ["an empty memory section", bytes(5, 0)],
    ["an unknown kind of import", bytes(2, 6, 1, 1, 97, 1, 97, 9)],
  ] as const) {
    test(`${what} is refused`, () =>
      assert.throws(() => rewriteModule(broken, { maximumPages: 1 }), { name: "WasmLoadError", code: "wasm-invalid" }));
  }

  test("a memory without a maximum gets one, a larger one is lowered, a smaller one stays", () => {
    for (const [limits, expected] of [
      [[0, 1], 10],
      [[1, 1, 100], 10],
      [[1, 1, 3], 3],
    ] as const) {
      const { importedMemory } = rewriteModule(withMemory(...limits), { maximumPages: 10, importMemoryAs: AS });
      assert.deepEqual(importedMemory, { initial: 1, maximum: expected });
    }
  });

  test("a memory that starts beyond the limit is refused", () =>
    assert.throws(
      () => rewriteModule(withMemory(0, 11), { maximumPages: 10 }),
      (error: unknown) =>
        error instanceof WasmLoadError && error.code === "wasm-memory" && /11 pages/.test(error.message),
    ));

  test("shared and 64-bit memories are refused", () => {
    for (const flags of [3, 4])
      assert.throws(() => rewriteModule(withMemory(flags, 1, 2), { maximumPages: 10 }), { code: "wasm-memory" });
  });

  test("tables get a ceiling, and may not start beyond it", () => {
    const table = (...limits: number[]) => bytes(4, limits.length + 2, 1, 0x70, ...limits);
    const exported = (module: Uint8Array) => Uint8Array.from([...module, 7, 5, 1, 1, 116, 1, 0]);
    const { bytes: rewritten } = rewriteModule(exported(table(0, 1)), { maximumPages: 1 });
    const grown = instance(rewritten).exports.t as { grow(entries: number): number; length: number };
    grown.grow(999_999);
    assert.equal(grown.length, 1_000_000);
    assert.throws(() => grown.grow(1));
    assert.throws(() => rewriteModule(table(0, 0xc1, 0x84, 0x3d), { maximumPages: 1 }), {
      code: "wasm-memory",
      message: "the module's table starts with 1000001 entries and the limit is 1000000",
    });
  });

  test("the memory becomes an import, also where there was no import section", () => {
    const { bytes: rewritten } = rewriteModule(withMemory(0, 1), { maximumPages: 10, importMemoryAs: AS });
    assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(rewritten)), [
      { module: "host", name: "memory", kind: "memory" },
    ]);
    instance(rewritten, { host: { memory: new WebAssembly.Memory({ initial: 1, maximum: 10 }) } });
    assert.throws(() => instance(rewritten, { host: { memory: new WebAssembly.Memory({ initial: 1, maximum: 11 }) } }));
  });

  test("imports, exports and everything else stay", () => {
    const { bytes: rewritten } = rewriteModule(file("test/fixtures/trivial/wasi.wasm"), {
      maximumPages: 100,
      importMemoryAs: AS,
    });
    const module = new WebAssembly.Module(rewritten);
    assert.deepEqual(WebAssembly.Module.imports(module), [
      { module: "wasi_snapshot_preview1", name: "fd_write", kind: "function" },
      { module: "host", name: "memory", kind: "memory" },
    ]);
    assert.deepEqual(
      WebAssembly.Module.exports(module).map(({ name }) => name),
      ["memory", "_start"],
    );
  });

  test("every module of the tests and examples survives", () => {
    for (const path of [
      "policies/add-label/policy.wasm",
      "test/fixtures/chaos/extism.wasm",
      "test/vectors/rego/opa.wasm",
      "test/vectors/kubewarden/wasm/chaos-wapc.wasm",
      "test/vectors/kubewarden/wasm/chaos-wasi.wasm",
    ]) {
      const { bytes: rewritten } = rewriteModule(file(path), { maximumPages: 100, importMemoryAs: AS });
      new WebAssembly.Module(rewritten);
    }
  });
});
