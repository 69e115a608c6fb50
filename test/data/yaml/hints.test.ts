import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseSuspectYaml, parseYamlDocuments, YamlError } from "../../../src/data/yaml.js";

/** The error of a text, as it is shown. */
function errorOf(text: string): string {
  try {
    parseYamlDocuments(text);
  } catch (error) {
    assert.ok(error instanceof YamlError);
    return error.message;
  }
  return assert.fail(`${text} is YAML`);
}

function warningsOf(text: string): readonly string[] {
  const warnings: string[] = [];
  parseSuspectYaml(text, ({ line, column, reason }) => warnings.push(`${line}:${column}: ${reason}`));
  return warnings;
}

describe("a text that begins with a tag", () => {
  const tagged: readonly (readonly [string, string, string])[] = [
    ["a: !has(object.x)", "1:4", '"!has(object.x)"'],
    ["a: !object.x == 1", "1:4", '"!object.x == 1"'],
    ["a: ! has(object.x)", "1:4", '"! has(object.x)"'],
    ["a: !!has(object.x)", "1:4", '"!!has(object.x)"'],
    ["- !x", "1:3", '"!x"'],
    ["{ a: !x 1 }", "1:6", '"!x 1"'],
    ["!x a: 1", "1:1", '"!x a"'],
    ["a: !m['b'] == 1", "1:4", "\"!m['b'] == 1\""],
  ];
  for (const [text, place, meant] of tagged) {
    const reason = `what begins with ! is a YAML tag, which is dropped: put the text into quotes, ${meant}`;
    test(`${text} is a warning where Kubernetes' reading counts, and an error where it does not`, () => {
      assert.deepEqual(warningsOf(text), [`${place}: ${reason}`]);
      assert.throws(() => parseYamlDocuments(text, { uniqueKeys: true }), { reason });
    });
  }

  for (const text of [
    'a: "!x"',
    "a: ! 'b'",
    "a: !!str 1",
    "a: !!int 1",
    "a: x != 1",
    "a: !!binary aGVsbG8=",
    "a: !<tag:yaml.org,2002:str> 1",
  ]) {
    test(`${text} is none`, () => {
      assert.deepEqual(warningsOf(text), []);
      parseYamlDocuments(text, { uniqueKeys: true });
    });
  }

  test("is told once, however many aliases there are of it", () => {
    assert.equal(warningsOf("a: &x !y z\nb: [*x, *x]").length, 1);
  });
});

describe("an error says what to do about a common mistake", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["a: !x || y", /YAML tag: put the text into quotes/],
    ["a: !x && y", /YAML tag: put the text into quotes/],
    ['- a: !x.startsWith("b")', /YAML tag: put the text into quotes/],
    ["a: *x == 1", /is an alias/],
    ["{ a: *x }", /is an alias/],
    ["a: b: c", /has a colon and a space/],
    ["- a: x == 'b: c'", /has a colon and a space/],
    ["a: 'it's'", /ends at its second quote/],
    ['a: "b" in c', /ends at its second quote/],
    ["a: [1, 2].all(x, x > 0)", /the list or map ends at its bracket/],
    ["- a: {'b': 1}.b == 1", /the list or map ends at its bracket/],
    ['- a: "\\d+"', /use single quotes, or write \\\\d/],
    ["a: |\nb c\nd: e", /indent the text deeper than the key of its \|/],
    ["a:\n  - b: >-\n    c d\n    e: f", /indent the text deeper than the key of its >-/],
    ["a\n  b: c", /the line above has no colon/],
    ["a: b\n  c: d", /indented deeper than the one above it/],
    ["\ta: b", /indented with spaces only/],
    ["{{- if .Values.x }}\na: b\n{{- end }}", /Helm template/],
    ["a: {{ .Release.Name }}-b", /Helm template/],
    ['a:\n{{ include "x" . | indent 2 }}\nb: c', /Helm template/],
    ["a: {{ x }}", /\{\{ begins a template/],
  ];
  for (const [text, said] of cases) test(text, () => assert.match(errorOf(text), said));

  test("and nothing of indentation below an item whose keys are indented alike", () => {
    for (const text of ["- a: b\n  c: @d", "- a: b\n  c: `d`", "-   a: b\n    c: %d"])
      assert.match(errorOf(text), /can't begin a value: write it in quotes at line 2 column \d+$/);
  });

  test("and nothing of templates where braces are elsewhere", () => {
    assert.doesNotMatch(errorOf('a: "{{ request.object.kind }}"\nb: *x'), /template/);
  });
});

test("a template of a chart that is YAML all the same has a warning, and other braces have none", () => {
  assert.deepEqual(warningsOf('a: "{{ .Values.image }}"\nb: x-{{- .Release.Name }}'), [
    "1:5: this is a Helm template: render it with `helm template` first",
  ]);
  assert.deepEqual(warningsOf('a: "{{ request.object.Values }} {{ $labels.x }} {{workflow.name}}"'), []);
});
