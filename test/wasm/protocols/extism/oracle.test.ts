/** The environment of Extism plugins, beside that of Extism's own SDK for JavaScript. Where that one departs from Extism's kernel, which its other SDKs share, the kernel is right. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createPlugin } from "@extism/extism";
import {
  NO_ENVIRONMENT,
  type PluginEnvironment,
  printEnvironment,
} from "../../../../src/wasm/protocols/extism/environment.js";
import { extismRunner } from "../../../../src/wasm/protocols/extism/guest.js";
import { file } from "../../support.js";
import { assemble } from "./assemble.js";
import { type Line, recordingHost } from "./host.js";

/** What a plugin's function comes to. */
interface Seen {
  /** Its output as text, and a row of numbers as such. */
  readonly output?: string | readonly bigint[];
  /** What it reports. */
  readonly error?: string;
  /** Whether it ends in the middle; the words are everybody's own. */
  readonly trapped?: true;
  readonly lines: readonly Line[];
}

const INPUT = "ABCDEFGHIJKLM";
const PLUGIN_ERROR = "Plugin-originated error: ";
const module = new WebAssembly.Module(new Uint8Array(file("test/fixtures/extism/probe.wasm")));
const run = extismRunner();

const environment = (parts: Partial<PluginEnvironment>): Uint8Array =>
  Buffer.from(printEnvironment({ ...NO_ENVIRONMENT, ...parts }));

function ours(operation: string, parts?: Partial<PluginEnvironment>): Seen {
  const host = recordingHost();
  const { lines } = host;
  const data = parts && { data: environment(parts) };
  try {
    const answer = run({ module }, { operation, input: new TextEncoder().encode(INPUT), ...data }, host);
    return answer.kind === "answer" ? { output: read(answer.bytes), lines } : { error: answer.text, lines };
  } catch {
    return { trapped: true, lines };
  }
}

async function theirs(operation: string, options: Partial<PluginEnvironment> = {}): Promise<Seen> {
  const lines: Line[] = [];
  const line = (level: string) => (text: string) => lines.push([level, text]);
  const levels = ["trace", "debug", "info", "warn", "error"].map((level) => [level, line(level)]);
  const plugin = await createPlugin(module, {
    logger: Object.fromEntries(levels) as Console,
    logLevel: options.logLevel ?? "trace",
    config: { ...options.config },
    memory: { maxVarBytes: 1024 * 1024 },
  });
  try {
    const output = await plugin.call(operation, INPUT);
    return { output: read(output?.bytes() ?? new Uint8Array()), lines };
  } catch (error) {
    const { message } = error as Error;
    return message.startsWith(PLUGIN_ERROR)
      ? { error: message.slice(PLUGIN_ERROR.length), lines }
      : { trapped: true, lines };
  }
}

/** Numbers, or text where it isn't rows of numbers: every output of text here begins with a letter. */
function read(bytes: Uint8Array): string | bigint[] {
  const text = new TextDecoder().decode(bytes);
  if (bytes.length === 0 || /^[a-zA-Z]/.test(text)) return text;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 8 }, (_, row) => view.getBigUint64(row * 8, true));
}

const SAME = [
  ..."nothing no_output echo input_is_a_block input_freed no_blocks output_twice output_too_long output_nowhere".split(
    " ",
  ),
  ..."error_beside_output error_twice error_nowhere trap config variables log".split(" "),
];

/** What `blocks` sees but for the block without bytes. */
const BLOCKS = [0n, 13n, 13n, 0n, 0n, 361417177238077440n, 8n, 255n, 18374695305930408963n, 0n, 0n];

/** The SDK's answer, ours, and why. */
const DIFFERENT: readonly [operation: string, sdk: Partial<Seen>, own: Partial<Seen>, why: string][] = [
  ["input_beyond", { trapped: true }, { output: [0n, 0n] }, "the kernel reads zeros outside of the input"],
  ["blocks_beyond", { trapped: true }, { output: [0n, 0n] }, "the kernel reads zeros outside of its memory"],
  ["blocks", { output: [...BLOCKS, 0n, 0n] }, { output: [...BLOCKS, 1n, 0n] }, "what is empty has no block"],
  ["error_of_nothing", { error: "" }, { output: "" }, "what is empty has no block, and that is no error"],
  [
    "status64",
    { output: "Abcdefgh" },
    { error: "returned non-zero exit code: -1" },
    "what is no i32 is no status, and Extism's runtime fails such a call",
  ],
  ["output_part", { output: "Abcdefgh" }, { output: "cde" }, "the kernel takes the part that it is told"],
  ["output_freed", { output: "" }, { output: "Abcdefgh" }, "in the kernel the bytes stay"],
  ["error_taken_back", { error: "\0" }, { output: "Abcdefgh" }, "in the kernel 0 is no error"],
  [
    "status",
    { output: "Abcdefgh" },
    { error: "returned non-zero exit code: 7" },
    "the other SDKs fail such a call, and no failure may pass for an answer",
  ],
  [
    "variables_too_large",
    { error: "var memory limit exceeded: 2097152 bytes requested, 1048576 allowed" },
    { error: "var memory limit exceeded: 2097208 bytes requested, 1048576 allowed" },
    "names take room, too",
  ],
];

/** The same but for the words of the log. */
const OTHER_WORDS = ["variables_nowhere", "log_nowhere"];

describe("an Extism plugin sees the same as under Extism's SDK:", () => {
  for (const operation of SAME)
    test(operation.replaceAll("_", " "), async () => {
      const seen = ours(operation);
      assert.deepEqual(seen, await theirs(operation));
      assert.deepEqual(ours(operation), seen, "a second time");
    });

  for (const [operation, sdk, own, why] of DIFFERENT)
    test(`${operation.replaceAll("_", " ")}, but ${why}`, async () => {
      const { lines: _, ...seenThere } = await theirs(operation);
      const { lines: __, ...seenHere } = ours(operation);
      assert.deepEqual(seenThere, sdk);
      assert.deepEqual(seenHere, own);
    });

  for (const operation of OTHER_WORDS)
    test(`${operation.replaceAll("_", " ")}, in other words`, async () => {
      const [here, there] = [ours(operation), await theirs(operation)];
      const levels = ({ lines }: Seen) => lines.map(([level]) => level);
      assert.ok(here.lines.length > 0);
      assert.deepEqual({ ...here, lines: levels(here) }, { ...there, lines: levels(there) });
    });

  test("configuration is found by name, empty values and such that are no ASCII included", async () => {
    const config = { Cbcdefgh: "value", Dbcdefgh: "", Fbcdefgh: "\u{e4}\u{1f600}" };
    const seen = ours("config_values", { config });
    assert.deepEqual(seen, await theirs("config_values", { config }));
    assert.deepEqual(seen.output, [5n, 118n, 0n, 0n, 6n, 0xc3n, 5n, 118n]);
  });

  test("what objects inherit is no configuration", () => {
    const find = (name: string) => {
      const found = assemble(`
        (func (export "find") (result i32)
          (call $output_set (call $input_offset) (call $length (call $config_get (call $input_offset))))
          (i32.const 0))`);
      return run(
        { module: found },
        { operation: "find", input: Buffer.from(name), data: environment({}) },
        recordingHost(),
      );
    };
    for (const name of ["toString", "__proto__", "constructor"])
      assert.deepEqual(find(name).kind === "answer" && find(name), { kind: "answer", bytes: new Uint8Array() });
  });

  for (const logLevel of ["trace", "debug", "info", "warn", "error", "silent"] as const)
    test(`of log lines those from ${logLevel} on are written, and the plugin is told so`, async () => {
      const seen = ours("log", { logLevel });
      assert.deepEqual(seen, await theirs("log", { logLevel }));
      assert.equal(seen.lines.length, ["silent", "error", "warn", "info", "debug", "trace"].indexOf(logLevel));
    });

  test("variables have the room that they are given, and none where there are none", () => {
    assert.equal(ours("variables_too_large", { varBytes: 4 * 1024 * 1024 }).error, undefined);
    const allowed = ours("variables_too_large", { varBytes: 100 });
    assert.equal(allowed.error, "var memory limit exceeded: 2097208 bytes requested, 100 allowed");
    assert.ok(ours("variables", { varBytes: 0 }).trapped);
  });
});
