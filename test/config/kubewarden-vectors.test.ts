import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { formatProblem } from "../../src/config/documents/problem.js";
import { parseConfig } from "../../src/config/load-config.js";

/** A configuration, and what the reference server made of it. */
interface Recorded {
  readonly name: string;
  readonly policiesYaml: string;
  readonly flags: readonly string[];
  readonly started: boolean;
  readonly startupError: string | null;
}

const file = new URL("../../../test/vectors/kubewarden/config.jsonl", import.meta.url);
const recorded = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded);

/** Started there, refused here on purpose (docs/differences.md, docs/configuration.md). */
const STRICTER: Readonly<Record<string, RegExp>> = {
  "file-duplicate": /^conf\.yml:3:1: p: duplicate key/,
  "policy-both": /^conf\.yml:2:3: p: has module and expression and policies, but a policy is exactly one of/,
  "policy-unknown-field": /^conf\.yml:3:3: p\.zzz: unknown key/,
};
/** Refused there by the shape of the file, right here. */
const MORE_ALLOWED = new Set(["member-nested-group"]);
/** Texts of the reference that are about the shape of the file; other failures come from modules, which aren't read here. */
const SHAPE = /^Error: error while loading policies from|execution deadline exceeded$/;

describe("configurations recorded from Kubewarden's server", () => {
  for (const { name, policiesYaml, started, startupError } of recorded) {
    const result = parseConfig(policiesYaml, "conf.yml");
    const errors = result.problems.filter(({ severity }) => severity === "error").map(formatProblem);
    const stricter = STRICTER[name];
    if (stricter !== undefined) {
      test(`${name}: is refused, with the place`, () => {
        assert.ok(started);
        assert.match(errors.join("\n"), stricter);
      });
    } else if (startupError !== null && SHAPE.test(startupError) && !MORE_ALLOWED.has(name)) {
      test(`${name}: is refused as there`, () => {
        assert.notDeepEqual(errors, []);
        if (!result.ok) assert.match(result.message, /^error while loading policies from "conf\.yml": /);
      });
    } else {
      test(`${name}: has the right shape`, () => assert.deepEqual(errors, []));
    }
  }

  test("entries written twice by anchor and alias are equal members", () => {
    const { policiesYaml } = recorded.find(({ name }) => name === "expr-parens")!;
    const result = parseConfig(policiesYaml, "conf.yml");
    assert.ok(result.ok);
    const [group] = result.config.entries;
    assert.ok(group?.kind === "group");
    const modules = group.members.map(({ policy }) => (policy.kind === "module" ? policy.module.text : ""));
    assert.deepEqual(modules, ["file://wasm/happy.wasm", "file://wasm/unhappy.wasm", "file://wasm/happy.wasm"]);
  });
});
