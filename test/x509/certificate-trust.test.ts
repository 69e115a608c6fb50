/** `crypto/v1/is_certificate_trusted`, spec kubewarden.md 7.5. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { cryptoCapability } from "../../src/wasm/host/crypto.js";
import { cpuMilliseconds } from "../support/cpu-time.js";

const folder = new URL("../../../test/vectors/certificates/", import.meta.url);
const YEAR_2030 = Date.parse("2030-01-01T00:00:00Z");
const capability = cryptoCapability(() => YEAR_2030);
const run = capability.operations["v1/is_certificate_trusted"]?.run;
const context = {
  caller: { policy: "p", capabilities: { allows: () => true }, contextAwareResources: [] },
  signal: new AbortController().signal,
};
const ask = (payload: unknown): Promise<unknown> =>
  run?.(payload, context) ?? Promise.reject(new Error("no operation"));
const pem = (name: string) => ({ encoding: "Pem", data: [...readFileSync(new URL(`${name}.pem`, folder))] });
const der = (name: string) => ({
  encoding: "Der",
  data: [...new X509Certificate(readFileSync(new URL(`${name}.pem`, folder))).raw],
});
const trusts = (leaf: string, chain: readonly string[] | null, not_after?: string | null) =>
  ask({ cert: pem(leaf), cert_chain: chain?.map(pem) ?? null, not_after });

const UNTRUSTED = { trusted: false, reason: "Certificate is not trusted by the provided cert chain" };
const TRUSTED = { trusted: true, reason: "" };

describe("certificate trust", () => {
  test("by the root itself", async () => assert.deepEqual(await trusts("direct", ["root"]), TRUSTED));
  test("by way of an intermediate", async () =>
    assert.deepEqual(await trusts("leaf", ["intermediate", "root"]), TRUSTED));
  test("in any order of intermediates", async () =>
    assert.deepEqual(await trusts("leaf", ["sub-authority", "intermediate", "root"]), TRUSTED));
  test("DER is read too", async () =>
    assert.deepEqual(await ask({ cert: der("leaf"), cert_chain: [der("intermediate"), der("root")] }), TRUSTED));
  test("the last of the list is the root: an intermediate may be one", async () =>
    assert.deepEqual(await trusts("leaf", ["intermediate"]), TRUSTED));
  test("without the intermediate there is no path", async () =>
    assert.deepEqual(await trusts("leaf", ["root"]), UNTRUSTED));
  test("an empty list trusts nobody", async () => assert.deepEqual(await trusts("leaf", []), UNTRUSTED));
  test("a stranger's root", async () =>
    assert.deepEqual(await trusts("leaf", ["intermediate", "other-root"]), UNTRUSTED));
  test("a root of the same name and another key", async () =>
    assert.deepEqual(await trusts("direct", ["fake-root"]), UNTRUSTED));
  test("a certificate that is no authority can't issue", async () =>
    assert.deepEqual(await trusts("below-leaf", ["not-ca", "root"]), {
      trusted: false,
      reason: "Certificate not trusted: EndEntityUsedAsCa",
    }));
  test("an intermediate that has expired", async () =>
    assert.deepEqual(await trusts("below-short", ["short-authority", "root"]), {
      trusted: false,
      reason: "Certificate is being used after its expiration date",
    }));
  test("the root's own dates do not matter", async () =>
    assert.deepEqual(await trusts("below-short", ["short-authority"]), TRUSTED));
  test("an authority is no end entity", async () =>
    assert.deepEqual(await trusts("sub-authority", ["root"]), {
      trusted: false,
      reason: "Certificate not trusted: CaUsedAsEndEntity",
    }));
  test("before its time", async () =>
    assert.deepEqual(await trusts("direct", ["root"], "2020-01-01T00:00:00Z"), {
      trusted: false,
      reason: "Certificate is being used before its validity date",
    }));
  test("after its time", async () =>
    assert.deepEqual(await trusts("direct", ["root"], "2300-01-01T00:00:00+02:00"), {
      trusted: false,
      reason: "Certificate is being used after its expiration date",
    }));
  for (const now of ["", null, undefined])
    test(`now, when not_after is ${JSON.stringify(now)}`, async () =>
      assert.deepEqual(await trusts("direct", ["root"], now), TRUSTED));
  test("without a list, Mozilla's roots", async () => assert.deepEqual(await trusts("leaf", null), UNTRUSTED));

  test("a moment in another format", () =>
    assert.rejects(trusts("direct", ["root"], "yesterday"), {
      message: "Timestamp not_after is not in RFC3339 format",
    }));
  test("PEM that is none", () =>
    assert.rejects(ask({ cert: { encoding: "Pem", data: [65] }, cert_chain: [] }), {
      message: /^Certificate PEM data is not valid: /,
    }));
  test("bytes behind an intermediate are the problem that is told, and not that nobody issued the leaf", async () => {
    const { encoding, data } = der("intermediate");
    const longer = { encoding, data: [...data, 0] };
    assert.deepEqual(await ask({ cert: der("leaf"), cert_chain: [longer, der("root")] }), {
      trusted: false,
      reason: "Certificate not trusted: TrailingData(Certificate)",
    });
  });
  test("DER that is none", () =>
    assert.rejects(ask({ cert: { encoding: "Der", data: [65] }, cert_chain: [] }), {
      message: /^Certificate is not a valid end-entity certificate: /,
    }));
  test("bytes that are none", () =>
    assert.rejects(ask({ cert: { encoding: "Der", data: [256] }, cert_chain: [] }), { name: "PayloadError" }));
});

interface Chain {
  readonly cert: string;
  readonly chain: readonly string[];
  /** Seconds since 1970. */
  readonly at: number;
}
interface Verdict {
  readonly trusted?: boolean;
  readonly reason?: string;
  readonly error?: string;
}

/** The DER of certificates in base64, and what is made of them. */
async function verdictOf({ cert, chain, at }: Chain): Promise<Verdict> {
  const sent = (base64: string) => ({ encoding: "Der", data: [...Buffer.from(base64, "base64")] });
  try {
    const not_after = new Date(at * 1000).toISOString();
    return (await ask({ cert: sent(cert), cert_chain: chain.map(sent), not_after })) as Verdict;
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

describe("certificate trust is judged as the reference implementation's library does", () => {
  const lines = readFileSync(new URL("chains.jsonl", folder), "utf8").trim().split("\n");
  for (const [index, line] of lines.entries()) {
    const { cert, chain, at, ...expected } = JSON.parse(line) as Chain & Verdict;
    test(`chain ${index + 1}: ${expected.error ?? (expected.reason || "trusted")}`, async () =>
      assert.deepEqual(await verdictOf({ cert, chain, at }), expected));
  }

  test("but an authority whose key may not sign certificates does not", async () => {
    const chain = JSON.parse(readFileSync(new URL("no-cert-sign.json", folder), "utf8")) as Chain;
    assert.deepEqual(await verdictOf(chain), {
      trusted: false,
      reason: "Certificate not trusted: IssuerNotCertSigner",
    });
  });

  test("intermediates that all signed each other are given up early", async () => {
    const chain = JSON.parse(lines.find((line) => line.includes('"reason":""')) ?? "") as Chain;
    const [root] = chain.chain.slice(-1);
    assert.ok(root);
    const took = await cpuMilliseconds(() =>
      verdictOf({ ...chain, chain: [...Array(500).fill(chain.chain[0]), root] }),
    );
    assert.ok(took < 2_000, `${took} ms`);
  });
});
