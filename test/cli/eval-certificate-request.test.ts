/** `eval` about CertificateRequests and CSRs: who asks, and what each policy made of it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";
import { firstPemBlock } from "../../src/x509/pem.js";
import { CERTIFICATES_EXAMPLE, exampleCsr, exampleCsrFile } from "../support/example-csrs.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "eval-certificate-request-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string | Buffer): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};

const policies = write(
  "policies.yaml",
  `
certificates: { resource: ${CERTIFICATES_EXAMPLE}/policy.yaml }
asker:
  cel:
    validations:
      - expression: "false"
        messageExpression: "request.operation + ' by ' + request.userInfo.username + ' of ' + request.userInfo.groups.join(' ')"
wasm: { module: "${root}/policies/privileged-pods/policy.wasm" }
group:
  expression: "wasm() && crp()"
  message: not allowed
  policies: { wasm: { policy: wasm }, crp: { policy: certificates } }
`,
);
const FOR_SHOP = ["--namespace", "shop", "--issuer", "internal-ca,ClusterIssuer", "--duration", "24h"];
const CERT_MANAGER = "system:serviceaccount:cert-manager:cert-manager";

async function evaluate(id: string, args: readonly string[], stdin: string | Buffer = "") {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { env: {}, stdin: Readable.from([stdin]), stdout, stderr };
  const [out, err] = [text(stdout), text(stderr)];
  const code = await runCommandLine(["eval", id, "--policies", policies, ...args], io);
  stdout.end();
  stderr.end();
  const answer = (await out) === "" ? undefined : JSON.parse(await out).response;
  return { code, answer, lines: (await err).split("\n").slice(0, -1) };
}

const request = (spec: object): string =>
  JSON.stringify({
    apiVersion: "cert-manager.io/v1",
    kind: "CertificateRequest",
    metadata: { name: "web", namespace: "shop" },
    spec: {
      request: exampleCsr("web").toString("base64"),
      issuerRef: { name: "internal-ca", kind: "ClusterIssuer" },
      ...spec,
    },
  });

describe("eval --csr", () => {
  test("approved: every policy has its line", async () => {
    const { code, answer, lines } = await evaluate("certificates", [
      ...["--csr", exampleCsrFile("web"), ...FOR_SHOP],
      ...["--username", CERT_MANAGER, "--usages", "server auth,client auth"],
    ]);
    assert.equal(code, 0);
    assert.equal(answer.allowed, true);
    assert.equal(answer.status.message, 'Approved by CertificateRequestPolicy: "service-certificates"');
    assert.deepEqual(lines, [
      'certificates: Approved by CertificateRequestPolicy: "service-certificates"',
      "  public-names: not selected: it is for other issuers or namespaces",
      "  service-certificates: approves",
    ]);
  });

  test("denied: every reason has its line", async () => {
    const args = ["--csr", exampleCsrFile("payments"), ...FOR_SHOP, "--is-ca", "--username", CERT_MANAGER];
    const { code, answer, lines } = await evaluate("certificates", args);
    assert.equal(code, 1);
    assert.equal(answer.status.code, 403);
    assert.deepEqual(lines, [
      "certificates: Denied: no policy approves it",
      "  public-names: not selected: it is for other issuers or namespaces",
      "  service-certificates: objects",
      `    spec.allowed.dnsNames.validations[0]: Invalid value: "db.payments.svc": it is not the name of a service of the request's own namespace`,
      "    spec.allowed.isCA: Invalid value: true: nil",
      '    spec.constraints.privateKey.algorithm: Invalid value: "RSA": ECDSA',
    ]);
  });

  test("decided by nobody: allowed, and said, but not judged", async () => {
    const { code, answer, lines } = await evaluate("certificates", [
      ...["--csr", exampleCsrFile("web"), ...FOR_SHOP, "--username", "alice"],
    ]);
    assert.equal(code, 3);
    assert.equal(answer.allowed, true);
    assert.deepEqual(lines, [
      "certificates: Unprocessed: no policy decides it: No CertificateRequestPolicies bound or applicable",
      "  public-names: not selected: it is for other issuers or namespaces",
      "  service-certificates: not bound: the requester may not use it",
      "nothing was judged: no policy applies (--allow-empty: exit 0 all the same)",
    ]);
  });

  test("policies that are not ready, or that nobody needs, have their line", async () => {
    const any = (name: string, ready: string): string => `apiVersion: policy.cert-manager.io/v1alpha1
kind: CertificateRequestPolicy
metadata: { name: ${name} }
spec: { selector: { issuerRef: {} }, allowed: { dnsNames: { values: ["*"] } } }
status: { conditions: [{ type: Ready, status: "${ready}", reason: R, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }] }
---
`;
    const three = write("three.yaml", any("a", "False") + any("b", "True") + any("c", "True"));
    const config = write(
      "three-policies.yaml",
      `three: { resource: ${three}, certificateRequests: { binding: assume-bound, readiness: status } }\n`,
    );
    const { lines } = await evaluate("three", ["--csr", exampleCsrFile("web"), "--policies", config]);
    assert.deepEqual(lines.slice(-4), [
      'three: Approved by CertificateRequestPolicy: "b"',
      "  a: not ready",
      "  b: approves",
      "  c: not asked: another one approves",
    ]);
  });

  test("not to be read: failed, with the reason", async () => {
    const broken = write(
      "broken.csr",
      "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n",
    );
    const { code, answer, lines } = await evaluate("certificates", ["--csr", broken, ...FOR_SHOP]);
    assert.equal(code, 2);
    assert.equal(answer.status.code, 500);
    assert.equal(lines[0], "certificates: Error: it could not be reviewed");
    assert.match(lines[1] ?? "", /^detail: asn1: /);
  });

  test("what is no request that is decided says why", async () => {
    const args = ["--csr", exampleCsrFile("web"), "--operation", "DELETE"];
    assert.deepEqual((await evaluate("certificates", args)).lines, [
      "certificates: does not apply: only requests that are made or approved are decided",
      "nothing was judged: no policy applies (--allow-empty: exit 0 all the same)",
    ]);
  });

  test("DER, and standard input", async () => {
    const der = firstPemBlock(exampleCsr("web"))?.content ?? Buffer.alloc(0);
    const asked = ["certificates", "--csr"] as const;
    for (const [file, stdin] of [
      [write("web.der", der), ""],
      ["-", der],
      ["-", exampleCsr("web")],
    ] as const) {
      const { code, answer } = await evaluate(asked[0], [asked[1], file, ...FOR_SHOP], stdin);
      assert.deepEqual([code, answer.allowed], [0, true], file);
    }
  });

  test("as a member of a group beside a WASM module, which gets a whole AdmissionReview", async () => {
    const args = [...FOR_SHOP, "--username", CERT_MANAGER];
    const good = await evaluate("group", ["--csr", exampleCsrFile("web"), ...args]);
    assert.equal(good.code, 0);
    assert.equal(good.lines[0], 'group/crp: Approved by CertificateRequestPolicy: "service-certificates"');
    const bad = await evaluate("group", ["--csr", exampleCsrFile("payments"), ...args]);
    assert.equal(bad.code, 1);
    assert.equal(bad.lines[0], "group/crp: Denied: no policy approves it");
    assert.match(bad.lines[3] ?? "", /^ {4}spec\.allowed\.dnsNames/);
  });

  test("--explain shows rules with their values", async () => {
    const args = ["--csr", exampleCsrFile("payments"), ...FOR_SHOP, "--username", CERT_MANAGER, "--explain"];
    const explained = (await evaluate("certificates", args)).lines.slice(5).map((line) => line.trim());
    assert.match(explained[0] ?? "", /^certificates \(CertificateRequestPolicy\): denied: No policy approved/);
    assert.ok(explained.includes("CertificateRequestPolicy 'service-certificates': objects"));
    assert.ok(explained.includes("CertificateRequestPolicy 'public-names': does not match"));
    assert.ok(explained.includes('self  →  "db.payments.svc"'));
  });

  test("a reason does nothing to a terminal", async () => {
    const odd = write(
      "odd.yaml",
      `apiVersion: policy.cert-manager.io/v1alpha1
kind: CertificateRequestPolicy
metadata: { name: odd }
spec: { selector: { issuerRef: {} }, allowed: { dnsNames: { validations: [{ rule: "false", message: "a\\u001b[31m\\nb" }] } } }
`,
    );
    const config = write(
      "odd-policies.yaml",
      `odd: { resource: ${odd}, certificateRequests: { binding: assume-bound } }\n`,
    );
    const { lines } = await evaluate("odd", ["--csr", exampleCsrFile("web"), "--policies", config]);
    const reasons = lines.filter((line) => line.includes("Invalid value"));
    assert.equal(reasons.length, 2);
    for (const reason of reasons) assert.match(reason, /: a\\u001b\[31m b$/);
  });

  const mistakes: Readonly<Record<string, readonly [args: readonly string[], line: RegExp]>> = {
    "a file that is not there": [["--csr", "/nowhere.csr"], /^Error: cannot read \/nowhere\.csr$/],
    "a file of something else": [
      ["--csr", policies],
      /^Error: .*policies\.yaml holds no CSR: it is neither PEM nor DER/,
    ],
    "nothing on standard input": [["--csr", "-"], /^Error: standard input holds no CSR: it is neither/],
    "two questions": [
      ["--csr", "a", "--object", "b"],
      /^Error: give exactly one of --object, --csr, --request and --raw$/,
    ],
    "a former state": [["--csr", "a", "--old", "b"], /^Error: --old is the former state of an --object/],
    "what is said without a CSR": [
      ["--object", "a", "--issuer", "x", "--is-ca"],
      /^Error: --issuer, --is-ca: only for a --csr/,
    ],
    "an issuer without a name": [["--csr", "a", "--issuer", ",b"], /',b' is not name, name,kind or name,kind,group$/],
    "an issuer with too many parts": [["--csr", "a", "--issuer", "a,b,c,d"], /is not name, name,kind/],
    "an unknown usage": [["--csr", "a", "--usages", "server auth,client"], /there is no usage 'client'/],
    "no duration": [["--csr", "a", "--duration", "1d"], /time: unknown unit "d" in duration "1d"$/],
    "an empty username": [["--csr", "a", "--username", ""], /must not be empty$/],
    "an unknown operation": [
      ["--csr", exampleCsrFile("web"), "--operation", "MAKE"],
      /^Error: unknown operation 'MAKE'/,
    ],
  };
  for (const [name, [args, line]] of Object.entries(mistakes)) {
    test(`${name} is told in one line, exit code 2`, async () => {
      const { code, answer, lines } = await evaluate("certificates", args);
      assert.deepEqual([code, answer, lines.length], [2, undefined, 1], lines.join("\n"));
      assert.match(lines[0] ?? "", line);
    });
  }
});

describe("eval --object of a CertificateRequest", () => {
  const asked = async (object: string, ...args: string[]): Promise<string> =>
    (await evaluate("asker", ["--object", "-", ...args], object)).answer.status.message;

  test("is asked about as made by whoever its spec says", async () => {
    const identity = { username: "bob", uid: "u", groups: ["a"], extra: { k: ["v"] } };
    assert.equal(await asked(request(identity)), "CREATE by bob of a");
    assert.match(
      await asked(request(identity), "--operation", "UPDATE"),
      /^UPDATE by kubernetes-admin of /,
      "nobody knows",
    );
    const { code, answer } = await evaluate(
      "certificates",
      ["--object", "-"],
      request({ ...identity, username: CERT_MANAGER, duration: "1h" }),
    );
    assert.deepEqual([code, answer.allowed], [0, true], "the guard lets nobody name somebody else");
  });

  test("without a username the administrator asks", async () => {
    const { code, answer } = await evaluate("certificates", ["--object", "-"], request({ duration: "1h" }));
    assert.equal(code, 0);
    assert.match(answer.status.message, /^Approved by/);
  });
});
