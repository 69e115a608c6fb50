import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem, isPluginManifest, type PluginManifest, readPluginManifest } from "../../src/config/index.js";

const HASH = "ab".repeat(32);

async function read(text: string, location = "file:///plugins/p.json"): Promise<PluginManifest | readonly string[]> {
  const file = location.replace(/^file:\/\//, "");
  const result = await readPluginManifest(Buffer.from(text), file, location);
  return "manifest" in result ? result.manifest : result.problems.map(formatProblem);
}

async function manifest(value: unknown): Promise<PluginManifest> {
  const result = await read(JSON.stringify(value));
  if (!("main" in result)) assert.fail(JSON.stringify(result));
  return result;
}

const problems = async (text: string, location?: string): Promise<readonly string[]> => {
  const result = await read(text, location);
  return "main" in result ? [] : result.map((line) => line.replace(/^\S*\/p\.(?:json|toml):/, ""));
};

describe("an Extism manifest's text", () => {
  test("is told from a module by its beginning and its name", () => {
    const is = (bytes: string, location: string) => isPluginManifest(Buffer.from(bytes), location);
    assert.ok(is("{}", "registry://x/y"));
    assert.ok(is(' \n{"wasm":[]}', "https://x/y?z"));
    assert.ok(is("[[wasm]]", "file:///p.toml"));
    assert.ok(is("[]", "https://x/p.json?token=1"));
    assert.ok(!is("\0asm\x01\0\0\0", "file:///p.json"));
    assert.ok(!is("<html>", "https://x/y"));
    assert.ok(!is("[[wasm]]", "https://x/y?p.toml"));
  });

  test("takes its keys in both of Extism's spellings", async () => {
    const limits = { maxPages: 4, maxHttpResponseBytes: 5, maxVarBytes: 0 };
    const { main, others, ...rest } = await manifest({
      wasm: [{ path: "a.wasm" }],
      timeoutMs: 3,
      allowedHosts: ["*.test"],
      memory: { maxPages: 4, max_http_response_bytes: 5, maxVarBytes: 0 },
      allowed_paths: {},
    });
    assert.deepEqual(rest, { config: {}, isLocal: true, allowedHosts: ["*.test"], timeoutMs: 3, ...limits });
    assert.deepEqual(others, []);
    assert.deepEqual(main.source, {
      address: { kind: "file", text: "./a.wasm", location: "file:///plugins/a.wasm" },
    });
  });

  test("has one main module: the one of that name, the last, or the only one", async () => {
    const names = async (...wasm: object[]) => {
      const { main, others } = await manifest({ wasm: wasm.map((each, at) => ({ path: `${at}.wasm`, ...each })) });
      const text = "address" in main.source && main.source.address.text;
      return [text, ...others.map(({ name }) => name)];
    };
    assert.deepEqual(await names({ name: "x" }), ["./0.wasm"]);
    assert.deepEqual(await names({}, { name: "main" }, {}), ["./1.wasm", "0", "2"]);
    assert.deepEqual(await names({ hash: HASH.toUpperCase() }, { name: "x" }), ["./1.wasm", HASH]);
  });

  test("names modules as policies.yaml does", async () => {
    const { main, others } = await manifest({
      wasm: [{ data: "AGFzbQ==" }, { url: "registry://r/x:v1" }, { url: "https://h/x" }, { path: "/abs/x.wasm" }],
    });
    const sources = [...others, main].map(({ source }) =>
      "data" in source ? [...source.data] : source.address.location,
    );
    assert.deepEqual(sources, [[0, 97, 115, 109], "registry://r/x:v1", "https://h/x", "file:///abs/x.wasm"]);
  });

  const WRONG: Readonly<Record<string, readonly [text: string, ...problems: string[]]>> = {
    "no modules": ["{}", "1:1: wasm: expected a list of 1 to 16 modules, each with path, url or data"],
    "unknown keys": [
      '{"wasms":[],"timeout":3,"max_pages":1}',
      '1:2: wasms: unknown key (did you mean "wasm"?)',
      '1:13: timeout: unknown key: write "timeout_ms", in milliseconds',
      "1:25: max_pages: unknown key: it belongs under memory",
    ],
    "both spellings of one key": [
      '{"wasm":[{"path":"a"}],"timeout_ms":1,"timeoutMs":1}',
      '1:39: timeoutMs: "timeoutMs" is another name for "timeout_ms": write only one of them',
    ],
    "files for the plugin": [
      '{"wasm":[{"path":"a"}],"allowedPaths":{"/tmp":"/tmp"}}',
      "1:24: allowedPaths: policies have no files, so nothing can be mounted: remove it, and give the plugin what it reads there as config or in the entry's settings",
    ],
    "configuration that is no text": [
      '{"wasm":[{"path":"a"}],"config":{"a":1,"b":"2"}}',
      "1:38: config.a: expected a string, found the number 1",
    ],
    "a hash that is none": [
      '{"wasm":[{"path":"a","hash":"12"}]}',
      '1:29: wasm[0].hash: expected a SHA-256 of 64 hexadecimal digits, found "12"',
    ],
    "modules from several places, or none": [
      '{"wasm":[{"path":"a","url":"b"},{}]}',
      "1:10: wasm[0]: expected exactly one of path, url and data, found several",
      "1:33: wasm[1]: expected exactly one of path, url and data, found none",
    ],
    "an address without a scheme": [
      '{"wasm":[{"url":"a.wasm"}]}',
      "1:17: wasm[0].url: expected an address with its scheme, such as https:// or registry://; a file stands under path",
    ],
    "two modules of one name": [
      '{"wasm":[{"path":"a","name":"x"},{"path":"b","name":"x"},{"path":"c"}]}',
      '1:53: wasm[1].name: a second module is named "x"',
    ],
    "data that is no base64": [
      '{"wasm":[{"data":"!"}]}',
      "1:18: wasm[0].data: is not base64: expected a module as base64",
    ],
    "requests of their own": [
      '{"wasm":[{"url":"https://x/y","headers":{}}]}',
      "1:31: wasm[0].headers: unknown key: modules are fetched as those of policies.yaml are, see docs/modules.md",
    ],
  };
  for (const [what, [text, ...expected]] of Object.entries(WRONG))
    test(`with ${what} is refused`, async () => assert.deepEqual(await problems(text), expected));

  test("in TOML has paths in its messages, and places where it is no TOML", async () => {
    const location = "file:///plugins/p.toml";
    assert.deepEqual(await problems('[[wasm]]\npath = "a"\nhash = 1979-05-27\n', location), [
      '1:1: wasm[0].hash: expected a SHA-256 of 64 hexadecimal digits, found "1979-05-27"',
    ]);
    assert.match((await problems("[[wasm]]\npath = a\n", location))[0] ?? "", /^2:8: Invalid TOML document/);
    assert.deepEqual(await problems("x = 1\n", location), [
      "1:1: x: unknown key, expected one of wasm, memory, config, allowed_hosts, allowed_paths, timeout_ms",
    ]);
  });

  test("that is not UTF-8, or too large, is none", async () => {
    const result = await readPluginManifest(Buffer.from([0x7b, 0xff]), "p.json", "file:///p.json");
    assert.ok("problems" in result && /UTF-8/.test(result.problems[0]?.message ?? ""));
    const large = await readPluginManifest(Buffer.alloc(16 * 1024 * 1024 + 1, " "), "p.json", "file:///p.json");
    assert.ok("problems" in large && /at most 16777216 bytes/.test(large.problems[0]?.message ?? ""));
  });
});
