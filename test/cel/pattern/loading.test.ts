import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { createEnvironment } from "../../../src/cel/index.js";
import { compilePattern, Pattern, PatternCache } from "../../../src/cel/pattern/pattern.js";
import { CelError } from "../../../src/cel/values/cel-error.js";

const { cache } = createRequire(import.meta.url);
const isLoaded = (): boolean => Object.keys(cache).some((file) => file.includes("/re2js/"));

/** Forgets that the library was loaded. */
function unload(): void {
  for (const file of Object.keys(cache)) if (file.includes("/re2js/")) delete cache[file];
}

describe("the library of patterns", () => {
  test("is loaded when a program is compiled that will need it, and for no other", () => {
    const environment = createEnvironment({ flavour: "standard" });
    const loads = (source: string): boolean => {
      unload();
      const { program } = environment.compile(source) as { program?: unknown };
      assert.ok(program !== undefined, source);
      return isLoaded();
    };
    assert.equal(loads("'a'.contains(string(1)) && 'b'.startsWith('c')"), false);
    assert.equal(loads("'a'.matches(string(1))"), true);
    assert.equal(loads("regex.extract('a', 'a') == optional.none()"), true);
    assert.equal(loads("['a'].all(p, 'a'.matches(p))"), true);
  });

  test("is an error of the expression where it can't be loaded, and tried again by the next", () => {
    let fails = true;
    const load = () => {
      if (fails) throw new Error("EMFILE: too many open files, open '/srv/re2js'");
      return createRequire(import.meta.url)("re2js");
    };
    const patterns = new PatternCache(load);
    for (const found of [compilePattern("a", undefined, load), patterns.get("a")]) {
      assert.ok(found instanceof CelError);
      assert.equal(found.message, "regular expressions could not be loaded");
    }
    fails = false;
    const pattern = patterns.get("a");
    assert.ok(pattern instanceof Pattern);
    assert.equal(pattern.test("cab"), true);
  });
});
