import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startExample } from "../support/example-server.js";
import { shell } from "../support/shell.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

interface Example {
  readonly command: string;
  readonly output: string;
}

/** Every `console` block of the README: a command after `$`, then what it prints. */
function examples(): Example[] {
  const text = readFileSync(`${root}/README.md`, "utf8");
  return [...text.matchAll(/```console\n\$ (.*)\n([\s\S]*?)```/g)].map(([, command = "", output = ""]) => ({
    command,
    output: output.trimEnd(),
  }));
}

/** Without times; and why a guest begins cold is another from some moment on, when it has been asked for the second time. */
const lasting = (output: string) =>
  output.replace(/"startReason":"[^"]+"/g, '"startReason":""').replace(/ {2}\d+(?:\.\d+)? ms$/gm, "");

test("the README names the oldest and the newest version of Node that is tested", async () => {
  const { VERSIONS } = (await import(`${root}/scripts/nodes.mjs`)) as { readonly VERSIONS: readonly string[] };
  const [, oldest = "", newest = ""] =
    /\(tested on (\S+) to (\S+)\)/.exec(readFileSync(`${root}/README.md`, "utf8")) ?? [];
  assert.equal(oldest, VERSIONS[0]);
  assert.ok(newest.startsWith(`${VERSIONS.at(-1)}.`), newest);
  const { engines } = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
    readonly engines: { readonly node: string };
  };
  assert.ok(engines.node.startsWith(`^${oldest} || >=`), engines.node);
});

describe("the commands of the README print what it says", async () => {
  const server = await startExample();
  const found = examples();

  test("there are examples", () => assert.ok(found.length >= 8, `${found.length} examples`));

  for (const { command, output } of found) {
    test(command, async () => {
      const runnable = command
        .replace("http://localhost:3000", server.url)
        .replace("npx policy-server", `${process.execPath} dist/server/main.js`);
      assert.equal(lasting(await shell(runnable, root)), lasting(output));
    });
  }

  test("the server stops when told to", async () => assert.equal(await server.stop(), 0));
});
