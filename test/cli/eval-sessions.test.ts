/** `eval` with recorded answers of the host. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "eval-sessions-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};
const policies = write(
  "policies.yaml",
  `
asks:
  module: ${root}/test/fixtures/chaos/wapc.wasm
  hostCapabilities: ["net/*"]
  settings: { mode: 'host:kubewarden:net:v1/dns_lookup_host:"localhost"' }
`,
);
const question = write("question.json", "{}");

async function evaluate(...args: string[]): Promise<{ code: number; message: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runCommandLine(["eval", "asks", "--raw", question, "--policies", policies, ...args], {
    env: {},
    stdin: Readable.from([]),
    stdout,
    stderr,
  });
  stdout.end();
  stderr.end();
  const out = await text(stdout);
  const message =
    out === "" ? "" : (JSON.parse(out) as { response: { status: { message: string } } }).response.status.message;
  return { code, message, err: await text(stderr) };
}

test("what a policy asks of the host is recorded, and replayed without asking again", async () => {
  const file = join(folder, "session.yaml");
  const live = await evaluate("--record-host-capabilities", file);
  assert.equal(live.code, 1);
  assert.match(live.message, /^\+\{"ips":\[/);
  const recorded = readFileSync(file, "utf8");
  assert.match(recorded, /!DNSLookupHost\n {4}host: localhost\n/);
  writeFileSync(file, recorded.replace(/"ips":\[.*\]/, '"ips":["192.0.2.7"]'));
  const { code, message, err } = await evaluate("--replay-host-capabilities", file);
  assert.deepEqual({ code, message, err }, { code: 1, message: '+{"ips":["192.0.2.7"]}', err: "" });
});

test("exchanges that nobody asked for are a warning", async () => {
  const exchange =
    '- {type: Exchange, request: "!DNSLookupHost\\nhost: localhost", response: {type: Error, message: gone}}\n';
  const file = write("two.yaml", exchange + exchange);
  const { message, err } = await evaluate("--replay-host-capabilities", file);
  assert.equal(message, "-Callback evaluation failure: gone");
  assert.match(err, /^warning: 1 recorded exchanges of .* were not asked for\n$/);
});

test("a file that is no session, and both options at once, are mistakes of the caller", async () => {
  assert.equal((await evaluate("--replay-host-capabilities", write("none.yaml", "a: 1"))).code, 2);
  assert.equal((await evaluate("--replay-host-capabilities", "x", "--record-host-capabilities", "y")).code, 2);
});
