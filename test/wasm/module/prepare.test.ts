import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readMetadataOfBytes } from "../../../src/wasm/module/metadata.js";
import { ModuleStore } from "../../../src/wasm/module/prepare.js";
import { annotated, withSection } from "../../support/annotated-module.js";
import { file } from "../support.js";

const store = new ModuleStore();
const PAGES = 1024;
const prepare = (bytes: Uint8Array, mode?: Parameters<ModuleStore["prepare"]>[2]) => store.prepare(bytes, PAGES, mode);

/** The module with two more types: a function, and one that takes a reference to a function of the module's first type. */
function withTypedReference(module: Uint8Array): Uint8Array {
  const header = 8;
  const types = [0x60, 0, 0, 0x60, 1, 0x64, 0, 0];
  const rest = module.subarray(header);
  const own = rest[0] === 1 ? rest.subarray(3, 2 + (rest[1] ?? 0)) : new Uint8Array();
  const count = rest[0] === 1 ? (rest[2] ?? 0) : 0;
  const after = rest[0] === 1 ? rest.subarray(2 + (rest[1] ?? 0)) : rest;
  return Buffer.concat([
    module.subarray(0, header),
    Buffer.from([1, 1 + own.length + types.length, count + 2]),
    own,
    Buffer.from(types),
    after,
  ]);
}

const TRIVIAL = "test/fixtures/trivial/wapc.wasm";
const RULE = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const KUBEWARDEN = { rules: [RULE], mutating: false };

describe("preparing modules", () => {
  test("the kind is read from imports and exports", async () => {
    for (const [path, mode] of [
      ["test/fixtures/trivial/extism.wasm", "extism"],
      [TRIVIAL, "kubewarden-wapc"],
      ["test/fixtures/trivial/wasi.wasm", "wasi"],
    ] as const)
      assert.equal((await prepare(file(path))).mode, mode);
  });

  test("the same bytes are prepared once", async () => {
    const [one, other] = await Promise.all([prepare(file(TRIVIAL)), prepare(file(TRIVIAL))]);
    assert.equal(one, other);
    assert.notEqual(await store.prepare(file(TRIVIAL), PAGES / 2), one);
  });

  test("no process keeps custom sections that nobody reads", async () => {
    const sectionsOf = async (bytes: Uint8Array) => {
      const { module } = await prepare(bytes);
      return ["io.kubewarden.metadata", "name", "padding", ".debug_info"].map(
        (name) => WebAssembly.Module.customSections(module, name).length,
      );
    };
    const metadata = annotated(TRIVIAL, { ...KUBEWARDEN, protocolVersion: "v1" });
    // The name of a module, and an unknown part of five MiB.
    const [name, long] = [Buffer.from([0, 2, 1, 0x61]), Buffer.concat([Buffer.from([9, 0x80, 0x80, 0xc0, 2])])];
    const filled = withSection(
      withSection(metadata, "padding", Buffer.alloc(5_000)),
      ".debug_info",
      Buffer.alloc(5_000),
    );
    assert.deepEqual(await sectionsOf(withSection(filled, "name", name)), [1, 1, 0, 0]);
    const large = Buffer.concat([long, Buffer.alloc(5 * 1024 * 1024)]);
    assert.deepEqual(await sectionsOf(withSection(metadata, "name", large)), [1, 0, 0, 0]);
  });

  test("metadata is read", () => {
    const metadata = readMetadataOfBytes(
      annotated(TRIVIAL, {
        ...KUBEWARDEN,
        protocolVersion: "v1",
        policyType: "raw",
        contextAwareResources: [{ apiVersion: "v1", kind: "Pod" }],
        annotations: { "io.kubewarden.policy.title": "a title" },
        unknown: 1,
      }),
    );
    assert.deepEqual(metadata, {
      protocolVersion: "v1",
      executionMode: "kubewarden-wapc",
      annotations: { "io.kubewarden.policy.title": "a title" },
      rules: [RULE],
      mutating: false,
      raw: true,
      contextAwareResources: [{ apiVersion: "v1", kind: "Pod" }],
      hostCapabilities: [],
    });
  });

  test("typed function references run, or are refused with the engine that has them", async () => {
    const unsupported = await prepare(withTypedReference(file(TRIVIAL))).then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (Number(process.versions.node.split(".")[0]) >= 22) assert.equal(unsupported, undefined);
    else
      assert.match(
        unsupported ?? "",
        /^invalid wasm file: .*: it may use what only Node\.js 22 and later have, and this is /,
      );
  });

  const refused: [string, unknown, string, RegExp][] = [
    ["no JSON", "{", "wasm-metadata", /^cannot parse custom section of wasm module: /],
    ["more bytes than are read", `${" ".repeat(256 * 1024)}{}`, "wasm-metadata", /it has \d+ bytes, more than 262144/],
    ["no rules", { mutating: false }, "wasm-metadata", /missing field `rules`/],
    ["no mutating", { rules: [] }, "wasm-metadata", /missing field `mutating`/],
    ["an unknown mode", { ...KUBEWARDEN, executionMode: "lua" }, "wasm-metadata", /unknown executionMode "lua"/],
    [
      "no protocol version",
      KUBEWARDEN,
      "wasm-protocol",
      /^Policy is missing protocol version, which is required for KubewardenWapc execution mode$/,
    ],
    [
      "another protocol version",
      { ...KUBEWARDEN, protocolVersion: "Unknown" },
      "wasm-protocol",
      /^Policy uses protocol version Unknown but only V1 is supported$/,
    ],
    [
      "a newer Kubewarden",
      { ...KUBEWARDEN, protocolVersion: "v1", minimumKubewardenVersion: "99.1.0" },
      "wasm-version",
      /^Policy required Kubewarden version 99\.1\.0 but is running on /,
    ],
    [
      "a minimum that is no version",
      { ...KUBEWARDEN, protocolVersion: "v1", minimumKubewardenVersion: "newest" },
      "wasm-metadata",
      /minimumKubewardenVersion "newest" is not a version/,
    ],
    [
      "a mode that can't be",
      { ...KUBEWARDEN, executionMode: "gatekeeper" },
      "wasm-mode",
      /^the execution mode is gatekeeper, but the module looks like kubewarden-wapc$/,
    ],
  ];
  for (const [what, metadata, code, message] of refused) {
    test(`metadata with ${what} is refused`, () =>
      assert.rejects(prepare(annotated(TRIVIAL, metadata)), { code, message }));
  }

  test("imports that the host lacks are refused by name", () =>
    assert.rejects(
      prepare(file("test/fixtures/trivial/wasi.wasm"), "wasi").then(() =>
        prepare(file("test/fixtures/start/alien.wasm")),
      ),
      {
        code: "wasm-imports",
        message: "the module imports what a kubewarden-wapc policy is not given: env.open_door, wapc.__guest_dance",
      },
    ));

  test("an import of another kind than the host's is refused", () => {
    const text = (name: string) => [name.length, ...Buffer.from(name)];
    // A global of type i32 that can't be changed.
    const entry = [1, ...text("wapc"), ...text("__guest_request"), 3, 0x7f, 0];
    const module = Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 2, entry.length, ...entry]);
    return assert.rejects(prepare(module), {
      code: "wasm-imports",
      message: "the module imports what a kubewarden-wapc policy is not given: wapc.__guest_request (a global)",
    });
  });

  test("a module of no known kind is refused", () =>
    assert.rejects(prepare(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])), { code: "wasm-mode" }));
});
