import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readJsonParts } from "../../src/data/json-parts.js";
import { scanJson, type WantedCuts } from "../../src/data/json-scan.js";

const WANTED: WantedCuts = {
  member: "request",
  inner: ["object", "oldObject"],
  mayRepeat: true,
  part: ["metadata", "managedFields"],
};
const LATER = new Set(["object", "oldObject"]);
const partsOf = (bytes: Buffer, later = LATER, least = 0) => {
  const scan = scanJson(bytes, 0, WANTED);
  return scan && readJsonParts(bytes, scan, WANTED, later, least);
};
const parts = (text: string, later = LATER) => partsOf(Buffer.from(text), later);
/** Longer than what is read at once. */
const LONG = JSON.stringify([{ manager: "kubectl", fieldsV1: { "f:spec": "x".repeat(600) } }]);

describe("a document is read in parts", () => {
  test("without what is read later, which stands where it stood", () => {
    const text = '{"request":{"uid":"ä","object":{"a":[1,"→"]},"oldObject":[{"b":2}],"dryRun":false},"kind":"K"}';
    const read = parts(text);
    assert.deepEqual(read?.value, { request: { uid: "ä", object: {}, oldObject: {}, dryRun: false }, kind: "K" });
    assert.deepEqual(
      read.cuts.map((cut) => read.read(cut)),
      [{ a: [1, "→"] }, [{ b: 2 }]],
    );
  });

  test("and what is read later may be read without its longest part, which is made when it is asked for", () => {
    for (const members of [
      `"name":"x","managedFields":${LONG},"z":{"managedFields":1}`,
      `"managedFields":${LONG},"z":1`,
      `"name":"x","managedFields":${LONG}`,
      `"managedFields":${LONG}`,
      String.raw`"a,\"managedFields":{},"managedFields":${LONG}`,
    ]) {
      const object = `{"kind":"Pod","metadata":{${members}},"spec":{"managedFields":[2]}}`;
      const read = parts(`{"request":{"object":${object}}}`);
      const [cut] = read?.cuts ?? [];
      assert.ok(read && cut?.part);
      const made = read.read(cut);
      assert.equal(JSON.stringify(made), object);
      assert.deepEqual(read.read(cut), JSON.parse(object));
      assert.deepEqual(structuredClone(read.read(cut)), JSON.parse(object));
      const { metadata } = read.read(cut) as { metadata: { managedFields: unknown } };
      assert.equal(metadata.managedFields, metadata.managedFields);
    }
  });

  test("however it is written", () => {
    for (const members of [
      `"name":"x" , "managedFields" : ${LONG} `,
      `"name":"x","managedFields":${LONG} `,
      `"name":"x", "managedFields":${LONG}`,
      String.raw`"a\"managedFields":${LONG},"managedFields":${LONG}`,
      String.raw`"managed\u0046ields":${LONG}`,
    ]) {
      const object = `{"metadata":{${members}}}`;
      const read = parts(`{"request":{"object":${object}}}`);
      // A key with an escape that may be written otherwise is read as a whole.
      const [cut] = read?.cuts ?? [];
      if (read && cut) assert.deepEqual(structuredClone(read.read(cut)), JSON.parse(object));
      assert.equal(cut === undefined, members.includes("u0046"));
    }
  });

  test("a part of this name elsewhere is none", () => {
    for (const object of [
      `{"metadata":[{"managedFields":${LONG}}]}`,
      `{"spec":{"managedFields":${LONG}}}`,
      `{"metadata":{"a":{"managedFields":${LONG}}}}`,
      `{"managedFields":${LONG},"metadata":{}}`,
      `{"metadata":"managedFields","x":{"managedFields":${LONG}}}`,
      `[{"metadata":{"managedFields":${LONG}}}]`,
    ]) {
      const read = parts(`{"request":{"object":${object}}}`);
      const [cut] = read?.cuts ?? [];
      assert.ok(read && cut);
      assert.equal(cut.part, undefined, object);
      assert.deepEqual(read.read(cut), JSON.parse(object));
    }
  });

  test("each object's part is its own", () => {
    const object = (size: number): string => `{"metadata":{"managedFields":["${"x".repeat(size)}"]}}`;
    const read = parts(`{"request":{"object":${object(600)},"oldObject":${object(700)}}}`);
    assert.deepEqual(
      read?.cuts.map((cut) => JSON.stringify(read.read(cut))),
      [object(600), object(700)],
    );
    const second = parts(`{"request":{"object":${object(600)},"oldObject":{"metadata":{}}}}`);
    assert.equal(second?.cuts[1]?.part, undefined);
  });
});

describe("a document is not read in parts", () => {
  for (const [why, text] of [
    ["that has none", '{"request":{"object":1,"x":{}}}'],
    ["that is no JSON within a part", '{"request":{"object":{"a":01}}}'],
    ["that is no JSON beside it", '{"request":{"object":{}},}'],
    ["that has a key twice in a part", '{"request":{"object":{"a":1,"a":2}}}'],
    ["that has a key twice beside it", '{"request":{"object":{}},"request":{}}'],
    ["that has a part twice", '{"request":{"object":{"a":1},"object":{"b":1}}}'],
    ["whose keys may be the same by their escapes", String.raw`{"request":{"object":{"a":1,"\u0061":1}}}`],
    ["that has numbers to be read exactly", '{"request":{"object":{"a":1.0}}}'],
    ["that has halves of letters", String.raw`{"request":{"object":{"a":"\ud83d"}}}`],
  ] as const) {
    test(why, () => assert.equal(parts(text), undefined));
  }
  test("that is not UTF-8", () => {
    const bytes = Buffer.from('{"request":{"object":{"a":"?"}}}');
    bytes[bytes.indexOf("?")] = 0xff;
    assert.equal(partsOf(bytes), undefined);
  });
  test("when what would be left out is short", () => {
    const text = Buffer.from(`{"request":{"object":${LONG},"oldObject":${LONG}}}`);
    assert.equal(partsOf(text, LATER, 3_000), undefined);
    assert.equal(partsOf(text, LATER, 1_000)?.cuts.length, 2);
  });
  test("when nobody wants one", () => assert.equal(parts('{"request":{"object":{}}}', new Set()), undefined));
});
