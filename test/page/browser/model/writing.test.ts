import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PagePolicy } from "../../../../src/page/api.js";
import { kindOfDraft } from "../../../../src/page/browser/model/draft-kind.js";
import { indentedLines } from "../../../../src/page/browser/model/indentation.js";
import { LatestOnly } from "../../../../src/page/browser/model/latest.js";
import { countOf, kindOf, matchesFilter, statesOf } from "../../../../src/page/browser/model/policy-words.js";
import { piecesOf } from "../../../../src/page/browser/model/yaml-pieces.js";

describe("a draft", () => {
  test("says itself what it is", () => {
    const documents = [
      "apiVersion: v1\nkind: X",
      "# words\n---\nkind: X\n",
      '{"apiVersion": "v1"}',
      '\n{\n  "kind": "X"}',
      '"apiVersion": v1',
    ];
    for (const text of documents) assert.equal(kindOfDraft(text), "resource", text);
    const entries = ["", "p:\n  cel: {}", "p:\n  apiVersion: v1", "# apiVersion: v1\np: {}", "kind:\n  cel: {}", "[1"];
    for (const text of entries) assert.equal(kindOfDraft(text), "entry", text);
  });

  test("is indented by two spaces, at the caret or by lines, and back", () => {
    const apply = (text: string, from: number, to: number, back: boolean) => {
      const change = indentedLines(text, from, to, back);
      return text.slice(0, change.from) + change.text + text.slice(change.to);
    };
    assert.equal(apply("ab", 1, 1, false), "a  b");
    assert.equal(apply("a\n\nb\nc", 0, 4, false), "  a\n\n  b\nc");
    assert.equal(apply("  a\n b\nc", 0, 8, true), "a\nb\nc");
    assert.equal(apply("x\n  a", 4, 4, true), "x\na");
    assert.deepEqual(indentedLines("  a", 0, 0, true), { from: 0, to: 3, text: "a", selectionFrom: 0, selectionTo: 0 });
  });

  test("is cut at colours and mistakes, and nothing of it is lost", () => {
    const classes = (line: string) =>
      piecesOf(line, [])
        .filter((piece) => piece.classes !== "")
        .map((piece) => `${piece.text}=${piece.classes}`);
    assert.deepEqual(classes('  - name: "a # b" # c'), ["name=key", '"a # b"=text', "# c=comment"]);
    assert.deepEqual(classes('{"a": [1, true, "x"]}'), ['"a"=key', "1=value", "true=value", '"x"=text']);
    assert.deepEqual(classes("it's a 'word'"), ["'word'=text"]);
    const marked = piecesOf("key: value", [{ from: 1, to: 7, severity: "error" }]);
    assert.equal(marked.map(({ text }) => text).join(""), "key: value");
    assert.deepEqual(
      marked
        .filter(({ classes: names }) => names.includes("mark"))
        .map(({ text }) => text)
        .join(""),
      "ey: va",
    );
    assert.deepEqual(piecesOf("ab", [{ from: 2, to: 2, severity: "warning" }]).at(-1), {
      text: " ",
      classes: "mark warning",
    });
    assert.deepEqual(piecesOf("", []), []);
    const long = `a: "${"x".repeat(100_000)}`;
    assert.deepEqual(piecesOf(long, []), [{ text: long, classes: "" }]);
  });
});

describe("the words for policies", () => {
  const policy = (more: Partial<PagePolicy> = {}): PagePolicy => ({
    id: "web",
    kind: "cel",
    implementation: "ValidatingPolicy",
    mode: "protect",
    allowedToMutate: false,
    ...more,
  });

  test("states are told, the gravest first", () => {
    const words = statesOf(policy({ error: "no file", outdated: "x", mode: "monitor" })).map(({ word }) => word);
    assert.deepEqual(words, ["unavailable", "outdated", "monitor"]);
    assert.deepEqual(statesOf(policy()), []);
    assert.equal(kindOf(policy({ kind: "wasm", implementation: "extism" })), "WASM · extism");
    assert.equal(countOf([policy(), policy({ error: "x" })]), "2 policies, 1 unavailable");
    assert.equal(countOf([policy()]), "1 policy");
  });

  test("a filter finds names, kinds and states, by every word", () => {
    assert.ok(matchesFilter(policy({ mode: "monitor" }), " WEB moni "));
    assert.ok(matchesFilter(policy({ kind: "wasm", implementation: "extism" }), "wasm"));
    assert.ok(!matchesFilter(policy(), "web monitor"));
    assert.ok(matchesFilter(policy(), ""));
  });
});

describe("one question at a time", () => {
  test("a later question ends the former, whose answer is nobody's", async () => {
    const latest = new LatestOnly();
    const release: ((value: string) => void)[] = [];
    const signals: AbortSignal[] = [];
    const ask = () =>
      latest.ask<string>((signal) => {
        signals.push(signal);
        return new Promise((resolve) => release.push(resolve));
      });
    const [first, second] = [ask(), ask()];
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [true, false],
    );
    release[1]?.("second");
    release[0]?.("first");
    assert.deepEqual(await Promise.all([first, second]), [undefined, "second"]);
  });

  test("a failure is told of the last question alone", async () => {
    const latest = new LatestOnly();
    const first = latest.ask(() => Promise.reject(new Error("ended")));
    latest.cancel();
    assert.equal(await first, undefined);
    await assert.rejects(
      latest.ask(() => Promise.reject(new Error("gone"))),
      /gone/,
    );
  });
});
