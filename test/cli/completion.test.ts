import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
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
  test("knows every command and every flag of serve, with its meaning", async () => {
    const { exitCode, output } = await run("completion", "words", "--", "");
    assert.equal(exitCode, 0);
    for (const name of COMMANDS) assert.match(output, new RegExp(`^${name}\\t\\w`, "m"), name);
    const flags = (await run("completion", "words", "--", "--")).output;
    for (const { flag } of SERVE_OPTIONS) assert.match(flags, new RegExp(`^--${flag}\\t\\w`, "m"), flag);
  });

  test("an unknown shell is a mistake, with a suggestion", async () => {
    const { exitCode, output } = await run("completion", "bsh");
    assert.equal(exitCode, 2);
    assert.match(output, /did you mean "bash"/);
  });

  test("a word behind the shell is one, too", async () => {
    const { exitCode, output } = await run("completion", "bash", "policies.yaml");
    assert.equal(exitCode, 2);
    assert.match(output, /leave policies\.yaml out/);
  });

  test("of a flag with = has the flag before each value, where the shell keeps both in one word", async () => {
    const { output } = await run("completion", "words", "--", "--tls-min-version=1.");
    assert.equal(output, "--tls-min-version=1.2\n--tls-min-version=1.3\n");
  });
});

/** A folder with the executable under its name, as the scripts call it. */
const bin = mkdtempSync(join(tmpdir(), "completion-"));
const repository = fileURLToPath(new URL("../../../", import.meta.url));
writeFileSync(
  join(bin, "policy-server"),
  `#!/bin/sh\nexec "${process.execPath}" "${repository}dist/server/main.js" "$@"\n`,
);
chmodSync(join(bin, "policy-server"), 0o755);
writeFileSync(
  join(bin, "other.yaml"),
  'one: { cel: { validations: [{ expression: "true" }] } }\ntwo: { module: a.wasm }\n',
);
after(() => rmSync(bin, { recursive: true }));
const env = { ...process.env, PATH: `${bin}:${process.env.PATH ?? ""}`, HOME: bin };

/** Command lines of which the last word is completed, with what there is for it. */
const CASES: readonly (readonly [string, readonly string[]])[] = [
  ["ch", ["check"]],
  ["completion f", ["fish"]],
  ["--log-f", ["--log-fmt"]],
  ["serve --log-fmt ", ["text", "json", "otlp"]],
  ["cel --exp", ["--explain"]],
  ["check --kubernetes-version 1.2", ["1.28", "1.29"]],
  ["inspect --output y", ["yaml"]],
  ["push -o ", ["text", "json"]],
  ["docs --destination policies.y", ["policies.yaml"]],
  ["help che", ["check"]],
  ["check --policies policies.y", ["policies.yaml"]],
  ["check --policies-download-dir polic", ["policies"]],
  ["check --workers ", []],
  ["eval --operation D", ["DELETE"]],
  ["eval trusted-w", ["trusted-workloads", "trusted-workloads/trusted", "trusted-workloads/sandbox"]],
  ["eval --all workloads --object policies.y", ["policies.yaml"]],
  [`eval --policies ${bin}/other.yaml t`, ["two", "test", "tsconfig.json"]],
  ["--approve service-", ["service-certificates"]],
  ["scaffold from-module policies.y", ["policies.yaml"]],
  ["explain CONFIG_W", ["CONFIG_WRONG_TYPE"]],
];

const installed = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

describe("bash completes", { skip: installed("bash") ? false : "there is no bash here" }, () => {
  const only: readonly (readonly [string, readonly string[]])[] = [
    ["--tls-min-version = 1.", ["1.2", "1.3"]],
    ["cel --dra", []],
    ["bench no-host", ["no-host-network"]],
  ];
  for (const [line, expected] of [...CASES, ...only]) {
    test(line, async () => {
      const { output } = await run("completion", "bash");
      const words = `policy-server ${line}`.split(" ");
      const script = `${output}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_policy_server; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], {
        encoding: "utf8",
        env,
        cwd: repository,
      });
      assert.equal(stderr, "");
      assert.deepEqual(stdout.split("\n").filter(Boolean), expected);
    });
  }
});

describe("fish completes", { skip: installed("fish") ? false : "there is no fish here" }, () => {
  for (const [line, expected] of CASES) {
    test(line, () => {
      const script = `policy-server completion fish | source; complete -C 'policy-server ${line}'`;
      const { stdout, stderr } = spawnSync("fish", ["-c", script], { encoding: "utf8", env, cwd: repository });
      assert.equal(stderr, "");
      const words = stdout.split("\n").map((each) => (each.split("\t")[0] ?? "").replace(/\/$/, ""));
      assert.deepEqual(words.filter(Boolean).sort(), [...expected].sort());
    });
  }
});

describe("zsh completes", { skip: installed("zsh") ? false : "there is no zsh here" }, () => {
  // On a terminal of its own, as zsh completes nowhere else: the one word that is left is written out.
  for (const [line, expected] of CASES.filter(([, { length }]) => length === 1)) {
    test(line, () => {
      const script = `zmodload zsh/zpty; zpty shell zsh -f -i
zpty -w shell "PS1=; cd '${repository}'; autoload -U compinit; compinit -u -D; source <(policy-server completion zsh); echo REA''DY"
while zpty -r shell out; do [[ $out == *READY* ]] && break; done
zpty -w -n shell "policy-server ${line}"$'\\t'
for try in {1..100}; do sleep 0.1; zpty -r -t shell out && all+=$out; [[ $all == *"${expected[0]}"* ]] && break; done
print -r -- $all; zpty -d shell`;
      const { stdout } = spawnSync("zsh", ["-f", "-c", script], { encoding: "utf8", env });
      assert.ok(stdout.includes(expected[0] ?? ""), stdout);
    });
  }
});
