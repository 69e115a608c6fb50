import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { encodeAdmissionReview, encodeProblem, encodeRawReview } from "../../src/admission/encode.js";
import { unknownPolicy } from "../../src/admission/request-problem.js";

describe("answers (spec kubewarden.md 3.3)", () => {
  test("auditAnnotations and warnings are always there, null when there are none", () => {
    assert.equal(
      encodeAdmissionReview({ uid: "0b3c", allowed: true }),
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"0b3c","allowed":true,"auditAnnotations":null,"warnings":null}}',
    );
    assert.equal(
      encodeRawReview({ uid: "", allowed: true }),
      '{"response":{"uid":"","allowed":true,"auditAnnotations":null,"warnings":null}}',
    );
  });

  test("fields stand in the reference's order", () => {
    assert.equal(
      encodeRawReview({
        warnings: ["w"],
        auditAnnotations: { k: "v" },
        status: {
          code: 403,
          details: { extra: 1, causes: [{ field: "f", message: null, reason: null }], kind: "Pod", name: "n" },
          reason: "Forbidden",
          message: "no",
          status: "Failure",
        },
        patch: "W10=",
        allowed: true,
        uid: 'quo"te',
      }),
      '{"response":{"uid":"quo\\"te","allowed":true,"patchType":"JSONPatch","patch":"W10=","status":{"status":"Failure","message":"no","reason":"Forbidden",' +
        '"details":{"name":"n","kind":"Pod","causes":[{"reason":null,"message":null,"field":"f"}],"extra":1},"code":403},"auditAnnotations":{"k":"v"},"warnings":["w"]}}',
    );
  });

  test("a policy's account stands in raw answers only, behind what every answer has and never in its place", () => {
    const account = JSON.parse(
      '{"decision":"Denied","approvedBy":null,"policies":[{"name":"p"}],"allowed":true,"uid":"x","patch":"x","patchType":"x","status":1,"auditAnnotations":1,"warnings":1,"__proto__":{"a":1},"constructor":2}',
    ) as Record<string, unknown>;
    const response = { uid: "u", allowed: false, account: { ...account, none: undefined, big: 2n ** 60n } };
    const known = '{"uid":"u","allowed":false,"auditAnnotations":null,"warnings":null';
    const told =
      '"decision":"Denied","approvedBy":null,"policies":[{"name":"p"}],"constructor":2,"big":1152921504606846976';
    assert.equal(encodeRawReview(response).replace(',"__proto__":{"a":1}', ""), `{"response":${known},${told}}}`);
    assert.match(encodeRawReview(response), /,"__proto__":\{"a":1\}/);
    assert.equal(
      encodeAdmissionReview(response),
      `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":${known}}}`,
    );
    assert.equal(encodeRawReview({ ...response, account: {} }), `{"response":${known}}}`);
  });

  test("no causes leave empty details", () => {
    assert.match(
      encodeRawReview({ uid: "", allowed: false, status: { message: "m", details: { causes: [] } } }),
      /"status":\{"message":"m","details":\{\}\}/,
    );
  });

  test("request errors as JSON", () => {
    assert.equal(encodeProblem(unknownPolicy("nope")), '{"message":"unknown policy: nope","status":404}');
  });
});
