import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { MAX_FILE_BYTES } from "../../src/config/config-files.js";
import { MAX_ALIASED_VALUES, MAX_DEPTH } from "../../src/config/documents/node-builder.js";
import { MAX_GROUP_DEPTH, MAX_POLICIES } from "../../src/config/entry-reader.js";
import { loadConfig, parseConfig } from "../../src/config/load-config.js";
import { folder, problems } from "./helpers.js";

describe("files that can't be used at all", () => {
  const cases: Record<string, [text: string, expected: RegExp]> = {
    "a list": ["- a\n- b\n", /^p\.yaml:1:1: expected a map from policy name to policy, found a list/],
    nothing: ["", /^p\.yaml:1:1: expected a map from policy name to policy, found nothing/],
    "broken YAML": ["a: [1,", /^p\.yaml:1:4: the \[ that stands here is not closed/],
    "two documents": [
      "a: {module: ./x}\n---\nb: {module: ./x}\n",
      /^p\.yaml:3:1: a configuration file holds one document/,
    ],
    "a document behind the end of one": [
      "a: {module: ./x}\n...\nb: {module: ./x}\n",
      /^p\.yaml:3:1: a configuration file holds one document/,
    ],
    "a tag that asks for something else": ["a: !!int x", /^p\.yaml:1:10: (a: )?this is no !!int/],
    "an alias without anchor": ["a: *x", /^p\.yaml:1:4: unknown alias \*x/],
  };
  for (const [name, [text, expected]] of Object.entries(cases)) {
    test(name, () => assert.match(problems(text).join("\n"), expected));
  }

  test("the message is Kubewarden's with the place in it", () => {
    const result = parseConfig("[]", "run/conf.yml");
    assert.ok(!result.ok);
    assert.match(
      result.message,
      /^error while loading policies from "run\/conf\.yml": run\/conf\.yml:1:1: expected a map/,
    );
  });

  test("a file that is missing, a folder, too large or no text is said to be so", (context) => {
    const root = folder(context, { "large.yaml": " ".repeat(MAX_FILE_BYTES + 1) });
    mkdirSync(join(root, "dir"));
    const message = (name: string) => {
      const result = loadConfig(join(root, name));
      return result.ok ? "" : result.message;
    };
    assert.match(message("none.yaml"), /does not exist/);
    assert.match(message("dir"), /is a folder/);
    assert.match(message("large.yaml"), /is too large/);
    const device = loadConfig("/dev/null");
    assert.match(device.ok ? "" : device.message, /is not a regular file/);
  });
});

describe("hostile files end in an error, soon", () => {
  test("deep nesting, flow and block", () => {
    for (const text of ["[".repeat(100_000), `a: ${"{a: ".repeat(10_000)}`, "- ".repeat(50_000)]) {
      assert.match(problems(text).join(), new RegExp(`nested deeper than ${MAX_DEPTH} levels`));
    }
  });

  test("alias bombs and aliases to themselves", () => {
    const bomb = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"];
    for (let i = 1; i < 12; i++) bomb.push(`a${i}: &a${i} [${`*a${i - 1},`.repeat(9)}]`);
    assert.match(problems(bomb.join("\n")).join(), new RegExp(`more than ${MAX_ALIASED_VALUES} values`));
    assert.match(
      problems("a: &a {module: ./x, settings: *a}").join(),
      new RegExp(`nested deeper than ${MAX_DEPTH} levels`),
    );
  });

  test("many aliases of small things are taken in time that grows with their number", () => {
    const text = `base: &m {module: ./x.wasm}\n${Array.from({ length: 5000 }, (_, i) => `p${i}: *m`).join("\n")}`;
    const result = parseConfig(text, "p.yaml");
    assert.ok(result.ok);
    assert.equal(result.config.entries.length, 5001);
  });

  test("too many policies, and groups nested too deeply", () => {
    const many = `x: &m {module: ./x.wasm}\n${Array.from({ length: MAX_POLICIES }, (_, i) => `p${i}: *m`).join("\n")}`;
    assert.match(problems(many).join(), /more than 10000 policies/);
    let nested = "{module: ./x.wasm}";
    for (let i = 0; i <= MAX_GROUP_DEPTH + 1; i++) nested = `{expression: a(), message: m, policies: {a: ${nested}}}`;
    assert.match(problems(`g: ${nested}`).join(), /groups nested deeper than 16 levels/);
  });

  test("keys of Object.prototype are keys like any other", () => {
    assert.match(problems("constructor: {module: ./x.wasm, toString: 1}").join(), /constructor\.toString: unknown key/);
    assert.match(problems("__proto__: {module: 1}").join(), /__proto__\.module: expected/);
  });

  test("mutated files are read or refused, never thrown at", () => {
    const text = `p: &a {module: ./x.wasm, settings: {a: [1, 1.0, 0x1f, "x\\u0041"], b: !!str 5}}
q: *a
g:
  expression: >-
    a() &&
    b()
  message: 'it''s'
  policies: {a: {policy: q}, b: {cel: {validations: [{expression: "object.x == 1"}]}}}
`;
    const pieces =
      "*a|&a |- |? |: |{|}|[|]|\t|\n|\"|'|#|!!binary x|%YAML 1.1\n|---\n|...\n|\0|\ufeff|<<: *a|null|1e999|.inf|__proto__: 1|".split(
        "|",
      );
    let state = 7;
    const random = (below: number) => {
      state = (state * 1103515245 + 12345) & 0x7fffffff;
      return (state >> 8) % below;
    };
    for (let round = 0; round < 500; round++) {
      let mutated = text;
      for (let changes = random(6) + 1; changes > 0; changes--) {
        const at = random(mutated.length);
        mutated = mutated.slice(0, at) + pieces[random(pieces.length)] + mutated.slice(at + random(4));
      }
      const result = parseConfig(mutated, "p.yaml");
      if (!result.ok) assert.ok(result.problems.length > 0, mutated);
      else for (const entry of result.config.entries) assert.ok(entry.kind !== "invalid" || entry.problems.length > 0);
    }
  });
});
