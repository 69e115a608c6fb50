/**
 * What pages tell people to type exists: commands of `policy-server` with their flags, scripts of npm, and the metrics that a page sends people to.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { commandLine } from "../../src/cli/command-line.js";
import { metricsTables } from "../../src/telemetry/documentation.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Pages for people. The reference below docs/spec is about other programs. */
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...["docs", "docs/design"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  ),
  "deploy/README.md",
  "deploy/helm/policy-server/README.md",
];

/** Flags that pages write alone, each with the program that has it. */
const OF_OTHER_PROGRAMS: Readonly<Record<string, string>> = {
  "--controllers": "kube-controller-manager",
  "--disable-admission-plugins": "kube-apiserver",
  "--exceptionNamespace": "Kyverno",
  "--experimental-wasm-branch-hinting": "node",
  "--max-semi-space-size": "node",
  "--password": "any: an argument that recordings leave out",
  "--peer": "test/public/kyverno-tests",
  "--runtime-config": "kube-apiserver",
  "--screenshots": "test/browser/run",
  "--v0-compatible": "opa",
};
/** Scripts of other packages. */
const OTHER_SCRIPTS: Readonly<Record<string, string>> = { watch: "a folder that `scaffold wasm` has made" };

const { stdin, stdout, stderr } = process;
const program = commandLine({ env: {}, stdin, stdout, stderr }, () => {});
const HELP = ["-h", "--help"];
const flagsByCommand = new Map<string, ReadonlySet<string>>(
  program.commands.map((command) => [command.name(), new Set([...HELP, ...flagsOf(command.options)])]),
);
const flagsOfProgram = new Set([...HELP, ...flagsOf(program.options)]);
const allFlags = new Set([...flagsOfProgram, ...[...flagsByCommand.values()].flatMap((flags) => [...flags])]);

function flagsOf(options: readonly { readonly long?: string | null; readonly short?: string | null }[]): string[] {
  return options.flatMap(({ long, short }) => [long, short].filter((flag) => typeof flag === "string"));
}

/** Blocks of code, with lines that go on joined; and spans. */
function codeOf(text: string): { readonly lines: readonly string[]; readonly spans: readonly string[] } {
  const blocks = [...text.matchAll(/^ *```(?:sh|console|bash)\n([\s\S]*?)^ *```/gm)].map(([, block = ""]) => block);
  const prose = text.replace(/^ *```[\s\S]*?^ *```/gm, "");
  return {
    lines: blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, " ").split("\n")),
    spans: [...prose.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span.replaceAll("\\|", "|")),
  };
}

/** A command line's words: without quoted text, and without what a comment, a pipe or another command follows with. */
function wordsOf(typed: string): readonly string[] {
  const [own = ""] = typed.replaceAll(/'[^']*'|"[^"]*"/g, "text").split(/ #| [|;&<>]|[;&)]/);
  return own.split(/\s+/).filter((word) => word !== "");
}

/** What stands behind each `policy-server` that begins a command. */
function invocationsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:^\s*(?:\$ )?|[|;&(] ?|-- )(?:[A-Z_]+=\S* )*(?:npx )?policy-server(?: (.*)|$)/g)].map(
    ([, rest = ""]) => rest,
  );
}

function mistakesOf(typed: string): readonly string[] {
  const [first = "", ...rest] = wordsOf(typed);
  if (first.startsWith("-")) return unknown([first], flagsOfProgram, "policy-server");
  if (first === "" || /^[<[]/.test(first)) return [];
  const flags = flagsByCommand.get(first);
  if (flags === undefined) return [`there is no command ${first}`];
  return [...unknown(rest, flags, first), ...notAmong(first, rest)];
}

function unknown(words: readonly string[], flags: ReadonlySet<string>, of: string): readonly string[] {
  return words
    .map((word) => word.replace(/^\[/, "").split(/[=\]]/)[0] ?? "")
    .filter((word) => /^--?[a-zA-Z]/.test(word) && !flags.has(word))
    .map((word) => `${of} has no ${word}`);
}

/** A first argument, such as a kind of `scaffold`, that is none of those there are. */
function notAmong(name: string, [word = ""]: readonly string[]): readonly string[] {
  const choices = program.commands.find((command) => command.name() === name)?.registeredArguments[0]?.argChoices;
  if (choices === undefined || !/^[a-z-]+$/.test(word) || word.startsWith("-") || choices.includes(word)) return [];
  return [`${name} knows no ${word}`];
}

/** `eval --explain` in a sentence. */
const beginsWithCommand = (span: string): boolean => {
  const [first = "", second = ""] = span.split(" ");
  return flagsByCommand.has(first) && second !== "" && / --?[a-z]/.test(span);
};

describe("what pages tell people to type", () => {
  const found = pages.flatMap((page) => {
    const { lines, spans } = codeOf(readFileSync(join(root, page), "utf8"));
    const typed = [
      ...lines.flatMap(invocationsOf),
      ...spans.flatMap(invocationsOf),
      ...spans.filter(beginsWithCommand),
    ];
    const metrics = [...lines, ...spans].flatMap((code) => code.match(/\b(?:policy_server|kubewarden)_[a-z_]+/g) ?? []);
    return [{ page, lines, spans, typed, metrics }];
  });

  test("are commands that there are, with flags that they have", () => {
    const mistakes = found.flatMap(({ page, typed }) =>
      typed.flatMap((each) => mistakesOf(each).map((mistake) => `${page}: ${each}: ${mistake}`)),
    );
    assert.deepEqual(mistakes, []);
    assert.ok(found.flatMap(({ typed }) => typed).length > 100, "the search finds them");
  });

  test("are flags of some command, where a flag stands alone", () => {
    const alone = found.flatMap(({ page, spans }) =>
      spans.filter((span) => /^--[a-z]/.test(span)).map((span) => [page, span.split(/[\s=[]/)[0] ?? ""] as const),
    );
    const mistakes = alone.filter(([, flag]) => !allFlags.has(flag) && OF_OTHER_PROGRAMS[flag] === undefined);
    assert.deepEqual(mistakes, []);
    const written = new Set(alone.map(([, flag]) => flag));
    assert.deepEqual(
      Object.keys(OF_OTHER_PROGRAMS).filter((flag) => !written.has(flag)),
      [],
    );
    assert.ok(alone.length > 50, "the search finds them");
  });

  test("are scripts that package.json has", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts: Readonly<Record<string, string>>;
    };
    const run = found.flatMap(({ page, lines, spans }) =>
      [...lines, ...spans].flatMap((line) =>
        [...line.matchAll(/\bnpm run ([\w-]+)/g)].map(([, script = ""]) => [page, script] as const),
      ),
    );
    assert.deepEqual(
      run.filter(([, script]) => (scripts[script] ?? OTHER_SCRIPTS[script]) === undefined),
      [],
    );
    assert.ok(run.length > 10, "the search finds them");
  });

  test("are metrics that are counted", () => {
    const known = new Set(metricsTables().metrics?.match(/(?<=^\| `)\w+/gm));
    const mistakes = found.flatMap(({ page, metrics }) =>
      metrics
        .filter((name) => !known.has(name.replace(/_(?:bucket|sum|count)$/, "")))
        .map((name) => `${page}: ${name}`),
    );
    assert.deepEqual(mistakes, []);
    assert.ok(found.flatMap(({ metrics }) => metrics).length > 50, "the search finds them");
  });

  for (const [typed, mistakes] of [
    ["eval workloads --object a.yaml", []],
    ["evil workloads", ["there is no command evil"]],
    ["eval workloads --objekt a.yaml", ["eval has no --objekt"]],
    ["cel 'a --b' | jq --raw-output .", []],
    ["--version", []],
    ["scaffold manifest --dry-run", ["scaffold knows no manifest"]],
  ] as const) {
    test(`policy-server ${typed}: ${mistakes[0] ?? "no mistake"}`, () => assert.deepEqual(mistakesOf(typed), mistakes));
  }
});
