import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readCertificateRequest } from "../../../src/kinds/certificate-request-policy/read-request.js";

const SPEC = { request: "aGk=", issuerRef: { name: "i" } };
const request = (spec: object = {}, rest: object = {}): object => ({
  apiVersion: "cert-manager.io/v1",
  kind: "CertificateRequest",
  metadata: { name: "r", namespace: "foo" },
  spec: { ...SPEC, ...spec },
  ...rest,
});

function read(value: unknown) {
  const found = readCertificateRequest(value);
  assert.ok(found.kind === "request", found.kind === "malformed" ? found.text : "");
  return found.request;
}

function refusal(value: unknown): string {
  const found = readCertificateRequest(value);
  assert.ok(found.kind === "malformed");
  return found.text;
}

describe("a CertificateRequest", () => {
  test("is read with what is absent as empty", () => {
    assert.deepEqual(read(request()), {
      name: "r",
      namespace: "foo",
      request: Buffer.from("hi"),
      issuerRef: { name: "i", kind: "", group: "" },
      duration: undefined,
      isCA: false,
      usages: [],
      username: "",
      groups: [],
      uid: "",
      extra: {},
      decided: undefined,
    });
  });

  test("is read with everything that it says", () => {
    const spec = {
      duration: "1h",
      isCA: true,
      usages: ["any", "new one"],
      username: "bob",
      groups: ["a"],
      uid: "u",
      extra: { k: ["v"] },
    };
    const { duration, isCA, usages, username, groups, uid, extra } = read(request(spec));
    assert.deepEqual(
      { duration, isCA, usages, username, groups, uid, extra },
      { ...spec, duration: 3_600_000_000_000n },
    );
  });

  test("has absent members for those that are null, and empty items for items that are", () => {
    const { isCA, duration, usages, groups, extra } = read(
      request({ isCA: null, duration: null, usages: [null], groups: null, extra: { k: null } }),
    );
    assert.deepEqual(
      { isCA, duration, usages, groups, extra },
      {
        isCA: false,
        duration: undefined,
        usages: [""],
        groups: [],
        extra: { k: [] },
      },
    );
  });

  test("may have members that nobody knows, and none in other letters", () => {
    const { isCA } = read(request({ newOne: { a: 1 }, isca: true, IsCA: true }));
    assert.equal(isCA, false);
  });

  test("holds base64 in the standard alphabet, with padding, in lines or not", () => {
    assert.equal(read(request({ request: "a\r\nGk\n=\n" })).request.toString(), "hi");
    assert.equal(read(request({ request: "" })).request.length, 0);
    for (const odd of ["aGk", "aGk=a", "aG=k", "====", "aGk-", "aG k", "aGk=====", "a===", "aGk=\t"]) {
      assert.match(refusal(request({ request: odd })), /^spec\.request: .*base64/, odd);
    }
  });

  test("says whether it is decided", () => {
    const decided = (...conditions: readonly object[]) => read(request({}, { status: { conditions } })).decided;
    assert.equal(decided(), undefined);
    assert.equal(decided({ type: "Approved", status: "True" }), "Approved");
    assert.equal(decided({ type: "Approved", status: "False" }, { type: "Ready", status: "True" }), undefined);
    assert.equal(decided({ type: "Approved", status: "True" }, { type: "Denied", status: "True" }), "Denied");
  });

  for (const [what, value, text] of [
    ["no object", [], /must be an object/],
    ["another version", request({}, { apiVersion: "cert-manager.io/v2" }), /apiVersion "cert-manager.io\/v2"/],
    ["another kind", request({}, { kind: "Certificate" }), /kind "Certificate"/],
    ["no kind", { spec: SPEC }, /kind \(none\)/],
    ["a text for a flag", request({ isCA: "true" }), /^spec\.isCA: .* of type bool/],
    ["a number for a flag", request({ isCA: 1 }), /^spec\.isCA: /],
    ["a list for an object", request({ issuerRef: [] }), /^spec\.issuerRef: /],
    ["a number in a list of texts", request({ usages: ["any", 1] }), /^spec\.usages\[1\]: /],
    ["a text for a list", request({ groups: "system:masters" }), /^spec\.groups: /],
    ["a text for a list in a map", request({ extra: { k: "v" } }), /^spec\.extra\.k: /],
    [
      "a duration that is none",
      request({ duration: "1d" }),
      /^spec\.duration: time: unknown unit "d" in duration "1d"/,
    ],
    ["a number for a duration", request({ duration: 3600 }), /^spec\.duration: /],
    ["a number for its name", request({}, { metadata: { name: 1 } }), /^metadata\.name: /],
    ["conditions that are none", request({}, { status: { conditions: {} } }), /^status\.conditions: /],
  ] as const) {
    test(`with ${what} is malformed, at its place`, () => assert.match(refusal(value), text));
  }
});
