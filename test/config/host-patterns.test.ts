import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HostPatternError, parseHostPatterns } from "../../src/config/host-patterns.js";

const allows = (pattern: string, host: string) => parseHostPatterns([pattern]).allows(host);

describe("patterns for hosts", () => {
  // Each as minimatch has it, which Extism's SDK for JavaScript asks.
  const CASES: readonly [pattern: string, yes: readonly string[], no: readonly string[]][] = [
    ["api.example.com", ["api.example.com"], ["example.com", "xapi.example.com", "api.example.com.evil.test"]],
    ["API.Example.com", ["api.example.com"], []],
    ["*", ["example.com", "localhost", "10.0.0.1", "[::1]"], [""]],
    ["*.example.com", ["a.example.com", "a.b.example.com"], ["example.com", ".example.com", "aexample.com"]],
    ["api-?.example.com", ["api-1.example.com"], ["api-.example.com", "api-12.example.com"]],
    ["api-[a-c1].test", ["api-b.test", "api-1.test"], ["api-d.test", "api-.test"]],
    ["api-[!a-c].test", ["api-d.test"], ["api-a.test"]],
    ["api-[^a-c].test", ["api-d.test"], ["api-a.test"]],
    ["{a,b*}.{x,y}.test", ["a.x.test", "b1.y.test"], ["a.z.test", "c.x.test"]],
    ["{a,{b,c}}.test", ["a.test", "b.test", "c.test"], ["d.test"]],
    ["10.0.*.1", ["10.0.7.1"], ["10.1.7.1"]],
    ["a*b*c", ["abc", "axbxc", "abcbc"], ["acb", "abcx"]],
    ["[::1]", ["[::1]"], [":", "1"]],
  ];
  for (const [pattern, yes, no] of CASES)
    test(pattern, () => {
      for (const host of yes) assert.ok(allows(pattern, host), host);
      for (const host of no) assert.ok(!allows(pattern, host), host);
    });

  test("of several, one that matches is enough; none match nothing", () => {
    const patterns = parseHostPatterns(["a.test", "b.*"]);
    assert.deepEqual(
      ["a.test", "b.test", "c.test"].map((host) => patterns.allows(host)),
      [true, true, false],
    );
    assert.ok(!parseHostPatterns([]).allows("a.test"));
  });

  test("that can match no host are refused with what to write", () => {
    const wrong: Readonly<Record<string, RegExp>> = {
      "": /^must not be empty/,
      "https://example.com": /leave out the scheme and the path/,
      "example.com/path": /leave out the scheme and the path/,
      "example.com:443": /leave out the port/,
      "::1": /leave out the port \(an IPv6 address stands in brackets\)/,
      "!example.com": /it may hold/,
      "+(a|b).test": /it may hold/,
      "[a.test": /is not closed/,
      "{a.test": /must hold choices/,
      "{a}.test": /must hold choices/,
      "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}": /more than 64 patterns/,
      ["a".repeat(1025)]: /longer than 1024/,
    };
    for (const [pattern, words] of Object.entries(wrong))
      assert.throws(
        () => parseHostPatterns([pattern]),
        (error) => error instanceof HostPatternError && words.test(error.message),
        pattern,
      );
  });

  test("take no longer than the product of pattern and name", () => {
    let asked = 0;
    const name = { length: 253, startsWith: () => false } as unknown as string;
    const host = new Proxy(Object(name), {
      get(target, key) {
        if (/^\d+$/.test(String(key))) {
          asked++;
          return "a";
        }
        return Reflect.get(target, key);
      },
    }) as string;
    assert.ok(!allows(`${"*a".repeat(100)}b`, host));
    assert.ok(asked < 253 * 300, `${asked}`);
  });
});
