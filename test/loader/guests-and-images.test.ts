/** What guests ask registries, all the way: guest, gates, capability, registry, signatures. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseConfig } from "../../src/config/index.js";
import { createLoader } from "../../src/loader/index.js";
import type { LoaderSettings } from "../../src/loader/settings.js";
import type { Outcome } from "../../src/policy/index.js";
import { newKeys } from "../fetch/certificates.js";
import { checksWith, folder, insecure } from "../fetch/helpers.js";
import { TestSigstore } from "../fetch/signatures/test-sigstore.js";
import { TestRegistry } from "../fetch/test-registry.js";
import { context as patience, raw } from "../wasm/support.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const KEY = readFileSync(`${root}/test/fixtures/sigstore/cosign.pub`, "utf8");
const POLICIES = `
granted: { module: test/fixtures/chaos/wapc.wasm, hostCapabilities: ["oci/*"] }
other: { module: test/fixtures/chaos/wasi.wasm, hostCapabilities: ["net/*"] }
`;

/** What a guest that may do so, or one that may not, is told; registries without TLS may be asked. */
async function asking(context: TestContext, ...hosts: readonly string[]) {
  return askingWith(context, {}, ...hosts);
}

async function askingWith(context: TestContext, settings: LoaderSettings, ...hosts: readonly string[]) {
  const signatures = checksWith(() => Promise.reject(new Error("no trust root in this test")));
  const loader = createLoader(
    {
      policyTimeout: 60_000,
      workers: 1,
      downloadDirectory: folder(context),
      environment: { HOME: "/nonexistent" },
      ...settings,
    },
    { fetch: { sources: insecure(...hosts), signatures } },
  );
  context.after(() => loader.close());
  const read = parseConfig(POLICIES, `${root}/policies.yaml`);
  assert.ok(read.ok);
  const { policies } = await loader.load(read.config);
  return async (policy: string, operation: string, payload: unknown): Promise<string | undefined> => {
    const mode = `host:kubewarden:oci:${operation}:${JSON.stringify(payload)}`;
    const outcome: Outcome | undefined = await policies.entries.get(policy)?.policy.evaluate(raw({ mode }), patience());
    assert.ok(outcome?.verdict === "deny", JSON.stringify(outcome));
    return outcome.message;
  };
}

test("guests ask about images and their signatures", async (context) => {
  const registry = await TestRegistry.start(context);
  const keys = newKeys();
  const key = keys.publicKey.export({ type: "spki", format: "pem" }).toString();
  const digest = registry.pushModule("signed", "v1", Buffer.from("an image"));
  new TestSigstore().sign(registry, "signed", digest, [{ keys }]);
  registry.pushModule("plain", "v1", Buffer.from("another"));
  const ask = await asking(context, registry.host);
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

test("guests ask image layouts in place of registries", async (context) => {
  const registry = await TestRegistry.start(context);
  const layout = `${root}/test/fixtures/sigstore`;
  const named = registry.load("team/p", layout);
  const settings = { imageLayouts: [`${registry.host}/team/p=${layout}`] };
  const ask = await askingWith(context, settings, registry.host);
  const image = `${registry.host}/team/p:key`;
  assert.equal(await ask("granted", "v1/manifest_digest", image), `+{"digest":"${named.get("key")}"}`);
  assert.match((await ask("granted", "v1/oci_manifest", image)) ?? "", /^\+\{"schemaVersion":2,/);
  const verify = { type: "SigstorePubKeyVerify", image: `${registry.host}/team/p:unsigned`, pub_keys: [KEY] };
  assert.match((await ask("granted", "v2/verify", verify)) ?? "", /no signatures found/);
  assert.match((await ask("granted", "v1/manifest_digest", `${image}s`)) ?? "", /is not in the image layout/);
  assert.deepEqual(registry.requests, []);
});

test("guests ask nobody at blocked addresses, in whatever way they are written or reached", async (context) => {
  let connections = 0;
  const silent = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  context.after(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const registry = await TestRegistry.start(context);
  registry.special.set("/v2/away/manifests/v1", (_, response) =>
    response.writeHead(302, { location: `https://127.0.0.1:${port}/v2/away/manifests/v1` }).end(),
  );
  const ask = await asking(context, registry.host);
  const key = newKeys().publicKey.export({ type: "spki", format: "pem" }).toString();
  const blocked = /^-Callback evaluation failure: its registry is at a blocked address$/;
  for (const host of [
    `127.0.0.1:${port}`,
    `[::ffff:0:7f00:1]:${port}`,
    `[64:ff9b:1::7f00:1]:${port}`,
    "169.254.169.254",
    "169.254.20.10",
    "[fe80::1]",
  ]) {
    for (const operation of ["v1/manifest_digest", "v1/oci_manifest", "v1/oci_manifest_config"])
      assert.match((await ask("granted", operation, `${host}/app:v1`)) ?? "", blocked, `${operation} ${host}`);
    const wanted = { type: "SigstorePubKeyVerify", image: `${host}/app:v1`, pub_keys: [key] };
    assert.match((await ask("granted", "v2/verify", wanted)) ?? "", blocked, host);
  }
  assert.match((await ask("granted", "v1/manifest_digest", `${registry.host}/away:v1`)) ?? "", blocked);
  assert.match((await ask("granted", "v1/manifest_digest", `localhost:${port}/app:v1`)) ?? "", /cannot be reached$/);
  assert.equal(connections, 0);
});

test("a registry whose host is none is named as that", async (context) => {
  const ask = await asking(context);
  for (const host of ["127.1", "256.1.1.1", "reg.example:99999"])
    assert.equal(
      await ask("granted", "v1/manifest_digest", `${host}/app:v1`),
      "-Callback evaluation failure: invalid image reference: bad host",
    );
});
