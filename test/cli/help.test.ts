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

test("the version is said, however it is asked for", async () => {
  for (const flag of ["--version", "-V", "-v", "version"]) {
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
    ["of a command with more behind it", ["evla", "x", "--all"], /unknown command 'evla' \(did you mean "eval"\?\)/],
    ["of a command's case", ["Eval"], /did you mean "eval"/],
    ["of a command elsewhere", ["valuate"], /did you mean "eval"/],
    ["of a command that is cut", ["scaf"], /did you mean "scaffold"/],
    ["of a word behind options", ["--policies", "x", "evla", "y"], /unknown command 'evla'/],
    ["that is like no command is told all", ["zzz"], /\(commands: serve, play, .*, version\)/],
    [
      "of a file that is not there",
      ["gateway.yaml"],
      /there is no such file either, .* policy-server check gateway\.yaml/,
    ],
    [
      "of a file in place of a command",
      ["./package.json"],
      /: a file is named as in policy-server check .\/package.json/,
    ],
    ["of an option is told the right one", ["check", "--polices", "x"], /Did you mean --policies\?/],
    ["of a word's case", ["--Version"], /Did you mean --version\?/],
    ["of a letter's case", ["check", "-O", "json"], /unknown option '-O'\n\(Did you mean -o, --output\?\)/],
    [
      "of a letter that begins an option",
      ["apply", "-k"],
      /Did you mean (?:--kubernetes-version or )?--kubeconfig or --kubernetes\?/,
    ],
    ["of a letter is told all others", ["check", "-x"], /\(letters that it knows: -o, --output; -h, --help\)/],
    ["of a letter without a command", ["-x"], /\(letters that it knows: -h, --help\)/],
    ["of a dash", ["check", "-policies", "x"], /Did you mean --policies\?/],
    [
      "of another word for the version",
      ["check", "-version"],
      /option '-version'\n\(the version: policy-server version\)/,
    ],
    ["of the letter of the version", ["check", "-v"], /option '-v'\n\(the version: policy-server version\)/],
    [
      "of kubectl's letter for files",
      ["check", "-f", "x"],
      /\(files are named without an option: policy-server check FILE\)/,
    ],
    [
      "of an option for files",
      ["test", "--files", "x"],
      /\(files are named without an option: policy-server test FILE\)/,
    ],
    ["of the format's name", ["check", "--format", "json"], /Did you mean -o, --output\?/],
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

test("the help of a command begins with its own options", async () => {
  for (const name of ["check", "eval", "bench", "test", "apply", "replay", "audit", "inspect"]) {
    const { stdout } = await run("help", name);
    const [own = "", loading = ""] = stdout.split("\nOptions for loading policies:\n");
    assert.match(own, /^ {2}-h, --help/m, name);
    assert.doesNotMatch(own, /--policies-download-dir/, name);
    assert.match(loading, /--policies-download-dir/, name);
  }
  assert.doesNotMatch((await run("help", "serve")).stdout, /Options for loading policies/);
});

test("docs takes -o as a path for one version more, with a warning", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "docs-"));
  context.after(() => rm(folder, { recursive: true }));
  for (const [flag, warned] of [
    ["-d", /^(?!warning)/],
    ["--destination", /^(?!warning)/],
    ["-o", /^warning: write -d, --destination in place of -o/],
    ["--output", /^warning: write -d, --destination in place of -o, --output/],
  ] as const) {
    const { exitCode, stderr } = await run("docs", flag, join(folder, "page.md"));
    assert.equal(exitCode, 0);
    assert.match(stderr, warned);
    assert.match(stderr, /page\.md: written/);
  }
});

test("docs writes every command, with its options and examples", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "docs-"));
  context.after(() => rm(folder, { recursive: true }));
  const { exitCode, stdout } = await run("docs", "--destination", folder);
  assert.deepEqual({ exitCode, stdout }, { exitCode: 0, stdout: "" });
  const text = await readFile(join(folder, `${name}.md`), "utf8");
  assert.equal((await run("docs")).stdout, text);
  for (const command of commands) {
    assert.ok(text.includes(`\n## \`${command.name()}\`\n`), command.name());
    for (const { flags, hidden } of command.options)
      assert.equal(text.includes(`| \`${flags.replaceAll("|", "\\|")}\` |`), !hidden, flags);
    for (const [typed] of examplesOf(command)) assert.ok(text.includes(`\n${typed}\n`), typed);
  }
  const nowhere = await run("docs", "-d", join(folder, "nowhere", "file"));
  assert.equal(nowhere.exitCode, 2);
  assert.match(nowhere.stderr, /^Error: cannot write .*file: no such file or folder$/m);
});
