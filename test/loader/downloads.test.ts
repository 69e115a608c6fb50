import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseConfig } from "../../src/config/load-config.js";
import type { VerificationConfig } from "../../src/config/verification.js";
import { imageVerifier } from "../../src/fetch/index.js";
import { createLoader } from "../../src/loader/index.js";
import { newKeys } from "../fetch/certificates.js";
import { checksWith, folder, insecure } from "../fetch/helpers.js";
import { TestSigstore } from "../fetch/signatures/test-sigstore.js";
import { TestRegistry } from "../fetch/test-registry.js";

const WASM = readFileSync(new URL("../../../policies/privileged-pods/policy.wasm", import.meta.url));

/** Loads a configuration whose modules come from a registry. */
async function load(context: TestContext, registry: TestRegistry, text: string, verification?: VerificationConfig) {
  const settings = { downloadDirectory: folder(context), environment: { HOME: "/nonexistent" }, policyTimeout: 60_000 };
  const checks = checksWith(() => Promise.reject(new Error("no trust root in this test")));
  const loader = createLoader(settings, {
    fetch: {
      sources: insecure(registry.host),
      ...(verification && { verifier: (client) => imageVerifier(verification, client, checks) }),
    },
  });
  context.after(() => loader.close());
  const result = parseConfig(text.replaceAll("HOST", registry.host), join(folder(context), "policies.yaml"));
  assert.ok(result.ok);
  assert.deepEqual(result.problems, []);
  const { policies, problems } = await loader.load(result.config);
  const unavailable = [...policies.entries.values()].flatMap(({ id, unavailable: why }) => (why ? [[id, why]] : []));
  return { unavailable, problems: problems.map(({ message }) => message) };
}

test("policies and members load from a registry, signed ones only when verification is asked for", async (context) => {
  const registry = await TestRegistry.start(context);
  const keys = newKeys();
  const key = keys.publicKey.export({ type: "spki", format: "pem" }).toString();
  new TestSigstore().sign(registry, "signed", registry.pushModule("signed", "v1", WASM), [{ keys }]);
  registry.pushModule("plain", "v1", WASM);
  const text = `
signed: {module: "HOST/signed:v1"}
group:
  expression: plain() || signed()
  message: 'no'
  policies: {plain: {module: "registry://HOST/plain:v1"}, signed: {policy: signed}}
`;
  assert.deepEqual(await load(context, registry, text), { unavailable: [], problems: [] });
  const { unavailable, problems } = await load(context, registry, text, { allOf: [{ kind: "pubKey", key }] });
  const why = "Policy 'group/#plain' cannot be verified: no signatures found";
  assert.deepEqual(unavailable, [["group/plain", `${why}; the server's log says more`]]);
  assert.deepEqual(problems, [`${why} for image: ${registry.host}/plain:v1 `]);
});

test("downloads run side by side", async (context) => {
  const server = await TestRegistry.start(context);
  const waiting: ServerResponse[] = [];
  for (const name of ["a", "b", "c"]) {
    server.special.set(`/${name}.wasm`, (_, response) => {
      waiting.push(response);
      if (waiting.length === 3) for (const each of waiting) each.end(WASM);
    });
  }
  const text = `
a: {module: "http://HOST/a.wasm"}
b: {module: "http://HOST/b.wasm"}
g: {expression: c(), message: 'no', policies: {c: {module: "http://HOST/c.wasm"}}}
`;
  assert.deepEqual(await load(context, server, text), { unavailable: [], problems: [] });
});
