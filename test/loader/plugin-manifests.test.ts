/** Extism plugins all the way: entry, manifest, modules linked by name, configuration, HTTP. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { formatProblem, parseConfig } from "../../src/config/index.js";
import { createLoader } from "../../src/loader/index.js";
import { folder } from "../fetch/helpers.js";
import { context as patience, raw } from "../wasm/support.js";
import { bytesOf } from "../wasm/wat.js";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const literal = (text: string) => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');

/** A text at address 0 of the module's memory, and a function that makes a block of it. */
const textBlock = (text: string) => `
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output (param i64 i64)))
  (memory (export "memory") 1)
  (data (i32.const 0) "${literal(text)}")
  (func $block (result i64) (local $b i64) (local $i i32)
    (local.set $b (call $alloc (i64.const ${text.length})))
    (loop $next
      (call $store (i64.add (local.get $b) (i64.extend_i32_u (local.get $i))) (i32.load8_u (local.get $i)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const ${text.length}))))
    (local.get $b))
  (func $put (param $b i64) (result i32) (call $output (local.get $b) (call $length (local.get $b))) (i32.const 0))`;

const LIBRARY = bytesOf(`(module ${textBlock('{"accepted":false,"message":"by the library"}')}
  (func (export "answer") (result i64) (call $block)))`);
const USER = bytesOf(`(module
  (import "lib" "answer" (func $answer (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "output_set" (func $output (param i64 i64)))
  (func (export "validate") (result i32) (local $b i64)
    (local.set $b (call $answer))
    (call $output (local.get $b) (call $length (local.get $b)))
    (i32.const 0)))`);
/** Answers with what its configuration has under `answer`. */
const CONFIGURED = bytesOf(`(module
  (import "extism:host/env" "config_get" (func $config (param i64) (result i64)))
  ${textBlock("answer")}
  (func (export "validate") (result i32) (call $put (call $config (call $block)))))`);
/** Sends the request of its configuration and answers with the body. */
const ASKING = bytesOf(`(module
  (import "extism:host/env" "config_get" (func $config (param i64) (result i64)))
  (import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))
  ${textBlock("answer")}
  (func (export "validate") (result i32)
    (call $put (call $http (call $config (call $block)) (i64.const 0)))))`);

const denial = (message: string) => JSON.stringify({ accepted: false, message });

/** Files in a folder of their own, and policies loaded from it. */
class Place {
  readonly path: string;
  readonly #test: TestContext;

  constructor(context: TestContext) {
    this.#test = context;
    this.path = folder(context);
    this.put("lib.wasm", LIBRARY);
    this.put("user.wasm", USER);
    this.put("configured.wasm", CONFIGURED);
    this.put("asking.wasm", ASKING);
  }

  put(name: string, content: Uint8Array | string | object): void {
    const isData = typeof content === "string" || content instanceof Uint8Array;
    writeFileSync(join(this.path, name), isData ? content : JSON.stringify(content));
  }

  /** What a policy says, and what was said while loading it. */
  async ask(entry: string): Promise<{ readonly says: string; readonly problems: readonly string[] }> {
    const loader = createLoader({
      policyTimeout: 60_000,
      workers: 1,
      downloadDirectory: this.path,
      environment: { HOME: this.path },
      egress: { blocklist: ["169.254.0.0/16"] },
    });
    this.#test.after(() => loader.close());
    const read = parseConfig(`p: ${entry}`, join(this.path, "policies.yaml"));
    assert.ok(read.ok);
    const { policies, problems } = await loader.load(read.config);
    const outcome = await policies.entries.get("p")?.policy.evaluate(raw(1), patience());
    const said = [...read.problems, ...problems].map(formatProblem);
    const says = outcome && "message" in outcome ? (outcome.message ?? "") : (outcome?.verdict ?? "");
    return { says, problems: said.map((line) => line.replace(`${this.path}/`, "")) };
  }
}

/** A server with these bodies. */
async function serving(context: TestContext, bodies: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const server = createServer((request, response) => {
    const body = bodies[request.url ?? ""];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

describe("an Extism manifest", () => {
  test("in JSON or TOML names modules that are linked by name, their hashes checked", async (context) => {
    const place = new Place(context);
    const hash = sha256(LIBRARY);
    place.put("plugin.json", { wasm: [{ path: "lib.wasm", name: "lib", hash }, { path: "./user.wasm" }] });
    place.put(
      "plugin.toml",
      `[[wasm]]\npath = "lib.wasm"\nname = "lib"\nhash = "${hash}"\n[[wasm]]\npath = "${place.path}/user.wasm"\n`,
    );
    const data = Buffer.from(LIBRARY).toString("base64");
    place.put("inline.json", {
      wasm: [
        { path: "user.wasm", name: "main" },
        { data, name: "lib" },
      ],
    });
    for (const file of ["plugin.json", "./plugin.toml", "inline.json"])
      assert.deepEqual(await place.ask(`{ module: ${file} }`), { says: "by the library", problems: [] });
  });

  test("with another hash than the module's is refused, at its place", async (context) => {
    const place = new Place(context);
    const hash = "0".repeat(64);
    place.put("plugin.json", { wasm: [{ path: "configured.wasm", hash }] });
    const message = `hash mismatch. Expected: ${hash}. Actual: ${sha256(CONFIGURED)}`;
    assert.deepEqual(await place.ask("{ module: plugin.json }"), {
      says: message,
      problems: [`plugin.json:1:10: wasm[0]: ${message}`],
    });
  });

  test("gives configuration, of which the entry's goes first, key by key", async (context) => {
    const place = new Place(context);
    const config = { answer: denial("the manifest's"), other: "x" };
    place.put("plugin.json", { wasm: [{ path: "configured.wasm" }], config });
    assert.equal((await place.ask("{ module: plugin.json }")).says, "the manifest's");
    assert.equal((await place.ask("{ module: plugin.json, config: { other: z } }")).says, "the manifest's");
    const own = (module: string) =>
      `{ module: ${module}, config: { answer: ${JSON.stringify(denial("the entry's"))} } }`;
    assert.equal((await place.ask(own("plugin.json"))).says, "the entry's");
    assert.equal((await place.ask(own("configured.wasm"))).says, "the entry's");
  });

  test("limits each module's memory and the call's time, as far as it is stricter", async (context) => {
    const place = new Place(context);
    place.put("big.wasm", bytesOf('(module (memory (export "memory") 3) (func (export "validate")))'));
    place.put("plugin.json", { wasm: [{ path: "big.wasm" }], memory: { maxPages: 2 } });
    const { problems } = await place.ask("{ module: plugin.json, memoryLimitMiB: 100 }");
    assert.match(problems[0] ?? "", /needs 3 pages of memory to start and the limit is 2/);
    place.put("loop.wasm", bytesOf('(module (func (export "validate") (loop $on (br $on))))'));
    place.put("slow.json", { wasm: [{ path: "loop.wasm" }], timeout_ms: 50 });
    assert.match((await place.ask("{ module: slow.json }")).says, /exceeded the allowed execution time/);
    place.put(
      "endless.wasm",
      bytesOf('(module (func (export "answer") (result i64) (loop $on (br $on)) (unreachable)))'),
    );
    place.put("linked.json", { wasm: [{ path: "endless.wasm", name: "lib" }, { path: "user.wasm" }], timeout_ms: 50 });
    assert.match((await place.ask("{ module: linked.json }")).says, /exceeded the allowed execution time/);
  });

  test("whose modules don't fit together is refused with all that is missing, in the SDK's words", async (context) => {
    const place = new Place(context);
    place.put("plugin.json", { wasm: [{ path: "configured.wasm", name: "lib" }, { path: "user.wasm" }] });
    const { problems } = await place.ask("{ module: plugin.json }");
    assert.deepEqual(problems, [
      'policies.yaml:1:14: p.module: from module "main": cannot import "lib" "answer"; no export matched request',
    ]);
    place.put("other.json", { wasm: [{ path: "user.wasm", name: "lib2" }, { path: "configured.wasm" }] });
    assert.match(
      (await place.ask("{ module: other.json }")).problems[0] ?? "",
      /from module "lib2": cannot resolve import "lib" "answer": not provided by host imports nor linked manifest items/,
    );
    place.put("shadow.json", { wasm: [{ path: "lib.wasm", name: "extism:host/env" }, { path: "configured.wasm" }] });
    assert.match(
      (await place.ask("{ module: shadow.json }")).problems[0] ?? "",
      /"extism:host\/env" is a name of the host's own/,
    );
  });

  test("is for Extism modules, and so is what an entry says of plugins", async (context) => {
    const place = new Place(context);
    const wapc = bytesOf(
      '(module (memory (export "memory") 1) (func (export "__guest_call") (param i32 i32) (result i32) (i32.const 0)))',
    );
    place.put("wapc.wasm", wapc);
    place.put("plugin.json", { wasm: [{ path: "wapc.wasm" }] });
    const words =
      "the module is of the kind kubewarden-wapc: config, allowedHosts, logLevel and manifests are for Extism modules";
    assert.deepEqual((await place.ask("{ module: plugin.json }")).problems, [`policies.yaml:1:14: p.module: ${words}`]);
    assert.deepEqual((await place.ask("{ module: wapc.wasm, logLevel: info }")).problems, [
      `policies.yaml:1:35: p.logLevel: ${words}`,
    ]);
  });

  test("that is downloaded names no files of this machine, and grants no hosts by itself", async (context) => {
    const place = new Place(context);
    const answer = await serving(context, { "/answer": denial("by the server") });
    const config = { answer: JSON.stringify({ url: `${answer}/answer` }) };
    const bodies: Record<string, string | Uint8Array> = { "/asking.wasm": ASKING };
    const there = await serving(context, bodies);
    const wasm = [{ url: `${there}/asking.wasm` }];
    bodies["/plugin"] = JSON.stringify({ wasm, config, allowed_hosts: ["local*"] });
    bodies["/files.json"] = JSON.stringify({
      wasm: [{ path: "asking.wasm" }, { url: `file://${place.path}/asking.wasm` }],
    });

    const files = await place.ask(`{ module: "${there}/files.json" }`);
    assert.equal(files.problems.length, 2);
    for (const problem of files.problems)
      assert.match(problem, /a manifest that was downloaded can't name files of this machine/);

    const alone = await place.ask(`{ module: "${there}/plugin" }`);
    assert.match(alone.says, /no allowedHosts match "localhost"/);
    assert.match(
      alone.problems[0] ?? "",
      /p\.module: the manifest's allowed_hosts \(local\*\) are not granted, for it was downloaded/,
    );

    const granted = await place.ask(`{ module: "${there}/plugin", allowedHosts: [localhost] }`);
    assert.deepEqual(granted, { says: "by the server", problems: [] });
    const narrowed = await place.ask(`{ module: "${there}/plugin", allowedHosts: [other.test] }`);
    assert.match(narrowed.says, /no allowedHosts match "localhost"/);
  });

  test("that is a file grants its hosts, and HTTP waits in the guest's thread until the call's time is up", async (context) => {
    const place = new Place(context);
    const server = createServer((request, response) => {
      if (request.url !== "/never") response.end(denial("by the server"));
    });
    await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
    context.after(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    const manifest = (path: string, more: object = {}) => ({
      wasm: [{ path: "asking.wasm" }],
      config: { answer: JSON.stringify({ url: `http://localhost:${port}${path}` }) },
      allowed_hosts: ["localhost"],
      ...more,
    });
    place.put("plugin.json", manifest("/"));
    assert.equal((await place.ask("{ module: plugin.json }")).says, "by the server");
    const narrowed = await place.ask("{ module: plugin.json, allowedHosts: [other.test] }");
    assert.match(narrowed.says, /no allowedHosts match "localhost"/);
    place.put("slow.json", manifest("/never", { timeout_ms: 200 }));
    assert.match((await place.ask("{ module: slow.json }")).says, /exceeded the allowed execution time/);
    const large = { max_http_response_bytes: 10 };
    place.put("large.json", manifest("/", { memory: large }));
    assert.match((await place.ask("{ module: large.json }")).says, /^internal server error: /);
  });
});
