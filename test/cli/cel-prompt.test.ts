/** `cel` without an expression: a prompt on a terminal, standard input otherwise. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { createEnvironment } from "../../src/cel/index.js";
import { addToHistory, historyFile, isUnfinished, readHistory } from "../../src/cli/cel/prompt/index.js";
import { PromptSession } from "../../src/cli/cel/prompt/session.js";
import { runCommandLine } from "../../src/cli/command-line.js";
import { plain } from "../../src/cli/look/paint.js";

const folder = mkdtempSync(join(tmpdir(), "cel-prompt-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: unknown): string => {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(content));
  return file;
};

function session(now?: () => number): PromptSession {
  return new PromptSession({
    environmentOf: (name) => {
      if (name === "kubernetes-1.37") return createEnvironment({ flavour: "kubernetes" });
      return name === "standard" ? createEnvironment({ flavour: "standard" }) : undefined;
    },
    ...{ environment: "kubernetes-1.37", variables: [], objectTypes: [], bindings: {}, paint: plain },
    ...(now && { now }),
  });
}

/** The answers to inputs, one after the other. */
function answers(...inputs: readonly string[]): string[] {
  const one = session();
  return inputs.map((input) => one.answer(input).text);
}

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web" },
  spec: { containers: [{ name: "a", image: "b" }] },
};

describe("the prompt", () => {
  test("prints values in CEL's notation with their types, and keeps the last one as `it`", () => {
    assert.deepEqual(
      answers("[1, 2].map(x, x * 2)", "it.size() == 2", '{"a": 1u}', "b'x\\xff'", "duration('60s')", "1.0"),
      [
        "[2, 4] : list(int)",
        "true : bool",
        '{"a": 1u} : map(string, uint)',
        'b"x\\xff" : bytes',
        'duration("1m0s") : google.protobuf.Duration',
        "1.0 : double",
      ],
    );
  });

  test("points at what is wrong, and suggests names", () => {
    const [undeclared = "", evaluation = "", operator = "", command = ""] = answers(
      "'a'.startWith('a')",
      "1 + [1][2]",
      "true & false",
      ":tipe 1",
    );
    assert.match(undeclared, / \| 'a'\.startWith\('a'\)\n \| \.+\^\nhint: write startsWith/);
    assert.match(evaluation, /^error: .*\n \| 1 \+ \[1\]\[2\]\n \| +\^$/);
    assert.match(operator, /hint: .*&&/);
    assert.match(command, /did you mean ":type"/);
  });

  test("tells types without evaluating, explains, binds, lists", () => {
    const [type, let_, vars = "", explained = "", missing] = answers(
      ":type [1 / 0]",
      ":let x = 2 + 1",
      ":vars",
      ":explain x > 2 && x < 3",
      ":let 1x = 2",
    );
    assert.equal(type, "list(int)");
    assert.equal(let_, "x = 3 : int");
    assert.match(vars, /^x: int = 3$/m);
    assert.match(explained, /^x > 2 && x < 3 {2}→ {2}false\n {2}x > 2 {2}→ {2}true/);
    assert.equal(missing, "write :let NAME = EXPR");
  });

  test("loads objects, reviews, maps of variables, and whatever has a name", () => {
    const object = write("pod.json", pod);
    const review = write("review.json", { kind: "AdmissionReview", request: { name: "n", object: pod } });
    const vars = write("vars.json", { a: 1, "b-c": 2 });
    const list = write("list.json", [1]);
    const [loaded, ...more] = answers(
      ...[`:load ${object}`, "object.metadata.name", `:load ${review}`, "request.name", "oldObject == null"],
      ...[`:load ${vars}`, `:load ${list}`, `:load ${list} l`, `:load ${folder}/nix`, ":load"],
    );
    assert.match(loaded ?? "", /^object = \{"apiVersion": "v1"/);
    assert.deepEqual([more[0], more[2], more[3]], ['"web" : dyn, string', '"n" : dyn, string', "true : bool"]);
    assert.equal(more[4], "a = 1");
    assert.match(more[5] ?? "", /holds no object: give it a name/);
    assert.equal(more[6], "l = [1]");
    assert.match(more[7] ?? "", /there is no file/);
    assert.equal(more[8], "write :load FILE, or :load FILE NAME");
  });

  test("changes the environment, and keeps variables", () => {
    const [, , changed, value, unknown] = answers(
      ":let x = 1",
      "x",
      ":environment standard",
      "x + 1",
      ":environment nix",
    );
    assert.equal(changed, "environment standard");
    assert.equal(value, "2 : int");
    assert.match(unknown ?? "", /unknown environment: nix/);
  });

  test("comes back from loops that would not end: by cost, and where none is counted by time", () => {
    const loop = (body: string, depth: number): string =>
      depth === 0 ? body : `l.all(x${depth}, ${loop(body, depth - 1)})`;
    const inputs = [":let l = [1,2,3,4,5,6,7,8,9,10]", loop("true", 9)] as const;
    assert.match(answers(...inputs)[1] ?? "", /cost limit exceeded/);
    let now = 0;
    const timed = session(() => (now += 100));
    timed.answer(":environment standard");
    timed.answer(inputs[0]);
    assert.match(timed.answer(inputs[1]).text, /interrupted|cancelled/);
  });

  test("ends with :quit", () => {
    assert.equal(session().answer(":q").quit, true);
    assert.equal(session().answer("1").quit, undefined);
  });
});

describe("completion", () => {
  const one = session();
  one.answer(`:load ${write("completed.json", { object: pod, list: [{ image: 1 }] })}`);
  for (const [line, expected] of [
    ["obj", ["object"]],
    ["1 + siz", ["size("]],
    ["object.metadata.na", ["name"]],
    ["object.spec.cont", ["containers"]],
    ["object.spec.containers[0].im", ["image"]],
    ["list[0].im", ["image"]],
    ["object.?spec.cont", ["containers"]],
    ["'a'.startsW", ["startsWith("]],
    [":ex", [":explain"]],
    ["nothing_is_called_so", []],
  ] as const)
    test(`of ${line}`, () => {
      assert.deepEqual(one.complete(line)[0], expected);
    });

  test("of functions in a namespace", () => {
    const standard = session();
    standard.answer(":environment standard");
    assert.deepEqual(standard.complete("math.grea")[0], ["greatest("]);
  });

  test("of hostile lines takes no time", () => {
    one.complete(`${"a.".repeat(100_000)}`);
    one.complete(`${"[".repeat(100_000)}`);
  });
});

describe("an input goes on in the next line", () => {
  for (const [source, expected] of [
    ["[1,", true],
    ["f(x)", false],
    ["'(' + \"[\"", false],
    ["r'\\' + '('", false],
    ["'''a", true],
    ["'''a\nb'''", false],
    ["1 // (", false],
    ["(1 // )\n", true],
    ["'unclosed (", false],
    ["]", false],
  ] as const)
    test(`${JSON.stringify(source)}: ${expected}`, () => assert.equal(isUnfinished(source), expected));
});

describe("the history", () => {
  test("stands where states of programs stand, for the user alone, without repetitions and endless growth", () => {
    assert.equal(historyFile({ XDG_STATE_HOME: "/s", HOME: "/h" }), "/s/policy-server/cel-history");
    assert.equal(historyFile({ XDG_STATE_HOME: "relative", HOME: "/h" }), "/h/.local/state/policy-server/cel-history");
    assert.equal(historyFile({}), undefined);
    const file = join(folder, "state", "history");
    assert.equal(addToHistory(file, ["a", "a", "", "x".repeat(5000)]), undefined);
    assert.equal(addToHistory(file, ["b"]), undefined);
    assert.deepEqual(readHistory(file), ["a", "b"]);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    addToHistory(
      file,
      Array.from({ length: 3000 }, (_, index) => String(index)),
    );
    assert.equal(readFileSync(file, "utf8").split("\n").length, 1001);
    assert.match(addToHistory(join(file, "below a file"), ["a"]) ?? "", /ENOTDIR|EEXIST/);
  });
});

describe("cel without an expression", () => {
  async function run(input: string, isTTY: boolean, ...args: readonly string[]) {
    const stdin = Object.assign(Readable.from([input]), { isTTY });
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const [out, err] = [text(stdout), text(stderr)];
    const env = { XDG_STATE_HOME: folder };
    const code = await runCommandLine(["cel", ...args], { env, stdin, stdout, stderr });
    stdout.end();
    stderr.end();
    return { code, out: await out, err: await err };
  }

  test("reads one from standard input where that is no terminal", async () => {
    assert.deepEqual(await run("1 +\n  1\n", false), { code: 0, out: '{"value":{"int":"2"},"type":"int"}\n', err: "" });
    const { code, err } = await run(" \n", false);
    assert.equal(code, 2);
    assert.match(err, /an expression is needed/);
  });

  test("is a prompt on a terminal, until its end, with variables and history", async () => {
    const vars = write("prompt-vars.json", { x: 40 });
    const { code, out } = await run("x + 2\n[1,\n2]\n\n[1\n\n", true, "--vars", vars);
    assert.equal(code, 0);
    assert.match(out, /^cel> 42 : int$/m);
    assert.match(out, /\[1, 2\] : list\(int\)/);
    assert.match(out, /Syntax error/, "an empty line ends what does not end");
    assert.deepEqual(readHistory(join(folder, "policy-server", "cel-history")), ["x + 2", "[1,", "2]", "[1"]);
    await run("forgotten\n", true, "--no-history");
    assert.equal(readHistory(join(folder, "policy-server", "cel-history")).length, 4);
  });
});
