/** `test` with cases about CSRs, and the example's own test file. */
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { CERTIFICATES_EXAMPLE, exampleCsr, exampleCsrFile } from "../support/example-csrs.js";

const folder = mkdtempSync(join(tmpdir(), "certificate-request-tests-"));
after(() => rmSync(folder, { recursive: true }));
copyFileSync(exampleCsrFile("web"), join(folder, "web.csr"));
writeFileSync(join(folder, "no.csr"), "a: b\n");
const policies = join(folder, "policies.yaml");
writeFileSync(policies, `service-certificates: { resource: ${CERTIFICATES_EXAMPLE}/policy.yaml }\n`);

async function run(path: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { env: {}, stdin: Readable.from([]), stdout, stderr };
  const code = await runCommandLine(["test", path, "--policies", policies, ...args], io);
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: (await text(stderr)).replaceAll(`${folder}/`, "") };
}

let files = 0;
function runCases(...cases: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  files += 1;
  const file = join(folder, `${files}.test.yaml`);
  writeFileSync(file, `policy: service-certificates\ncases:\n${cases.map((each) => `  - { ${each} }\n`).join("")}`);
  return run(file);
}

const SHOP =
  "csr: web.csr, namespace: shop, duration: 24h, username: 'system:serviceaccount:cert-manager:cert-manager'";
const REQUEST = JSON.stringify({
  apiVersion: "cert-manager.io/v1",
  kind: "CertificateRequest",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    request: exampleCsr("web").toString("base64"),
    issuerRef: { name: "internal-ca", kind: "ClusterIssuer" },
    duration: "24h",
    username: "system:serviceaccount:cert-manager:cert-manager",
    groups: ["system:serviceaccounts"],
  },
});

describe("test, with CSRs", () => {
  test("the example passes, and its cases reach every rule", async () =>
    assert.deepEqual(await run(CERTIFICATES_EXAMPLE, "--min-coverage", "100"), {
      code: 0,
      out: "7 passed, 0 failed\ncoverage: 2 of 2 (100.0 %)\n",
      err: "",
    }));

  test("what is said of a request is taken as texts, lists and maps", async () =>
    assert.deepEqual(
      await runCases(
        `${SHOP}, issuer: "internal-ca,ClusterIssuer", usages: "server auth,client auth", expect: allow`,
        `${SHOP}, issuer: { name: internal-ca, kind: ClusterIssuer }, usages: [server auth], groups: [], requestName: x, isCA: false, expect: allow`,
        `${SHOP}, issuer: "internal-ca,ClusterIssuer", isCA: true, expect: deny, messageContains: spec.allowed.isCA`,
        `${SHOP}, issuer: { name: internal-ca }, expect: skip, message: No CertificateRequestPolicies bound or applicable`,
      ),
      { code: 0, out: "4 passed, 0 failed\n", err: "" },
    ));

  test("a CertificateRequest in a file is made by whoever its spec says", async () =>
    assert.equal((await runCases(`object: ${REQUEST}, expect: allow`)).code, 0));

  test("a case that comes to something else says what", async () => {
    const { code, out } = await runCases(`${SHOP}, issuer: "internal-ca,ClusterIssuer", isCA: true, expect: allow`);
    assert.equal(code, 1);
    assert.match(out, /expected allow, got deny: No policy approved this request: \[service-certificates: /);
  });

  const mistakes: Readonly<Record<string, readonly [written: string, message: string]>> = {
    "a file that is not there": ["csr: none.csr", ".csr: cannot read none.csr"],
    "a file of something else": [
      "csr: no.csr",
      ".csr: no.csr holds no CSR: it is neither PEM nor DER of a certification request",
    ],
    "no file's name": ["csr: 5", ".csr: expected the name of a file, found the number 5"],
    nothing: ["csr: null", ".csr: expected the name of a file, found nothing"],
    "two questions": [
      "csr: web.csr, raw: 1",
      ": give exactly one of object, csr, request, raw, rawFile: here are csr and raw",
    ],
    "a former state": ["csr: web.csr, old: {}", ".csr: 'old' is the former state of an object: a csr has none"],
    "an issuer with another key": [
      "csr: web.csr, issuer: { nam: x }",
      ".issuer: unknown key 'nam', known are name, kind, group",
    ],
    "an issuer without a name": [
      "csr: web.csr, issuer: { kind: x }",
      ".issuer: ',x,' is not name, name,kind or name,kind,group",
    ],
    "an unknown usage": [
      "csr: web.csr, usages: [server-auth]",
      `.usages: there is no usage 'server-auth' (did you mean "server auth"?)`,
    ],
    "usages that are no texts": ["csr: web.csr, usages: [1]", ".usages: must be a text, or a list of texts"],
    "no duration": ["csr: web.csr, duration: 1d", `.duration: time: unknown unit "d" in duration "1d"`],
    "a text for yes": ["csr: web.csr, isCA: 'yes'", ".isCA: must be true or false"],
    "a username that is a list": ["csr: web.csr, username: [a]", ".username: must be a text"],
    "groups of nobody": ["csr: web.csr, groups: [a]", ".csr: whose groups are a? Say the username as well"],
    "a key without a csr": ["object: {}, issuer: x", ".issuer: 'issuer' is for a csr only"],
  };
  for (const [name, [written, message]] of Object.entries(mistakes)) {
    test(`${name}: one line with its place, exit code 2`, async () => {
      const { code, out, err } = await runCases(`${written}, expect: allow`);
      const [line = "", end] = err.split("\n");
      const place = new RegExp(`^${files}\\.test\\.yaml:3:\\d+: `);
      assert.match(line, place);
      const said = [code, out, line.replace(place, ""), end];
      assert.deepEqual(said, [2, "", `cases[0]${message}`, "Error: 1 mistake in test files: no case was run"]);
    });
  }
});
