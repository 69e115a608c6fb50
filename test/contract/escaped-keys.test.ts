/** A key that is written with escapes is the same key to all who read one request: guests of every protocol, CEL, and Kyverno's policies. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { decodeAdmissionReview, decodeRawReview } from "../../src/admission/decode.js";
import { scanJson } from "../../src/data/json.js";
import { parseYamlDocuments } from "../../src/data/yaml.js";
import { objectIn } from "../../src/fetch/registry-connection.js";
import { readAnswer } from "../../src/kubernetes/client/answers.js";
import { readRego } from "../../src/wasm/protocols/opa/read-rego.js";
import { someEscapedKeys } from "../data/support/escaped-keys.js";
import { keyReaders, REVIEW, WITH_KIT } from "../support/key-readers.js";

/** Keys, and how they are written: one of their letters is an escape, or all are. */
const KEYS = [
  ["chaos/mode", String.raw`chaos\/m\u006fde`],
  ["example.com/team", String.raw`\u0065xample.com\/team`],
  ["privileged", String.raw`pri\u0076ileged`],
  ["image", String.raw`\u0069\u006d\u0061\u0067\u0065`],
  ["metadata", String.raw`meta\u0064ata`],
] as const;
const escaped = (text: string): string =>
  KEYS.reduce((written, [key, other]) => written.replaceAll(`"${key}":`, `"${other}":`), text);
/** What makes the built-in parser of some versions of Node read the other text wrongly, when it has seen it. */
const misleading = (text: string): string =>
  KEYS.reduce(
    (written, [key, other]) => written.replaceAll(`"${key}":`, `${JSON.stringify(other.slice(0, key.length))}:`),
    text,
  );
const PLAIN = JSON.stringify(REVIEW);
const BODY = escaped(PLAIN);
JSON.parse(misleading(PLAIN));

const readers = await keyReaders();
after(() => readers.close());

for (const name of readers.names) {
  describe(name, () => {
    test("answers to a request with such keys as to the same without", async () => {
      const expected = await readers.ask(name, Buffer.from(PLAIN));
      assert.deepEqual(await readers.ask(name, Buffer.from(BODY)), expected);
    });

    if (WITH_KIT.includes(name))
      test("also where the request is handed on as it came", async () => {
        const expected = await readers.ask(name, Buffer.from(PLAIN));
        assert.deepEqual(await readers.askRaw(name, escaped(JSON.stringify(REVIEW.request))), expected);
      });
  });
}

test("the kit takes no long key for its own beginning", async () => {
  const long = `"privileged${"x".repeat(65_536)}":false`;
  const request = JSON.stringify(REVIEW.request).replace('"privileged":true', `"privileged":true,${long}`);
  const outcome = await readers.askRaw("privileged-pods", request);
  assert.equal(outcome.verdict, "error", JSON.stringify(outcome));
});

describe("a key of any name, which the built-in parser may take for another that it has seen there, is seen", () => {
  for (const name of ["cel", "kyverno"])
    test(`by ${name}`, async () => {
      for (const { before, text, key } of someEscapedKeys(200, name.length)) {
        const { object: _, ...request } = { ...REVIEW.request, name: key };
        const body = (spec: string): string =>
          `{"request":${JSON.stringify(request).slice(0, -1)},"object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"n"},"spec":${spec}}}}`;
        JSON.parse(body(before));
        const outcome = await readers.ask(name, Buffer.from(body(text)));
        assert.match(JSON.stringify(outcome), /^\{"verdict":"deny".*the named one is seen/, text);
      }
    });
});

describe("and it is read in what comes from elsewhere", () => {
  const places: Readonly<Record<string, (text: string) => unknown>> = {
    "a registry's answer": (text) => objectIn(Buffer.from(text)),
    "a cluster's answer": readAnswer,
    "what a Rego module hands to its host": readRego,
    "a file of YAML": (text) => parseYamlDocuments(text)[0],
  };
  for (const [place, read] of Object.entries(places))
    test(place, async () => {
      for (const { before, text, members } of someEscapedKeys(100, place.length)) {
        JSON.parse(before);
        assert.deepEqual(Object.entries((await read(text)) as object), members, text);
      }
    });
});

describe("a guest gets", () => {
  const textOf = (body: string, raw = false): string => {
    const review = (raw ? decodeRawReview : decodeAdmissionReview)(Buffer.from(body));
    assert.ok(review.kind !== "problem", JSON.stringify(review));
    return Buffer.from(review.requestBytes()).toString();
  };
  const object = (key: string): string => `{ ${key} : {"n": 1} }`;
  const bodies = (key: string): readonly (readonly [string, boolean])[] => [
    ...["object", "oldObject", "options"].map(
      (name) =>
        [
          JSON.stringify({ request: { ...REVIEW.request, [name]: 0 } }).replace(
            `"${name}":0`,
            `"${name}":${object(key)}`,
          ),
          false,
        ] as const,
    ),
    [`{"request":${object(key)}}`, true],
  ];

  test("a text that is written anew where a key may be written in another way", () => {
    for (const key of [String.raw`"\u0061b"`, String.raw`"a\/b"`, String.raw`"\u0022"`]) {
      for (const [body, raw] of bodies(key)) {
        const text = textOf(body, raw);
        assert.ok(text.includes(`{${JSON.stringify(JSON.parse(key))}:{"n":1}}`), text);
        assert.equal(scanJson(Buffer.from(text), 0)?.isExact, true);
      }
    }
  });

  test("the very text that came where keys are as they would be written", () => {
    for (const key of ['"ab"', String.raw`"k:{\"name\":\"a\"}"`, String.raw`"\n\\"`])
      for (const [body, raw] of bodies(key)) assert.ok(textOf(body, raw).includes(object(key)), key);
  });
});
