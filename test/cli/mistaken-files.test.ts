/** Files named by options that cannot be used end a command at once, with one error that names them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { folder } from "../fetch/helpers.js";

const MISTAKES: [option: string, content: string | undefined, error: RegExp][] = [
  ["--sources-path", undefined, /^Error: error while loading sources from .*f: does not exist\n$/],
  ["--sources-path", "insecure_sources: x", /^Error: error while loading sources from .*f:1:19: insecure_sources: /],
  ["--verification-path", undefined, /^Error: Not a valid configuration file: .*f: does not exist\n$/],
  ["--verification-path", "{}", /^Error: config is missing signatures in both allOf and anyOff list\n$/],
  [
    "--sigstore-trust-config",
    undefined,
    /^Error: error while loading the Sigstore trust configuration from .*f: does not exist\n$/,
  ],
  ["--sigstore-trust-config", "{", /^Error: error while loading the Sigstore trust .*f: it is not JSON\n$/],
  ["--sigstore-trust-config", "{}", /^Error: error while loading the Sigstore trust .*f: it has no trustedRoot\n$/],
];

for (const [option, content, error] of MISTAKES) {
  test(`${option} with ${content ?? "a file that is not there"}`, async (context) => {
    const root = folder(context, { "policies.yaml": "{}", ...(content !== undefined && { f: content }) });
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const code = await runCommandLine(["check", join(root, "policies.yaml"), option, join(root, "f")], {
      env: {},
      stdin: Readable.from([]),
      stdout,
      stderr,
    });
    stdout.end();
    stderr.end();
    assert.match(await text(stderr), error);
    assert.equal(code, 1);
    assert.equal(await text(stdout), "");
  });
}
