/** The example policies' own test files, as anybody runs them. */
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";

/** Bytes: an example should show that a policy in AssemblyScript is small. */
const LARGEST_MODULE = 64 * 1024;
/** Cases that each has at least: one for every rule. */
const LEAST_CASES = 10;

const folder = fileURLToPath(new URL("../../../policies", import.meta.url));
const modules = readdirSync(folder).filter((name) =>
  statSync(join(folder, name, "policy.wasm"), { throwIfNoEntry: false }),
);

describe("example policies in AssemblyScript", () => {
  test("there are four of them, or more", () => assert.ok(modules.length >= 4));

  for (const name of modules) {
    test(`${name} is small`, () => assert.ok(statSync(join(folder, name, "policy.wasm")).size < LARGEST_MODULE));

    test(`${name} passes its cases`, async () => {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const io = { env: {}, stdin: Readable.from([]), stdout, stderr };
      const code = await runCommandLine(["test", join(folder, name)], io);
      stdout.end();
      const printed = await text(stdout);
      assert.equal(code, 0, printed);
      assert.ok(Number(/^(\d+) passed/.exec(printed)?.[1]) >= LEAST_CASES, printed);
    });
  }
});
