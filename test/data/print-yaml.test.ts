import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { inlineYaml, printGoYaml, printYaml, yamlName } from "../../src/data/print-yaml.js";
import { parseYamlDocuments } from "../../src/data/yaml.js";

const PRINTERS = { printYaml, printGoYaml };
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  "Kubernetes' reader": (text) => parseYamlDocuments(text)[0],
  "YAML 1.2": (text) => parse(text) as unknown,
  "YAML 1.1": (text) => parse(text, { version: "1.1" }) as unknown,
};

/** Texts that some reader takes for something else, by why (https://yaml.org/type/, and what YAML may not hold). */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  booleans: "y Y n N yes Yes YES no No NO on On ON off Off OFF true True FALSE".split(" "),
  nothing: ["", "~", "null", "Null", "NULL"],
  "keys with a meaning": ["<<", "="],
  numbers: "1 -1 +1 1_000 0777 0o7 0x1F 0b101 1:30 -190:20:30 1:02.5 1e3 1.5e-3 1e400 .5 5. .inf -.INF .nan ._1".split(
    " ",
  ),
  times: ["2001-12-14", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5", "2001-12-14T21:59:43Z"],
  blanks: [" a", "a ", "\ta", "a\t", " ", "\n", " \n ", "a\n \n", "a \nb", "\n\na", "\n  a", "\ta\nb", "a\n\tb\n"],
  "ends of lines": ["a\r\nb", "a\rb", "a\u0085b", "a\u2028b", "a\u2029b", "a\n", "a\n\n", "a\n---\nb", "---\na"],
  "control characters": [
    "\u0000",
    "\u0007",
    "\u001b[2K",
    "\u007f",
    "\u0080",
    "\u009b1A",
    "\ufeffa",
    "\ufffe",
    "\uffff",
  ],
  directions: ["\u202egnp", "\u2066a\u2069", "\u200ea", "\u061ca"],
  marks: [
    "- a",
    "? a",
    "a: b",
    "a:",
    "a #b",
    "#a",
    "&a",
    "*a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a",
    "[a",
    "{a",
    "'a'",
    '"a"',
    "a'b\"c",
  ],
  lengths: ["word ".repeat(200), "a".repeat(5_000), "\u0001".repeat(400), "é".repeat(1_025)],
};

for (const [printer, print] of Object.entries(PRINTERS)) {
  describe(`what ${printer} prints is read as what it is, as a key and as a value: `, () => {
    for (const [why, texts] of Object.entries(TEXTS)) {
      test(why, () => {
        for (const text of texts) {
          const document = { [text]: text, in: [{ [text]: [text] }] };
          for (const [reader, read] of Object.entries(READERS))
            assert.deepEqual(read(print(document)), document, `${reader}: ${JSON.stringify(text)}: ${print(document)}`);
        }
      });
    }

    test("halves of characters, which can't be written, are replaced", () => {
      assert.deepEqual(parseYamlDocuments(print({ "a\ud800": "\udfffb" })), [{ "a\ufffd": "\ufffdb" }]);
    });

    test("an object that stands in two places is written in both", () => {
      const shared = { a: [1] };
      const text = print({ x: shared, y: [shared, shared.a] });
      assert.doesNotMatch(text, /[&*]/);
      assert.deepEqual(parseYamlDocuments(text), [{ x: shared, y: [shared, shared.a] }]);
    });

    test("nothing stands in it that a terminal obeys", () => {
      for (const text of Object.values(TEXTS).flat())
        assert.doesNotMatch(
          print({ [text]: text }).replace(/[\n\t]/g, ""),
          /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/u,
        );
    });
  });
}

test("a text or a name within what is written by hand is read as what it is", () => {
  for (const text of Object.values(TEXTS).flat()) {
    if (text.length > 100) continue;
    const written = `? ${yamlName(text)}\n: { in: ${inlineYaml(text)}, as: ${inlineYaml([text])} }\nlist:\n  - ${yamlName(text)}\n`;
    for (const [reader, read] of Object.entries(READERS))
      assert.deepEqual(read(written), { [text]: { in: text, as: [text] }, list: [text] }, `${reader}: ${written}`);
  }
});

test("an ordinary document has no quotes but where they are needed, lists below their keys, and lines as they are", () => {
  assert.equal(
    printYaml({
      apiVersion: "v1",
      metadata: {
        name: "web-1",
        labels: { "app.kubernetes.io/name": "web", count: "1" },
        annotations: {},
        gone: undefined,
      },
      spec: {
        expression: 'object.spec.x == "a" && true',
        message: 'it\'s "quoted": see #1',
        said: 'name: "web"',
        script: "first\n  second\n",
        end: "one\ntwo",
        rules: [{ groups: [""], paths: ["/a b", "10.0.0.1", "*"] }, []],
        number: 1.5,
        large: 9007199254740993n,
        far: 1e21,
        none: null,
      },
    }),
    `apiVersion: v1
metadata:
  name: web-1
  labels:
    app.kubernetes.io/name: web
    count: "1"
  annotations: {}
spec:
  expression: object.spec.x == "a" && true
  message: "it's \\"quoted\\": see #1"
  said: 'name: "web"'
  script: |
    first
      second
  end: |-
    one
    two
  rules:
    - groups:
        - ""
      paths:
        - /a b
        - 10.0.0.1
        - "*"
    - []
  number: 1.5
  large: 9007199254740993
  far: 1.0e+21
  none: null
`,
  );
});

test("nothing else in the product prints YAML", () => {
  const root = new URL("../../../src/", import.meta.url);
  const files = readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".ts"));
  const printing = files.filter((name) =>
    /yamlLibrary\(\)\.(?!parse)|\{[^}]*(?:stringify|Document)[^}]*\} = yamlLibrary|from "yaml"/.test(
      readFileSync(new URL(name, root), "utf8"),
    ),
  );
  assert.deepEqual(printing, []);
});
