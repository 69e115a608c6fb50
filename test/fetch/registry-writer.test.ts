import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { FetchError } from "../../src/fetch/fetch-error.js";
import { parseImageReference } from "../../src/fetch/image-reference.js";
import { openRegistries } from "../../src/fetch/registry-access.js";
import { moduleArtifact } from "../../src/fetch/registry-writer.js";
import { folder, insecure, WASM } from "./helpers.js";
import { type RegistryOptions, sha256, TestRegistry } from "./test-registry.js";

/** Pushes a module into a registry that may have answers of its own. */
async function push(
  context: TestContext,
  options: RegistryOptions = {},
  prepare: (registry: TestRegistry) => void = () => {},
) {
  const registry = await TestRegistry.start(context, options);
  prepare(registry);
  const auth = Buffer.from("me:secret").toString("base64");
  const home = folder(context, { ".docker/config.json": JSON.stringify({ auths: { [registry.host]: { auth } } }) });
  const access = openRegistries({
    environment: { HOME: home, DOCKER_CONFIG: join(home, ".docker") },
    sources: insecure(registry.host),
  });
  context.after(() => access.close());
  const image = parseImageReference(`${registry.host}/team/p:v1`);
  const pushed = access.writer.push(image, moduleArtifact(WASM, {}), AbortSignal.timeout(600_000));
  return { registry, pushed };
}

const UPLOADS = "/v2/team/p/blobs/uploads/";

describe("writing into registries", () => {
  test("asks for a token that may write, once", async (context) => {
    const scopes: (string | null)[] = [];
    const { registry, pushed } = await push(context, { login: "bearer", user: "me:secret" }, (made) => {
      const listener: RequestListener = (request, response) => {
        scopes.push(new URL(request.url ?? "", "http://x").searchParams.get("scope"));
        response.end(JSON.stringify({ token: "secret", expires_in: 300 }));
      };
      made.special.set("/token", listener);
    });
    assert.equal(await pushed, sha256(registry.manifests.get("team/p:v1") ?? ""));
    assert.deepEqual(scopes, ["repository:team/p:pull,push"]);
  });

  test("storage elsewhere gets the module, and not the log-in", async (context) => {
    const storage = await TestRegistry.start(context);
    const seen: (string | undefined)[] = [];
    storage.special.set("/store", (request, response) => {
      seen.push(request.headers.authorization);
      request.resume().on("end", () => response.writeHead(201).end());
    });
    const { pushed, registry } = await push(context, { login: "basic", user: "me:secret" }, (made) => {
      made.special.set(UPLOADS, (request, response) => {
        if (request.headers.authorization === undefined) response.writeHead(401, { "www-authenticate": "Basic" }).end();
        else response.writeHead(202, { location: `http://${storage.host}/store` }).end();
      });
    });
    // This registry has not got what was stored elsewhere.
    await assert.rejects(pushed, /MANIFEST_BLOB_UNKNOWN/);
    assert.deepEqual(seen, [undefined, undefined]);
    assert.equal(
      registry.requests.some((request) => request === `PUT ${UPLOADS}1`),
      false,
    );
  });

  const refusals: Readonly<Record<string, readonly [path: string, answer: RequestListener, says: RegExp]>> = {
    "an upload that leads nowhere": [
      UPLOADS,
      (_, response) => response.writeHead(202).end(),
      /does not say where a blob of team\/p is to be sent/,
    ],
    "a file as the place of an upload": [
      UPLOADS,
      (_, response) => response.writeHead(202, { location: "file:///etc/passwd" }).end(),
      /without TLS/,
    ],
    "another digest than what was sent": [
      "/v2/team/p/manifests/v1",
      (_, response) => response.writeHead(201, { "docker-content-digest": sha256("other") }).end(),
      /the registry says its digest is/,
    ],
    "a refusal, in the registry's words": [
      UPLOADS,
      (_, response) =>
        response.writeHead(403).end(JSON.stringify({ errors: [{ code: "DENIED", message: "not yours" }] })),
      /answers 403 \(DENIED: not yours\) to POST/,
    ],
  };
  for (const [what, [path, answer, says]] of Object.entries(refusals)) {
    test(`${what} is an error`, async (context) => {
      const { pushed } = await push(context, {}, (made) => made.special.set(path, answer));
      await assert.rejects(pushed, (error) => error instanceof FetchError && says.test(error.message));
    });
  }
});

test("annotations of several lines are left out of an artifact, and the others sorted", () => {
  const { annotations } = moduleArtifact(WASM, { z: "1", a: "one\n", b: "one\ntwo" });
  assert.deepEqual(Object.entries(annotations), [
    ["a", "one\n"],
    ["z", "1"],
  ]);
});
