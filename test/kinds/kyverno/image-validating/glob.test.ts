/** Globs over images match what gobwas/glob matches, in time that grows with their length. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { globMatcher, LONGEST_GLOB, LONGEST_MATCHED } from "../../../../src/kinds/kyverno/image-validating/glob.js";

const matcher = (glob: string): ((image: string) => boolean) => {
  const made = globMatcher(glob);
  assert.ok(typeof made === "function", JSON.stringify(made));
  return made;
};

describe("a glob", () => {
  test("matches what the reference's matches, and is refused with its words", () => {
    const file = new URL("../../../../../test/fixtures/image-policies/globs.jsonl", import.meta.url);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    for (const line of lines) {
      const { glob, error, yes = [], no = [] } = JSON.parse(line);
      if (error !== undefined) assert.deepEqual(globMatcher(glob), { error }, glob);
      for (const text of yes) assert.ok(matcher(glob)(text), `${glob} ${text}`);
      for (const text of no) assert.ok(!matcher(glob)(text), `${glob} ${text}`);
    }
    assert.ok(lines.length >= 200);
  });

  test("may have stars and empty texts in braces, and any characters", () => {
    assert.ok(matcher("{*,b}/app")("ghcr.io/app"));
    assert.ok(matcher("ghcr.io/app{,:*}")("ghcr.io/app"));
    assert.ok(matcher("ghcr.io/app{,:*}")("ghcr.io/app:1"));
    assert.ok(!matcher("ghcr.io/app{,:*}")("ghcr.io/apps"));
    assert.ok(matcher("?/é")("😀/é"));
    assert.ok(!matcher("?")(""));
  });

  test("takes characters of regular expressions as they are", () => {
    assert.ok(!matcher("ghcr.io/a.b+(c)|$^")("ghcr-io/aXb"));
    assert.ok(matcher("ghcr.io/a.b+(c)|$^")("ghcr.io/a.b+(c)|$^"));
    assert.ok(matcher("*")("a\nb"));
  });

  test("takes no time that grows faster than the image and the glob", () => {
    const hostile = matcher(`${"*a".repeat(LONGEST_GLOB / 2 - 1)}b`);
    const before = process.cpuUsage();
    assert.ok(!hostile("a".repeat(LONGEST_MATCHED)));
    assert.ok(process.cpuUsage(before).user < 1_000_000);
  });

  test("has a greatest length; an image that is longer than any counts as matching, and fails where it is read", () => {
    assert.match(JSON.stringify(globMatcher("a".repeat(LONGEST_GLOB + 1))), /longer than 1000 characters/);
    assert.ok(matcher("b")("a".repeat(LONGEST_MATCHED + 1)));
    assert.ok(!matcher("b")("a".repeat(LONGEST_MATCHED)));
  });
});
