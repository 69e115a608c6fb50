import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import { commandLine, runCommandLine } from "../../src/cli/command-line.js";
import { examplesOf } from "../../src/cli/definition.js";
import { VERSION } from "../../src/data/version.js";
import { written } from "../support/written.js";

async function run(...args: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const exitCode = await runCommandLine(args, { env: {}, stdin: new PassThrough(), stdout, stderr });
  return { exitCode, stdout: written(stdout), stderr: written(stderr) };
}

const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
const program = commandLine({ env: {}, ...streams }, () => {});
const { commands } = program;
const name = program.name();
const described = commands.filter((command) => command.name() !== "help");

for (const command of described) {
  test(`${command.name()} has examples in its help, of options that it has`, () => {
    const examples = examplesOf(command);
    assert.ok(examples.length > 0);
    for (const [typed] of examples) {
      const own = /(?<![\w./-])policy-server\b([^|)]*)/.exec(typed)?.[1] ?? "";
      assert.ok(own.trim().startsWith(command.name()) || command.name() === "serve", typed);
      for (const [flag] of own.matchAll(/(?<=\s)--?[a-zA-Z][\w-]*/g)) {
        assert.ok(
          command.options.some(({ short, long }) => flag === short || flag === long),
          `${typed}: ${flag}`,
        );
      }
    }
  });
}

test("docs/command-line.md has a section for every command", () => {
  const text = readFileSync(new URL("../../../docs/command-line.md", import.meta.url), "utf8");
  for (const command of commands) assert.ok(text.includes(`\n## \`${command.name()}\`\n`), command.name());
});

test("the help lists every command under a heading", async () => {
  const { exitCode, stdout } = await run("help");
  assert.equal(exitCode, 0);
  for (const command of commands) assert.match(stdout, new RegExp(`^ {2}${command.name()} +\\S`, "m"));
  assert.match(stdout, /^Write and test:$/m);
  // Of a pipe.
  assert.ok(!stdout.includes("\u001b"));
});

test("--version says which", async () => {
  for (const flag of ["--version", "-V"]) {
    assert.deepEqual(await run(flag), { exitCode: 0, stdout: `policy-server ${VERSION}\n`, stderr: "" });
  }
});

describe("a slip", () => {
  const cases: readonly (readonly [string, string[], RegExp])[] = [
    ["of a command is told the right one", ["chekc"], /unknown command 'chekc' \(did you mean "check"\?\)/],
    [
      "of a command that help is wanted of as well",
      ["help", "evla"],
      /unknown command 'evla' \(did you mean "eval"\?\)/,
    ],
    ["of an option is told the right one", ["check", "--polices", "x"], /Did you mean --policies\?/],
    [
      "in what is missing gets an example",
      ["completion"],
      /missing required argument 'shell'[\s\S]*policy-server completion bash/,
    ],
  ];
  for (const [name, args, expected] of cases) {
    test(name, async () => {
      const { exitCode, stderr } = await run(...args);
      assert.equal(exitCode, 2);
      assert.match(stderr, expected);
    });
  }
});

test("docs writes every command, with its options and examples", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "docs-"));
  context.after(() => rm(folder, { recursive: true }));
  const { exitCode, stdout } = await run("docs", "--output", folder);
  assert.deepEqual({ exitCode, stdout }, { exitCode: 0, stdout: "" });
  const text = await readFile(join(folder, `${name}.md`), "utf8");
  assert.equal((await run("docs")).stdout, text);
  for (const command of commands) {
    assert.ok(text.includes(`\n## \`${command.name()}\`\n`), command.name());
    for (const { flags, hidden } of command.options)
      assert.equal(text.includes(`| \`${flags.replaceAll("|", "\\|")}\` |`), !hidden, flags);
    for (const [typed] of examplesOf(command)) assert.ok(text.includes(`\n${typed}\n`), typed);
  }
  const nowhere = await run("docs", "-o", join(folder, "nowhere", "file"));
  assert.equal(nowhere.exitCode, 2);
  assert.match(nowhere.stderr, /^Error: cannot write .*file: no such file or folder$/m);
});
