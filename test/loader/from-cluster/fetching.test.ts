import assert from "node:assert/strict";
import { test } from "node:test";
import type { FetchTerms } from "../../../src/config/from-cluster/index.js";
import type { Sources } from "../../../src/config/sources.js";
import { createModuleFetcher, FetchError } from "../../../src/fetch/index.js";
import { fetchOptions } from "../../../src/loader/fetch-options.js";
import { fetchingUnder } from "../../../src/loader/from-cluster/fetching.js";
import { newKeys } from "../../fetch/certificates.js";
import { folder, insecure } from "../../fetch/helpers.js";
import { TestSigstore } from "../../fetch/signatures/test-sigstore.js";
import { TestRegistry } from "../../fetch/test-registry.js";

const NO_SOURCES: Sources = { insecure: new Set(), authorities: new Map() };
const OPTIONS = fetchOptions({ downloadDirectory: "/nonexistent" });

test("exceptions for hosts add up", () => {
  const options = { ...OPTIONS, sources: { insecure: new Set(["a"]), authorities: new Map([["h", ["1"]]]) } };
  const sources = {
    insecure: new Set(["b"]),
    authorities: new Map([
      ["h", ["2"]],
      ["i", ["3"]],
    ]),
  };
  assert.deepEqual(fetchingUnder({ sources }, options).sources, {
    insecure: new Set(["a", "b"]),
    authorities: new Map([
      ["h", ["1", "2"]],
      ["i", ["3"]],
    ]),
  });
  assert.equal(fetchingUnder({ sources: NO_SOURCES }, OPTIONS).verifier, undefined);
});

test("signatures that the server wants and those that the PolicyServer wants must both be there, of one image", async (context) => {
  const registry = await TestRegistry.start(context);
  const keys = newKeys();
  const digest = registry.pushModule("signed", "v1", Buffer.from([0, 0x61, 0x73, 0x6d]));
  new TestSigstore().sign(registry, "signed", digest, [{ keys }]);
  const pem = (of: ReturnType<typeof newKeys>) => of.publicKey.export({ type: "spki", format: "pem" }).toString();
  const fetching = async (key: string, first: () => Promise<string>): Promise<string> => {
    const asked = { ...OPTIONS, downloadDirectory: folder(context), sources: insecure(registry.host) };
    const options = { ...asked, verifier: () => ({ verify: first }) };
    const terms: FetchTerms = { sources: NO_SOURCES, verification: { allOf: [{ kind: "pubKey", key }] } };
    const fetcher = createModuleFetcher(fetchingUnder(terms, options));
    context.after(() => fetcher.close());
    return fetcher.file(`registry://${registry.host}/signed:v1`).then(
      () => "fetched",
      (error: unknown) => (error instanceof FetchError ? error.stage : assert.fail(String(error))),
    );
  };
  const refuses = () => Promise.reject(new FetchError("not this one", { stage: "verify" }));
  assert.equal(await fetching(pem(keys), async () => digest), "fetched");
  assert.equal(await fetching(pem(newKeys()), async () => digest), "verify");
  assert.equal(await fetching(pem(keys), refuses), "verify");
});
