import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { egressOptions } from "../../src/cli/egress-options.js";
import { SERVE_OPTIONS } from "../../src/cli/option-definitions.js";
import { DEFAULT_BLOCKLIST } from "../../src/world/http/egress-rules.js";

test("what the help says is blocked is what is blocked", () => {
  const option = SERVE_OPTIONS.find(({ flag }) => flag === "http-blocklist");
  assert.equal(option?.default, DEFAULT_BLOCKLIST.join(","));
});

test("lists are made of commas, and an empty one blocks nothing", () => {
  assert.deepEqual(egressOptions({ httpBlocklist: "", allowHttpInNamespacedPolicies: true }), {
    blocklist: [""],
    forNamespaced: true,
  });
  assert.deepEqual(egressOptions({ httpAllowlist: "https://a,https://b" }), {
    allowlist: ["https://a", "https://b"],
    forNamespaced: false,
  });
});

test("a list that can't be read is a mistake of the command line", async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const args = ["check", "--http-allowlist", "example.com"];
  const code = await runCommandLine(args, { env: {}, stdin: Readable.from([]), stdout, stderr });
  stderr.end();
  assert.equal(code, 2);
  assert.match(await text(stderr), /the entry "example\.com" of the HTTP allowlist must include scheme and host/);
});
