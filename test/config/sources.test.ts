import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { describe, test } from "node:test";
import { loadSources } from "../../src/config/sources.js";
import { newCertificate } from "../fetch/certificates.js";
import { folder } from "../fetch/helpers.js";

const CA = newCertificate({ name: "a CA", authority: true });
const OTHER = newCertificate({ name: "another CA", authority: true });

/** PEM as the runtime writes it, to be compared with. */
const normal = (pem: string) => new X509Certificate(pem).toString();

describe("sources.yml", () => {
  test("lists insecure hosts and CAs, from data and from files in PEM or DER", (context) => {
    const root = folder(context, { "both.pem": CA.pem + OTHER.pem, "ca.der": CA.der });
    const text = JSON.stringify({
      insecure_sources: ["registry.dev.example:5000"],
      source_authorities: {
        "a.example": [
          { type: "Path", path: join(root, "both.pem") },
          { type: "Path", path: join(root, "ca.der") },
        ],
        "b.example:5000": [{ type: "Data", data: CA.pem }],
      },
      proxies: { http_proxy: "http://ignored" },
      something: "else",
    });
    const sources = loadSources(join(folder(context, { "sources.yml": text }), "sources.yml"));
    assert.deepEqual([...sources.insecure], ["registry.dev.example:5000"]);
    assert.deepEqual(sources.authorities.get("a.example"), [normal(CA.pem), normal(OTHER.pem), normal(CA.pem)]);
    assert.deepEqual(sources.authorities.get("b.example:5000"), [normal(CA.pem)]);
  });

  test("an empty map lists nothing", (context) => {
    const sources = loadSources(join(folder(context, { "s.yml": "{}" }), "s.yml"));
    assert.equal(sources.insecure.size + sources.authorities.size, 0);
  });

  const authority = (value: object) => JSON.stringify({ source_authorities: { "a.example": [value] } });
  const mistakes: Record<string, [text: string, expected: RegExp]> = {
    "no map": ["[]", /expected a map with insecure_sources and source_authorities, found a list/],
    "no YAML": ["a: [", /s\.yml:1:\d+: /],
    "no list": ["insecure_sources: x", /insecure_sources: expected a list, found the string "x"/],
    "another letter case": [authority({ type: "data", data: CA.pem }), /expected Path or Data/],
    "a missing file": [authority({ type: "Path", path: "/nonexistent.pem" }), /does not exist/],
    "no certificate": [
      authority({ type: "Data", data: "hello" }),
      /Invalid certificate: Raw certificate is not in PEM nor in DER encoding/,
    ],
  };
  for (const [name, [text, expected]] of Object.entries(mistakes)) {
    test(`${name} is an error that names the file`, (context) => {
      const path = join(folder(context, { "s.yml": text }), "s.yml");
      assert.throws(
        () => loadSources(path),
        (error: Error) =>
          error.message.startsWith(`error while loading sources from ${path}: `) && expected.test(error.message),
      );
    });
  }
});
