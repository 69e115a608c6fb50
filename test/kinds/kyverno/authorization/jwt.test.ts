/** `jwt.Decode`: tokens that are signed with a secret (spec kyverno.md 6.3). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import { shown, tokenOf } from "./authorized.js";

const LATER = 4_102_444_800;
const EARLIER = 1_000_000_000;

/** What an expression about `variables.t` gives. */
const about = (token: string, expression = "string(variables.t.Valid)"): Promise<string> =>
  shown(
    expression,
    { header: { Authorization: [token] } },
    {
      variables: [{ name: "t", expression: 'jwt.Decode(object.attributes.Header("authorization")[0], "secret")' }],
    },
  );
const valid = (claims: JsonObject): Promise<string> => about(tokenOf(claims));

describe("a token", () => {
  test("has claims, whose numbers are doubles", async () => {
    const token = tokenOf({ role: "admin", n: 3, exp: LATER });
    assert.equal(await about(token, "variables.t.Claims.role"), "admin");
    assert.equal(await about(token, "string(variables.t.Claims.n == 3.0)"), "true");
    assert.equal(await about(token, 'variables.t.Claims.?nope.orValue("none")'), "none");
    assert.equal(await about(tokenOf({}), "string(size(variables.t.Claims))"), "0");
  });

  test("is valid in its time", async () => {
    assert.equal(await valid({}), "true");
    assert.equal(await valid({ exp: LATER, nbf: EARLIER, iat: EARLIER }), "true");
    assert.equal(await valid({ exp: EARLIER }), "false");
    assert.equal(await valid({ nbf: LATER }), "false");
    assert.equal(await valid({ iat: LATER }), "false");
    assert.equal(await valid({ exp: String(EARLIER) }), "false");
    assert.equal(await valid({ exp: "2001-09-09T01:46:40Z" }), "false");
  });

  test("is signed with any HMAC algorithm", async () => {
    for (const alg of ["HS256", "HS384", "HS512"]) assert.equal(await about(tokenOf({}, { alg })), "true", alg);
  });

  test("may be padded, and stand between spaces", async () => {
    assert.equal(await about(` ${tokenOf({})}= `), "true");
  });
});

describe("no token at all", () => {
  const refused = (token: string, reason: RegExp) => async () =>
    assert.match(await about(token), new RegExp(`^error: jwt.Parse: failed to parse token: .*${reason.source}`, "s"));
  const signed = tokenOf({ role: "guest" });

  test("is one with another key's signature", refused(tokenOf({}, { key: "other" }), /invalid HMAC signature/));
  test(
    "is one that was changed",
    refused(
      signed.replace(/\.[^.]*\./, `.${Buffer.from('{"role":"admin"}').toString("base64url")}.`),
      /invalid HMAC signature/,
    ),
  );
  test("is one with half a signature", refused(signed.slice(0, -20), /invalid HMAC signature/));
  test("is one without a signature", refused(signed.replace(/[^.]*$/, ""), /empty compact signature/));
  test("is one of the algorithm none", refused(tokenOf({}, { alg: "none" }), /does not match any of the inferred/));
  test("is one of an algorithm for public keys", refused(tokenOf({}, { alg: "RS256" }), /does not match any/));
  test(
    "is one that names its key",
    refused(tokenOf({}, { header: { kid: "a" } }), /failed to find key with key ID "a"/),
  );
  test("is one whose payload is no base64", refused(tokenOf({}, { header: { b64: false } }), /unknown payload type/));
  test("is any text", refused("garbage", /unknown payload type/));
  test("is one without claims", refused(tokenOf([1]), /unknown payload type/));
  test("is one whose time is none", refused(tokenOf({ exp: "soon" }), /value is not number of seconds/));
  test("is one whose issuer is a number", refused(tokenOf({ iss: 5 }), /cannot unmarshal number/));
  test(
    "is one that is longer than any header",
    refused(tokenOf({ a: "x".repeat(300_000) }), /at most 262144 characters/),
  );

  test("is one for somebody, which the reference cannot represent", async () => {
    assert.equal(await valid({ aud: "x" }), "error: proto: invalid type: []string");
  });

  test("is one whose claim is null", async () => {
    assert.match(await valid({ a: null }), /^error: failed to assign value to dst/);
  });

  test("is one without a key", async () => {
    const expression = `string(jwt.Decode("${tokenOf({}, { key: "x" })}", "").Valid)`;
    assert.match(await shown(expression), /^error: failed to initialize \*jwk.symmetricKey/);
  });
});
