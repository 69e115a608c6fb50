import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { loadVerification } from "../../src/config/verification.js";
import { newKeys } from "../fetch/certificates.js";
import { folder } from "../fetch/helpers.js";

const key = newKeys().publicKey.export({ type: "spki", format: "pem" }).toString();
const pubKey = { kind: "pubKey", owner: "ops", key };

describe("verification.yml", () => {
  test("lists signatures of every kind", (context) => {
    const issuer = "https://issuer.example";
    const content = {
      apiVersion: "v1",
      allOf: [{ kind: "githubAction", owner: "example-org", repo: "policies", annotations: { env: "prod" } }],
      anyOf: {
        minimumMatches: 2,
        signatures: [
          pubKey,
          { kind: "genericIssuer", issuer, subject: { equal: "ci@example.org" } },
          { kind: "genericIssuer", issuer, subject: { urlPrefix: "https://git.example/team" } },
        ],
      },
    };
    const path = join(folder(context, { "v.yml": JSON.stringify(content) }), "v.yml");
    const { apiVersion: _, ...expected } = structuredClone(content);
    expected.anyOf.signatures[2] = {
      kind: "genericIssuer",
      issuer,
      subject: { urlPrefix: "https://git.example/team/" },
    };
    assert.deepEqual(loadVerification(path), expected);
  });

  test("apiVersion may be absent, minimumMatches is then 1", (context) => {
    const path = join(folder(context, { "v.yml": JSON.stringify({ anyOf: { signatures: [pubKey] } }) }), "v.yml");
    assert.deepEqual(loadVerification(path), { anyOf: { minimumMatches: 1, signatures: [pubKey] } });
  });

  const INVALID = "^Not a valid configuration file: .*v\\.yml:1:\\d+: ";
  const mistakes: Record<string, [content: unknown, expected: RegExp]> = {
    "neither list": [{ apiVersion: "v1" }, /^config is missing signatures in both allOf and anyOff list$/],
    "another version": [{ apiVersion: "v2", allOf: [pubKey] }, /^Not a supported configuration version: v2$/],
    "no map": [[], new RegExp(`${INVALID}expected a map`)],
    "an empty list": [{ allOf: [] }, new RegExp(`${INVALID}allOf: must not be empty`)],
    "an empty list of alternatives": [
      { anyOf: { signatures: [] } },
      new RegExp(`${INVALID}anyOf.signatures: must not be empty`),
    ],
    "a number of matches that always holds": [
      { anyOf: { minimumMatches: 0, signatures: [pubKey] } },
      /expected a whole number from 1/,
    ],
    "an unknown key": [{ allOf: [pubKey], zzz: 1 }, new RegExp(`${INVALID}zzz: unknown key`)],
    "an unknown kind": [
      { allOf: [{ kind: "pubkey", key }] },
      /allOf\[0\]\.kind: expected one of pubKey, genericIssuer, githubAction/,
    ],
    "a key that is none": [{ allOf: [{ kind: "pubKey", key: "x" }] }, /allOf\[0\]\.key: expected a public key in PEM/],
    "two subjects": [
      { allOf: [{ kind: "genericIssuer", issuer: "i", subject: { equal: "a", urlPrefix: "https://b" } }] },
      /expected exactly one of equal, urlPrefix/,
    ],
    "a prefix that is no URL": [
      { allOf: [{ kind: "genericIssuer", issuer: "i", subject: { urlPrefix: "b" } }] },
      /not a URL: "b"/,
    ],
  };
  for (const [name, [content, expected]] of Object.entries(mistakes)) {
    test(`${name} is an error`, (context) => {
      const path = join(folder(context, { "v.yml": JSON.stringify(content) }), "v.yml");
      assert.throws(
        () => loadVerification(path),
        (error: Error) => expected.test(error.message),
      );
    });
  }

  test("a missing file is an error", () => {
    assert.throws(
      () => loadVerification("/nonexistent/v.yml"),
      /^ConfigFileError: Not a valid configuration file: .*does not exist/,
    );
  });
});
