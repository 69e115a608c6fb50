import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { SERVE_OPTIONS } from "../../src/cli/option-definitions.js";
import { written } from "../support/written.js";

async function run(...args: string[]): Promise<{ exitCode: number; output: string }> {
  const stdout = new PassThrough();
  const exitCode = await runCommandLine(args, { env: {}, stdin: new PassThrough(), stdout, stderr: stdout });
  return { exitCode, output: written(stdout) };
}

const COMMANDS = ["serve", "check", "eval", "test", "cel", "read", "completion"];

describe("completion", () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    test(`${shell}: every command and every flag of serve is there`, async () => {
      const { exitCode, output } = await run("completion", shell);
      assert.equal(exitCode, 0);
      for (const name of COMMANDS) assert.match(output, new RegExp(`\\b${name}\\b`), name);
      for (const { flag } of SERVE_OPTIONS) {
        assert.ok(output.includes(shell === "fish" ? `-l ${flag} ` : `--${flag}`), flag);
      }
    });
  }

  test("an unknown shell is a mistake, with a suggestion", async () => {
    const { exitCode, output } = await run("completion", "bsh");
    assert.equal(exitCode, 2);
    assert.match(output, /did you mean "bash"/);
  });
});

const bash = spawnSync("bash", ["-c", "type compgen"]).status === 0;

describe("bash completes", { skip: bash ? false : "there is no bash here" }, () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["policy-server ch", ["check"]],
    ["policy-server completion f", ["fish"]],
    ["policy-server --log-f", ["--log-fmt"]],
    ["policy-server serve --log-fmt ", ["text", "json", "otlp"]],
    ["policy-server --tls-min-version = 1.", ["1.2", "1.3"]],
    ["policy-server cel --exp", ["--explain"]],
    ["policy-server inspect --output y", ["yaml"]],
    ["policy-server push --output ", ["text", "json"]],
    ["policy-server docs --output policies.y", ["policies.yaml"]],
    ["policy-server help che", ["check"]],
    ["policy-server cel --dra", []],
    ["policy-server check --policies policies.y", ["policies.yaml"]],
  ];
  for (const [line, expected] of cases) {
    test(line, async () => {
      const { output } = await run("completion", "bash");
      const words = line.split(" ");
      const script = `${output}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_policy_server; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], {
        encoding: "utf8",
        cwd: new URL("../../../", import.meta.url),
      });
      assert.equal(stderr, "");
      assert.deepEqual(stdout.split("\n").filter(Boolean), expected);
    });
  }
});
