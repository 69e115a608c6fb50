/** What the libraries don't take though the reference does fails a request whatever its policy ignores: its code tells it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { MapValue, type Value } from "../../../../src/cel/index.js";
import { MOST_COMPRESSED, MOST_DECOMPRESSED } from "../../../../src/kinds/kyverno/libraries/gzip.js";
import { LONGEST_REFERENCE } from "../../../../src/kinds/kyverno/libraries/image-reference.js";
import { LONGEST_TEXT, MOST_VALUES } from "../../../../src/kinds/kyverno/libraries/json.js";
import { LONGEST_PATTERN } from "../../../../src/kinds/kyverno/libraries/random.js";
import { MOST_PAIRS } from "../../../../src/kinds/kyverno/libraries/transform.js";
import { LONGEST_PEM } from "../../../../src/kinds/kyverno/libraries/x509.js";
import { LONGEST_YAML, MOST_YAML_VALUES } from "../../../../src/kinds/kyverno/libraries/yaml.js";
import { errorCodeOf, resultOf } from "../evaluated.js";

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

/** A map that is none of JSON's, of so many keys. */
function mapOf(size: number): MapValue {
  const map = new MapValue();
  for (let i = 0; i < size; i++) map.set(`k${i}`, "v");
  return map;
}

const LIMITS: readonly (readonly [what: string, source: string, object: Value])[] = [
  ["a text to compress", "gzip.compress(object)", "x".repeat(MOST_COMPRESSED + 1)],
  [
    "a text that was compressed",
    "gzip.decompress(object)",
    new Uint8Array(gzipSync(Buffer.alloc(MOST_DECOMPRESSED + 1))),
  ],
  ["a text of long characters to compress", "gzip.compress(object)", "\u4e00".repeat(MOST_COMPRESSED / 3 + 1)],
  ["a text of JSON", "json.unmarshal(object)", " ".repeat(LONGEST_TEXT + 1)],
  ["the values of JSON", "json.unmarshal(object)", `[${"1,".repeat(MOST_VALUES)}1]`],
  ["the depth of JSON", "json.unmarshal(object)", nested(501)],
  ["the depth of JSON that Go takes", "json.unmarshal(object)", nested(10_000)],
  ["the values to become JSON", "json.marshal(object)", Array(300_000).fill(0)],
  ["the characters to become JSON", "json.marshal([object, object, object])", "x".repeat(3_000_000)],
  ["the keys to become JSON", "json.marshal(object)", mapOf(200_000)],
  ["a text of YAML", "yaml.parse(object)", "a".repeat(LONGEST_YAML + 1)],
  ["the values of YAML", "yaml.parse(object)", `[${"a,".repeat(MOST_YAML_VALUES)}a]`],
  ["the depth of YAML", "yaml.parse(object)", nested(502)],
  ["the depth of YAML by aliases", "yaml.parse(object)", `- &a ${nested(300)}\n- ${nested(300).replace("[]", "[*a]")}`],
  ["the values of YAML by aliases", "yaml.parse(object)", `a: &a [${"1,".repeat(1_000)}]\nb: [${"*a,".repeat(30)}]`],
  ["an image reference", "image(object)", `a.${"b".repeat(LONGEST_REFERENCE)}/xx`],
  ["an image reference by its new name", "parseImageReference(object)", `a.${"b".repeat(LONGEST_REFERENCE)}/xx`],
  ["a text that may be one", "isImage(object)", `a.${"b".repeat(LONGEST_REFERENCE)}/xx`],
  ["a pattern", "random(object)", "a".repeat(LONGEST_PATTERN + 1)],
  ["the text of a pattern", "random(object)", "((a*)b*)*"],
  ["pairs", "listObjToMap(object, object, 'k', 'v')", Array(MOST_PAIRS + 1).fill({ k: "a", v: 1 })],
  ["the keys of pairs", "listObjToMap(object, object, 'k0', 'k1')", Array.from({ length: 15 }, () => mapOf(100_000))],
  ["a certificate", "x509.decode(object)", "x".repeat(LONGEST_PEM + 1)],
];

describe("what is beyond a limit is no error of the policy's own", () => {
  for (const [what, source, object] of LIMITS) {
    test(what, () => assert.equal(errorCodeOf(source, { object }), "too-large"));
  }
});

describe("what the reference refuses, too, is", () => {
  for (const [what, source, object] of [
    ["JSON deeper than Go reads", "json.unmarshal(object)", nested(10_001)],
    ["a number that no double holds", "json.unmarshal(object)", "1e400"],
    ["YAML that contains itself", "yaml.parse(object)", "a: &a [*a]"],
    ["octets that are no gzip", "gzip.decompress(object)", new Uint8Array(20)],
  ] as const) {
    test(what, () => assert.equal(errorCodeOf(source, { object }), "conversion"));
  }
});

describe("what is just within a limit takes no longer than a few expressions may", () => {
  // Numbers in a row that looks like chance: packing such texts takes longest.
  let seed = 9;
  const digit = (): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (seed >> 16) & 1;
  };
  const digits = Array.from({ length: MOST_COMPRESSED }, digit).join("");
  const keys = Array.from({ length: MOST_VALUES / 2 - 1 }, (_, index) => `"k${index}":1`).join(",");
  for (const [what, source, object] of [
    ["a text to compress", "gzip.compress(object).size()", digits],
    ["keys of JSON", "json.unmarshal(object).size()", `{${keys}}`],
    ["numbers of JSON", "json.unmarshal(object).size()", `[${"1.5e3,".repeat(MOST_VALUES - 2)}1]`],
    ["a list of YAML", "yaml.parse(object).size()", `[${"a,".repeat(MOST_YAML_VALUES - 4)}a]`],
  ] as const) {
    test(what, () => {
      const took = Array.from({ length: 4 }, () => {
        const before = process.cpuUsage();
        assert.equal(errorCodeOf(source, { object }), undefined);
        return process.cpuUsage(before).user / 1_000;
      });
      assert.ok(Math.min(...took) < 120, `${took} ms`);
    });
  }
});

test("an object that is in a list many times is looked at once", () => {
  const object = Array(20_000).fill(mapOf(10_000));
  const before = process.cpuUsage();
  assert.deepEqual(resultOf("listObjToMap(object, object, 'k0', 'k1')", { bindings: { object } }), { v: "v" });
  // Otherwise it takes half a minute.
  assert.ok(process.cpuUsage(before).user < 3_000_000);
});
