/** What guests ask registries, all the way: guest, gates, capability, registry, signatures. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseConfig } from "../../src/config/index.js";
import { createPolicyLoader } from "../../src/loader/index.js";
import type { Outcome } from "../../src/policy/index.js";
import { newKeys } from "../fetch/certificates.js";
import { checksWith, folder, insecure } from "../fetch/helpers.js";
import { TestSigstore } from "../fetch/signatures/test-sigstore.js";
import { TestRegistry } from "../fetch/test-registry.js";
import { context as patience, raw } from "../wasm/support.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const POLICIES = `
granted: { module: test/fixtures/chaos/wapc.wasm, hostCapabilities: ["oci/*"] }
other: { module: test/fixtures/chaos/wasi.wasm, hostCapabilities: ["net/*"] }
`;

test("guests ask about images and their signatures", async (context) => {
  const registry = await TestRegistry.start(context);
  const keys = newKeys();
  const key = keys.publicKey.export({ type: "spki", format: "pem" }).toString();
  const digest = registry.pushModule("signed", "v1", Buffer.from("an image"));
  new TestSigstore().sign(registry, "signed", digest, [{ keys }]);
  registry.pushModule("plain", "v1", Buffer.from("another"));
  const loader = createPolicyLoader({
    policyTimeout: 10_000,
    workers: 1,
    now: () => performance.now(),
    log: () => {},
    violation: () => {},
    fetch: {
      downloadDirectory: folder(context),
      environment: { HOME: "/nonexistent" },
      sources: insecure(registry.host),
      signatures: checksWith(() => Promise.reject(new Error("no trust root in this test"))),
    },
  });
  context.after(() => loader.close());
  const read = parseConfig(POLICIES, `${root}/policies.yaml`);
  assert.ok(read.ok);
  const { policies } = await loader.load(read.config);
  const ask = async (policy: string, operation: string, payload: unknown): Promise<string | undefined> => {
    const mode = `host:kubewarden:oci:${operation}:${JSON.stringify(payload)}`;
    const outcome: Outcome | undefined = await policies.entries.get(policy)?.policy.evaluate(raw({ mode }), patience());
    assert.ok(outcome?.verdict === "deny", JSON.stringify(outcome));
    return outcome.message;
  };

  assert.equal(await ask("granted", "v1/manifest_digest", `${registry.host}/signed:v1`), `+{"digest":"${digest}"}`);
  const verify = (image: string) => ({
    type: "SigstorePubKeyVerify",
    image: `${registry.host}/${image}`,
    pub_keys: [key],
  });
  assert.equal(await ask("granted", "v2/verify", verify("signed:v1")), `+{"is_trusted":true,"digest":"${digest}"}`);
  assert.equal(
    await ask("granted", "v2/verify", verify("plain:v1")),
    `-Callback evaluation failure: no signatures found for image: ${registry.host}/plain:v1 `,
  );
  assert.match(
    (await ask("granted", "v1/manifest_digest", `${registry.host}/absent:v1`)) ?? "",
    /^-Callback evaluation failure: /,
  );
  assert.equal(
    await ask("other", "v2/verify", verify("signed:v1")),
    "-Policy has not been granted access to the 'oci/v2/verify' host capability. The violation has been reported.",
  );
});
