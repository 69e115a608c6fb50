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
    "a number of matches above the number of signatures": [
      { anyOf: { minimumMatches: 3, signatures: [pubKey, pubKey] } },
      /v\.yml:1:\d+: anyOf\.minimumMatches: expected at most 2, as many as there are signatures$/,
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

  const pair = newKeys().privateKey;
  const privateKeys = {
    pkcs8: pair.export({ type: "pkcs8", format: "pem" }),
    sec1: pair.export({ type: "sec1", format: "pem" }),
    encrypted: pair.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "p" }),
  };
  for (const [form, value] of Object.entries(privateKeys)) {
    const pem = value.toString();
    const secret = pem.split("\n")[1] ?? "";
    const indented = pem.replaceAll("\n", "\n      ");
    const places: Record<string, string> = {
      "as a key": JSON.stringify({ allOf: [{ kind: "pubKey", key: pem }] }),
      "behind a public one": JSON.stringify({ allOf: [{ kind: "pubKey", key: key + pem }] }),
      "in a block": `allOf:\n  - kind: pubKey\n    key: |\n      ${indented}`,
      "folded into one line": `allOf:\n  - kind: pubKey\n    key: "-----BEGIN\n      ${indented.slice("-----BEGIN ".length)}"`,
      "with escapes for its first line": `allOf: [{kind: pubKey, key: ${JSON.stringify(pem).replace("-----", "\\u002d----")}}]`,
      "where a URL is expected": JSON.stringify({
        allOf: [{ kind: "genericIssuer", issuer: "i", subject: { urlPrefix: pem } }],
      }),
      "as an unknown key": JSON.stringify({ [pem]: 1 }),
      "in what is not YAML": `allOf: [\n${pem}`,
      "in a comment": `allOf: [{kind: pubKey, key: ${JSON.stringify(key)}}]\n# ${pem.replaceAll("\n", "\n# ")}`,
    };
    for (const [place, content] of Object.entries(places)) {
      test(`a private key (${form}) ${place} is refused, and not printed`, (context) => {
        const path = join(folder(context, { "v.yml": content }), "v.yml");
        assert.throws(
          () => loadVerification(path),
          ({ message }: Error) =>
            /expected (?:a )?public keys? in PEM/.test(message) && !message.includes(secret.slice(0, 20)),
        );
      });
    }
  }

  test("a missing file is an error", () => {
    assert.throws(
      () => loadVerification("/nonexistent/v.yml"),
      /^ConfigFileError: Not a valid configuration file: .*does not exist/,
    );
  });
});
