/** Every mistake of test files is said in one run, each with its place, before any case runs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testFolder } from "./support.js";

const { write, run } = testFolder();

test("all mistakes of all files are told, and nothing is run", async () => {
  write("broken.yaml", "a: [\n");
  write("two.yaml", "a: 1\n---\nb: 2\n");
  const first = write(
    "a.test.yaml",
    `polcy: a
module: x.wasm
cases:
  - { objct: {}, expect: alow }
  - object: missing.yaml
    expect: deny
    code: high
    warnings: none
    members: { a: denied }
  - object: broken.yaml
    expect: deny
  - object: two.yaml
    expect: deny
  - { object: { kind: Pod }, expected: deny }
  - { object: { apiVersion: v1, kind: Pod }, operation: PATCH, expect: deny }
  - just text
  - { object: null, expect: allow }
`,
  );
  const second = write("b.test.yaml", "policy: a\ncases: [{ raw: 1, object: {}, expect: deny }]\n");
  const { code, out, err } = await run(first, second);
  assert.deepEqual([code, out], [2, ""]);
  const lines = err.split("\n").map((line) => line.slice(0, 110));
  assert.deepEqual(lines, [
    'a.test.yaml:1:1: polcy: unknown key (did you mean "policy"?)',
    'a.test.yaml:4:7: cases[0].objct: unknown key (did you mean "object"?)',
    "a.test.yaml:4:26: cases[0].expect: expected one of allow, deny, warn, skip, error, refused, loads, found the s",
    "a.test.yaml:4:5: cases[0]: give exactly one of object, csr, request, raw, rawFile",
    'a.test.yaml:7:11: cases[1].code: expected a whole number from 0 to 999, found the string "high"',
    'a.test.yaml:8:15: cases[1].warnings: expected a list, found the string "none"',
    "a.test.yaml:9:19: cases[1].members.a: expected one of allow, deny, error, skip, not evaluated, found the strin",
    "a.test.yaml:5:13: cases[1].object: cannot read missing.yaml",
    "a.test.yaml:12:13: cases[3].object: two.yaml holds 2 documents, expected one",
    "a.test.yaml:14:30: cases[4].expected: unknown key: write expect: allow, deny, skip or error, and message: for ",
    "a.test.yaml:14:15: cases[4].object.apiVersion: is missing",
    "a.test.yaml:15:57: cases[5].operation: unknown operation 'PATCH', expected one of CREATE, UPDATE, DELETE, CONN",
    "a.test.yaml:16:5: cases[6]: expected a map with the keys name, policy, settings, object, old, oldObject, opera",
    "a.test.yaml:17:15: cases[7].object: nothing stands here: expected an object, or the name of a file",
    "broken.yaml:1:4: the [ that stands here is not closed",
    "b.test.yaml:2:9: cases[0]: give exactly one of object, csr, request, raw, rawFile: here are object and raw",
    "Error: 16 mistakes in test files: no case was run",
    "",
  ]);
});

test("an object, and a test file of Kyverno's, are named in place of their keys", async () => {
  const object = write("pod.test.yaml", "apiVersion: v1\nkind: Pod\nmetadata: { name: a }\n");
  const kyverno = write("k.test.yaml", "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nresults: []\n");
  const { code, err } = await run(object, kyverno);
  assert.equal(code, 2);
  assert.match(err, /pod.test.yaml:1:1: expected a map with cases, found a Pod of v1: name this file behind `object:`/);
  assert.match(
    err,
    /k.test.yaml:1:1: .* a Test of cli.kyverno.io\/v1alpha1: .* named kyverno-test.yaml, or by -f NAME/,
  );
  assert.match(err, /2 mistakes in test files/);
});

test("keys of hostile names are keys like others", async () => {
  const file = write(
    "h.test.yaml",
    "policy: a\n__proto__: 1\ncases: [{ raw: { __proto__: 1 }, constructor: 2, expect: deny }]\n",
  );
  const { code, err } = await run(file);
  assert.equal(code, 2);
  assert.match(err, /h.test.yaml:2:1: __proto__: unknown key/);
  assert.match(err, /h.test.yaml:3:34: cases\[0\].constructor: unknown key/);
});
