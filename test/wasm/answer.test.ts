/** Guests' answers: what each field may be. Whatever else it is, is an error and neither an acceptance nor a rejection. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  readCallAnswer,
  readSettingsVerdict,
  readValidation,
  readWasiAnswer,
  settingsRefused,
} from "../../src/wasm/answer.js";
import { admission, patch, question, raw } from "./support.js";

const review = admission({ kind: "Pod" });
const read = (text: string) => readValidation(text, question(review));

describe("an answer to a review", () => {
  for (const code of [0, 65_535])
    test(`may have the code ${code}`, () =>
      assert.deepEqual(read(`{"accepted":false,"code":${code}}`), { verdict: "deny", code }));

  for (const [field, values] of [
    ["accepted", ["null", "1", '"true"', "[]"]],
    ["code", ["65536", "-1", "1.5", '"403"', "1e400", "[]"]],
    ["message", ["1", "{}", "[]"]],
    ["warnings", ['"w"', '["w",1]', "{}", "[null]"]],
    ["audit_annotations", ['"a"', '["a"]', '{"a":1}', '{"a":"b","c":1}', '{"a":null}']],
  ] as const)
    for (const value of values)
      test(`${field} is not ${value}`, () =>
        assert.throws(
          () => read(`{"accepted":true,"${field}":${value}}`.replace('"accepted":true,"accepted"', '"accepted"')),
          {
            name: "AnswerError",
          },
        ));

  for (const text of ["[]", "1", "null", '"accepted"', "", "{}", '{"accepted":true'])
    test(`is not ${JSON.stringify(text)}`, () => assert.throws(() => read(text), { name: "AnswerError" }));

  test("may have a message, warnings and annotations", () =>
    assert.deepEqual(
      read('{"accepted":false,"message":"m","warnings":["w","v"],"audit_annotations":{"a":"1","b":"2"}}'),
      {
        verdict: "deny",
        message: "m",
        warnings: ["w", "v"],
        auditAnnotations: { a: "1", b: "2" },
      },
    ));

  test("accepts in one way only, however it is written", () => {
    for (const reader of [readCallAnswer, readWasiAnswer])
      for (const text of [
        '{"accepted":true}',
        '{ "accepted" : true }',
        '{"accepted":true}\n',
        '{"accepted":true,"x":1}',
      ])
        assert.deepEqual(reader(text, question(review)), { verdict: "allow" });
    for (const text of [
      '{"accepted":true}}',
      '{"accepted":true}{"accepted":false}',
      '{"accepted":true,"accepted":false}',
    ])
      assert.equal(readCallAnswer(text, question(review)).verdict, "error");
  });

  test("may have null for what it does not say", () =>
    assert.deepEqual(
      read(
        '{"accepted":true,"message":null,"code":null,"mutated_object":null,"warnings":null,"audit_annotations":null}',
      ),
      { verdict: "allow" },
    ));

  test("that is none is the policy's failure, which names the field and what was found", () => {
    for (const [reader, told] of [
      [readCallAnswer, "invalid response from policy"],
      [readWasiAnswer, "Cannot deserialize policy validation response"],
    ] as const)
      for (const [field, expected] of [
        ["message", "a string"],
        ["code", "u16"],
        ["warnings", "a list of strings"],
        ["audit_annotations", "a map of strings"],
      ])
        assert.deepEqual(reader(`{"accepted":true,"${field}":true}`, question(review)), {
          verdict: "error",
          message: `internal server error: ${told}: invalid type for \`${field}\`: a boolean, expected ${expected}`,
          cause: "protocol",
        });
  });

  test("with the object as it was is no mutation", () =>
    assert.deepEqual(read('{"accepted":true,"mutated_object":{"kind":"Pod"}}'), { verdict: "allow" }));

  test("with another object is the patch from the request's to it, or from the whole payload", () => {
    const text = '{"accepted":true,"mutated_object":{"kind":"Pod","large":9007199254740993,"whole":1.0}}';
    const added = [
      { op: "add", path: "/large", value: 9007199254740993n },
      { op: "add", path: "/whole", value: Object(1) },
    ] as const;
    assert.deepEqual(read(text), { verdict: "allow", mutation: patch(...added) });
    assert.deepEqual(readValidation(text, question(raw({ kind: "Pod" }))), {
      verdict: "allow",
      mutation: patch(...added),
    });
    const whole = { op: "replace", path: "", value: { kind: "Pod" } } as const;
    const change = '{"accepted":false,"mutated_object":{"kind":"Pod"}}';
    assert.deepEqual(readValidation(change, question(raw(null))), { verdict: "deny", mutation: patch(whole) });
  });

  for (const object of [undefined, null])
    test(`that changes ${object} is a denial that keeps the attempt`, () => {
      const outcome = readValidation('{"accepted":true,"mutated_object":{}}', question(admission(object)));
      assert.deepEqual(outcome, { verdict: "deny", mutation: { kind: "of-nothing" } });
    });
});

describe("an answer about settings", () => {
  test("says whether they are valid, and why not", () => {
    assert.equal(readSettingsVerdict('{"valid":true,"message":"m"}'), undefined);
    assert.equal(readSettingsVerdict('{"valid":false,"message":"m"}'), "m");
    assert.equal(readSettingsVerdict('{"valid":false}'), "no message");
  });

  test("that can't be read refuses them, and other errors stay what they are", () => {
    const refused = settingsRefused(() => readSettingsVerdict("{"), "error: ");
    assert.equal(refused?.code, "wasm-settings");
    assert.match(refused.message, /^Policy settings are invalid: error: ./);
    assert.equal(
      settingsRefused(() => undefined, ""),
      undefined,
    );
    const broken = () => {
      throw new Error("broken");
    };
    assert.throws(() => settingsRefused(broken, ""), { message: "broken" });
  });

  for (const text of ["{}", '{"valid":"true"}', '{"valid":1}', '{"valid":null}', "[]"])
    test(`is not ${text}`, () => assert.throws(() => readSettingsVerdict(text), { name: "AnswerError" }));
});

test("an answer without a verdict says which field is missing and where, a change of nothing says what it is", () => {
  assert.throws(() => readValidation('{"message":"m"}\n', question(raw({}))), {
    name: "AnswerError",
    message: "missing field `accepted` at line 1 column 15",
  });
  for (const [given, told] of [
    ["null", "null"],
    ["[]", "a list"],
    ["{}", "a object"],
    ['"true"', "a string"],
    ["1", "a number"],
    ["1.0", "a number"],
  ]) {
    assert.throws(() => readValidation(`{"accepted":${given}}`, question(raw({}))), {
      message: `invalid type for \`accepted\`: ${told}, expected a boolean`,
    });
  }
  for (const asked of [admission(), admission(null)]) {
    assert.deepEqual(readValidation('{"accepted":true,"mutated_object":{"a":1}}', question(asked)), {
      verdict: "deny",
      mutation: { kind: "of-nothing" },
    });
  }
});
