import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { InputFile } from "../../../src/offline/scan/input-files.js";
import { ScanError } from "../../../src/offline/scan/scan-error.js";
import { certificateRequestOf, withCertificateRequests } from "../../../src/offline/scan/signing-request.js";
import { unknownUsage } from "../../../src/offline/scan/usages.js";
import { firstPemBlock } from "../../../src/x509/pem.js";
import { exampleCsr } from "../../support/example-csrs.js";

const pem = exampleCsr("web");

const file = (name: string, content: Buffer | string): InputFile => ({
  name,
  given: name,
  inFolder: false,
  bytes: content.length,
  async *read() {
    yield Buffer.from(content);
  },
});

async function textOf({ read }: InputFile): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of read()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

describe("a CertificateRequest of a CSR", () => {
  test("has what is said, and cert-manager's form", () =>
    assert.deepEqual(
      certificateRequestOf(pem, "certs/web.csr", {
        namespace: "shop",
        issuer: { name: "ca", kind: "ClusterIssuer" },
        usages: ["server auth"],
        duration: "24h",
        isCa: true,
        username: "bob",
        groups: [],
      }),
      {
        apiVersion: "cert-manager.io/v1",
        kind: "CertificateRequest",
        metadata: { name: "web", namespace: "shop" },
        spec: {
          request: pem.toString("base64"),
          issuerRef: { name: "ca", kind: "ClusterIssuer" },
          usages: ["server auth"],
          duration: "24h",
          isCA: true,
          username: "bob",
          groups: [],
        },
      },
    ));

  test("has no more than it must where nothing is said", () => {
    const { metadata, spec } = certificateRequestOf(pem, "-", {});
    assert.deepEqual(metadata, { name: "csr", namespace: "default" });
    assert.deepEqual(spec, { request: pem.toString("base64"), issuerRef: { name: "" } });
  });

  test("its name is that of the file, or the one that is given", () => {
    const nameOf = (path: string, requestName?: string) =>
      certificateRequestOf(pem, path, { ...(requestName && { requestName }) }).metadata;
    assert.deepEqual(nameOf("a/b.c.pem"), { name: "b.c", namespace: "default" });
    assert.deepEqual(nameOf("a/.pem"), { name: ".pem", namespace: "default" });
    assert.deepEqual(nameOf("a/b.pem", "x"), { name: "x", namespace: "default" });
  });

  const groups: Readonly<Record<string, readonly string[]>> = {
    alice: ["system:authenticated"],
    "system:serviceaccount:a:b": ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"],
    "system:serviceaccount:a": ["system:authenticated"],
  };
  for (const [username, expected] of Object.entries(groups)) {
    test(`${username} has the groups that an API server gives`, () =>
      assert.deepEqual((certificateRequestOf(pem, "x", { username }).spec as { groups: unknown }).groups, expected));
  }

  test("a file without one, or too large to be one, is named", () => {
    const refused = (content: Buffer) => () => certificateRequestOf(content, "x.csr", {});
    assert.throws(
      refused(Buffer.from("x")),
      new ScanError("x.csr holds no CSR: it is neither PEM nor DER of a certification request"),
    );
    assert.throws(
      refused(Buffer.concat([pem, Buffer.alloc(1024 * 1024)])),
      new ScanError("x.csr holds no CSR: it is too large"),
    );
  });

  test("groups are somebody's", () =>
    assert.throws(
      () => certificateRequestOf(pem, "x.csr", { groups: ["dev", "ops"] }),
      new ScanError("whose groups are dev, ops? Say the username as well"),
    ));

  test("usages are cert-manager's", () => {
    assert.equal(unknownUsage(["server auth", "any"]), undefined);
    assert.equal(unknownUsage(["any", "server-auth"]), `there is no usage 'server-auth' (did you mean "server auth"?)`);
  });
});

describe("CSRs among files", () => {
  test("become CertificateRequests, recognised by ending or beginning; others stay", async () => {
    const others = [file("a.yaml", "-----BEGIN"), file("b.json", "{}"), file("c", "kind: Pod"), file("d", "")];
    const der = firstPemBlock(pem)?.content ?? "";
    const csrs = [file("e.csr", `text\n${pem}`), file("f", pem), file("g.bin", der), file("h.PEM", pem)];
    const { files, made } = await withCertificateRequests([...others, ...csrs], { namespace: "shop" });
    assert.equal(made, 4);
    assert.deepEqual(files.slice(0, 4), others);
    for (const [index, name] of ["e", "f", "g", "h"].entries()) {
      const found = files[index + 4];
      assert.ok(found);
      const written = await textOf(found);
      assert.equal(found.bytes, written.length);
      assert.deepEqual(JSON.parse(written).metadata, { name, namespace: "shop" });
    }
  });

  test("a file that is called like one must hold one", async () =>
    assert.rejects(withCertificateRequests([file("x.pem", "kind: Pod")], {}), /^ScanError: x\.pem holds no CSR/));

  test("two that would have one name are refused: only one of them would be judged", async () =>
    assert.rejects(
      withCertificateRequests([file("a/x.csr", pem), file("b/x.pem", pem)], {}),
      /a\/x\.csr and b\/x\.pem would both be the CertificateRequest x/,
    ));
});
