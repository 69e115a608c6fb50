import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { newCertificate } from "./certificates.js";
import { failureOf, fetcher, folder, insecure, WASM } from "./helpers.js";
import { sha256, TestRegistry } from "./test-registry.js";

const CA = newCertificate({ name: "test CA", authority: true });
const SERVER = newCertificate({ name: "localhost", issuer: CA, hosts: ["localhost"] });
const MANIFEST_LAYER = "application/vnd.wasm.content.layer.v1+wasm";

describe("modules from OCI registries", () => {
  test("are pulled by tag and by digest, the first WASM layer counts", async (context) => {
    const registry = await TestRegistry.start(context);
    const digest = registry.push("team/policy", "v1", [
      { mediaType: "text/plain", bytes: Buffer.from("readme") },
      { mediaType: MANIFEST_LAYER, bytes: WASM },
      { mediaType: MANIFEST_LAYER, bytes: Buffer.from("another") },
    ]);
    const modules = fetcher(context, { sources: insecure(registry.host) });
    const byTag = await modules.fetch(`registry://${registry.host}/team/policy:v1`);
    assert.deepEqual(Buffer.from(byTag.bytes), WASM);
    assert.equal(byTag.digest, sha256(WASM));
    const byDigest = await modules.fetch(`registry://${registry.host}/team/policy@${digest}`);
    assert.equal(byDigest.digest, byTag.digest);
  });

  test("an equal address is fetched once, also when asked at the same time", async (context) => {
    const registry = await TestRegistry.start(context);
    registry.pushModule("p", "latest", WASM);
    const modules = fetcher(context, { sources: insecure(registry.host) });
    const location = `registry://${registry.host}/p`;
    const [first, second] = await Promise.all([modules.file(location), modules.file(location)]);
    assert.equal(first, second);
    assert.equal(registry.requests.length, 2);
  });

  test("a file in the download folder is reused, except for the tag latest and when it is damaged", async (context) => {
    const registry = await TestRegistry.start(context);
    registry.pushModule("p", "v1", WASM);
    registry.pushModule("p", "latest", WASM);
    const downloadDirectory = folder(context);
    const pull = async (tag: string) => {
      const before = registry.requests.length;
      const modules = fetcher(context, { downloadDirectory, sources: insecure(registry.host) });
      assert.equal((await modules.fetch(`registry://${registry.host}/p${tag}`)).digest, sha256(WASM));
      return registry.requests.length - before;
    };
    assert.equal(await pull(":v1"), 2);
    const kept = join(downloadDirectory, "registry", registry.host, "p:v1");
    assert.ok(existsSync(kept));
    assert.equal(await pull(":v1"), 0);
    writeFileSync(kept, "damaged");
    assert.equal(await pull(":v1"), 2);
    assert.equal(await pull(":latest"), 2);
    assert.equal(await pull(""), 1, "the manifest is asked for, the module is still the same");
    const changed = Buffer.concat([WASM, Buffer.from("2")]);
    registry.pushModule("p", "latest", changed);
    const modules = fetcher(context, { downloadDirectory, sources: insecure(registry.host) });
    assert.equal((await modules.fetch(`registry://${registry.host}/p`)).digest, sha256(changed));
    assert.deepEqual(readdirSync(join(downloadDirectory, "registry", registry.host)).sort(), [
      "p:latest",
      "p:latest.digest",
      "p:v1",
      "p:v1.digest",
    ]);
  });

  test("the tag latest is taken from the download folder while the registry is in trouble, and said so", async (context) => {
    const registry = await TestRegistry.start(context);
    registry.pushModule("p", "latest", WASM);
    const downloadDirectory = folder(context);
    const warnings: string[] = [];
    const pull = () =>
      fetcher(context, {
        downloadDirectory,
        sources: insecure(registry.host),
        warn: (message) => warnings.push(message),
      }).fetch(`registry://${registry.host}/p`);
    await pull();
    registry.special.set("/v2/p/manifests/latest", (_, response) => response.writeHead(503).end());
    assert.equal((await pull()).digest, sha256(WASM));
    registry.special.set("/v2/p/manifests/latest", (request) => request.socket.destroy());
    assert.equal((await pull()).digest, sha256(WASM));
    assert.equal(warnings.length, 2);
    assert.match(
      warnings[0]!,
      /answers 503 to GET .*; registry:\/\/localhost:\d+\/p is taken from the download folder/,
    );
    registry.special.set("/v2/p/manifests/latest", (_, response) => response.writeHead(404).end());
    assert.match(await failureOf(pull()), /answers 404/);
  });

  test("a download folder that can't be written costs only a warning", async (context) => {
    const registry = await TestRegistry.start(context);
    registry.pushModule("p", "v1", WASM);
    const file = join(folder(context, { file: "" }), "file");
    const warnings: string[] = [];
    const modules = fetcher(context, {
      downloadDirectory: file,
      sources: insecure(registry.host),
      warn: (message) => warnings.push(message),
    });
    await modules.fetch(`registry://${registry.host}/p:v1`);
    assert.equal(warnings.length, 1);
  });

  test("an unknown image, an artifact without module and a wrong digest are errors", async (context) => {
    const registry = await TestRegistry.start(context);
    registry.push("empty", "v1", [{ mediaType: "text/plain", bytes: WASM }]);
    registry.pushModule("broken", "v1", WASM);
    registry.blobs.set(sha256(WASM), Buffer.from("x".repeat(WASM.length)));
    const modules = fetcher(context, { sources: insecure(registry.host) });
    const fail = (path: string) => failureOf(modules.fetch(`registry://${registry.host}/${path}`));
    assert.equal(
      await fail("nope:v1"),
      `Error while downloading policy 'p' from M: ${registry.host}/nope:v1: the registry answers 404 (MANIFEST_UNKNOWN: manifest unknown) to GET /v2/nope/manifests/v1`,
    );
    assert.match(await fail("empty:v1"), /could not pull policy registry:\/\/localhost:\d+\/empty:v1: empty layers$/);
    assert.match(await fail("broken:v1"), /^Verification of policy p failed: the layer of .* has the digest sha256:/);
    const digest = sha256("other");
    registry.manifests.set(`broken@${digest}`, registry.manifests.get("broken:v1")!);
    assert.match(await fail(`broken@${digest}`), /^Verification of policy p failed: the manifest of .* has the digest/);
    assert.match(await fail("p:bad tag"), /bad tag "bad tag"/);
  });
});

describe("hosts of sources.yml", () => {
  test("a host with a CA of its own is reached by TLS", async (context) => {
    const registry = await TestRegistry.start(context, { certificate: SERVER });
    registry.pushModule("p", "v1", WASM);
    const authorities = new Map([[registry.host, [CA.pem]]]);
    const modules = fetcher(context, { sources: { insecure: new Set(), authorities } });
    assert.equal((await modules.fetch(`registry://${registry.host}/p:v1`)).digest, sha256(WASM));
  });

  test("CAs of the environment count for every host", async (context) => {
    const registry = await TestRegistry.start(context, { certificate: SERVER });
    registry.pushModule("p", "v1", WASM);
    const environment = { HOME: "/nonexistent", SSL_CERT_FILE: join(folder(context, { "ca.pem": CA.pem }), "ca.pem") };
    const modules = fetcher(context, { environment });
    assert.equal((await modules.fetch(`registry://${registry.host}/p:v1`)).digest, sha256(WASM));
  });

  test("a certificate nobody vouches for, and plain HTTP, are refused unless the host is listed", async (context) => {
    for (const options of [{ certificate: SERVER }, {}]) {
      const registry = await TestRegistry.start(context, options);
      registry.pushModule("p", "v1", WASM);
      const location = `registry://${registry.host}/p:v1`;
      assert.match(
        await failureOf(fetcher(context).fetch(location)),
        options.certificate === undefined
          ? /cannot reach localhost:\d+: it does not speak TLS \(plain HTTP is for hosts in insecure_sources of sources\.yml\)$/
          : /cannot reach localhost:\d+: .* \(source_authorities of sources\.yml may name .*\)$/,
      );
      assert.deepEqual(registry.requests, []);
      assert.equal((await fetcher(context, { sources: insecure(registry.host) }).fetch(location)).digest, sha256(WASM));
      const other = fetcher(context, { sources: insecure("localhost") });
      assert.match(await failureOf(other.fetch(location)), /cannot reach/);
    }
  });
});

describe("registry credentials", () => {
  const auth = Buffer.from("ann:s3:cret").toString("base64");
  for (const login of ["basic", "bearer"] as const) {
    test(`${login} log-in takes auths of config.json, keys may be URLs`, async (context) => {
      const registry = await TestRegistry.start(context, { login, user: "ann:s3:cret" });
      registry.pushModule("p", "v1", WASM);
      const pull = (config: object) =>
        fetcher(context, {
          sources: insecure(registry.host),
          dockerConfigDirectory: folder(context, { "config.json": JSON.stringify(config) }),
        }).fetch(`registry://${registry.host}/p:v1`);
      await pull({ auths: { [`https://${registry.host}/v1/`]: { auth } } });
      const refused = async (config: object, reason: string) => {
        const failure = await failureOf(pull(config));
        assert.match(failure, /answers 401/);
        assert.ok(failure.endsWith(`, asked ${reason}`), failure);
      };
      const entry = `the entry for ${registry.host} in config.json`;
      await refused({}, `anonymously: config.json has no entry for ${registry.host}`);
      await refused(
        { auths: { [registry.host]: { identitytoken: "t", auth } } },
        `anonymously: ${entry} is an identity token, which is not supported`,
      );
      await refused(
        { auths: { [registry.host]: { email: "a@example.org" } } },
        `anonymously: ${entry} has neither auth nor username and password`,
      );
      await refused(
        { auths: { "other.example": { auth } } },
        `anonymously: config.json has no entry for ${registry.host}`,
      );
      await refused({ auths: { [registry.host]: { auth: "Ym9iOng=" } } }, "with the credentials of config.json");
    });
  }

  test("a token is used for all requests of a repository", async (context) => {
    const registry = await TestRegistry.start(context, { login: "bearer" });
    registry.pushModule("p", "v1", WASM);
    await fetcher(context, { sources: insecure(registry.host) }).fetch(`registry://${registry.host}/p:v1`);
    assert.equal(registry.tokensGiven, 1);
    assert.deepEqual(registry.requests.slice(0, 3), ["GET /v2/p/manifests/v1", "GET /token", "GET /v2/p/manifests/v1"]);
  });

  test("a credential helper wins over auths, credsStore comes last", async (context) => {
    const registry = await TestRegistry.start(context, { login: "basic", user: "bob:pw" });
    registry.pushModule("p", "v1", WASM);
    const whole = `#!/bin/sh\nread host\n[ "$host" = "${registry.host}" ] || exit 1\necho '{"Username":"bob","Secret":"pw"}'\n`;
    const pull = (config: object, helper = whole) => {
      const root = folder(context, { "config.json": JSON.stringify(config), "docker-credential-test": helper });
      return fetcher(context, {
        sources: insecure(registry.host),
        dockerConfigDirectory: root,
        environment: { PATH: `${root}:${process.env.PATH}` },
      }).fetch(`registry://${registry.host}/p:v1`);
    };
    await pull({ credHelpers: { [registry.host]: "test" }, auths: { [registry.host]: { auth } } });
    await pull({ credsStore: "test" });
    assert.match(await failureOf(pull({ credsStore: "test", auths: { [registry.host]: { auth } } })), /401/);
    const token = `#!/bin/sh\necho '{"Username":"<token>","Secret":"t"}'\n`;
    assert.match(
      await failureOf(pull({ credsStore: "test" }, token)),
      /asked anonymously: credential helper test gives an identity token, which is not supported$/,
    );
    const none = "#!/bin/sh\necho credentials not found in native keychain\nexit 1\n";
    assert.match(
      await failureOf(pull({ credsStore: "test" }, none)),
      /asked anonymously: credential helper test has none for localhost:\d+$/,
    );
    const secret = "hunter2";
    for (const spoken of ["", " >&2"]) {
      const failing = `#!/bin/sh\necho '{"Username":"bob","Secret":"${secret}"}'${spoken}\nexit 3\n`;
      const failure = await failureOf(pull({ credsStore: "test" }, failing));
      assert.match(failure, /credential helper test failed for localhost:\d+: exit code 3$/);
    }
    const broken = await failureOf(pull({ credsStore: "test" }, `#!/bin/sh\necho '{"Secret": ${secret}'\n`));
    assert.match(broken, /credential helper test gave no JSON for localhost:\d+$/);
    assert.match(await failureOf(pull({ credsStore: "missing" })), /no docker-credential-missing is on the PATH/);
    assert.match(await failureOf(pull({ credsStore: "../x" })), /bad name of a credential helper/);
  });

  test("a named folder without config.json, and one that isn't JSON, are errors", async (context) => {
    const registry = await TestRegistry.start(context, { login: "basic", user: "ann:s3:cret" });
    const pull = (files: Record<string, string>) =>
      fetcher(context, { sources: insecure(registry.host), dockerConfigDirectory: folder(context, files) }).fetch(
        `registry://${registry.host}/p:v1`,
      );
    assert.match(await failureOf(pull({})), /cannot read registry credentials: /);
    assert.match(await failureOf(pull({ "config.json": "{" })), /cannot read registry credentials: .*is not JSON/);
    const file = join(folder(context, { "config.json": "{}" }), "config.json");
    const modules = fetcher(context, { sources: insecure(registry.host), dockerConfigDirectory: file });
    const failure = await failureOf(modules.fetch(`registry://${registry.host}/p:v1`));
    assert.match(failure, /cannot read registry credentials: .*\(name the folder that contains config\.json\)$/);
  });

  test("who is redirected to does not say where to log in", async (context) => {
    const thief = await TestRegistry.start(context);
    const registry = await TestRegistry.start(context, { login: "none" });
    thief.special.set("/away", (_, response) => {
      const challenge = `Bearer realm="http://${thief.host}/token"`;
      response.writeHead(401, { "www-authenticate": challenge }).end();
    });
    registry.special.set("/v2/p/manifests/v1", (_, response) => {
      response.writeHead(307, { location: `http://${thief.host}/away` }).end();
    });
    const modules = fetcher(context, {
      sources: insecure(registry.host, thief.host),
      dockerConfigDirectory: folder(context, {
        "config.json": JSON.stringify({ auths: { [registry.host]: { auth } } }),
      }),
    });
    assert.match(await failureOf(modules.fetch(`registry://${registry.host}/p:v1`)), /answers 401/);
    assert.deepEqual(thief.requests, ["GET /away"]);
  });

  test("what a registry says of its failure is shown so that no terminal obeys it", async (context) => {
    const registry = await TestRegistry.start(context);
    registry.special.set("/v2/p/manifests/v1", (_, response) => {
      response.writeHead(500).end(JSON.stringify({ errors: [{ code: "\u001b[2JX", message: "a\nb" }] }));
    });
    const modules = fetcher(context, { sources: insecure(registry.host) });
    const failure = await failureOf(modules.fetch(`registry://${registry.host}/p:v1`));
    assert.ok(failure.includes(String.raw`(\u001b[2JX: a b)`), failure);
  });

  test("credentials don't follow a redirect to another host", async (context) => {
    const storage = await TestRegistry.start(context);
    let seen: string | undefined = "nothing";
    storage.special.set("/blob", (request, response) => {
      seen = request.headers.authorization;
      response.end(WASM);
    });
    const registry = await TestRegistry.start(context, { login: "basic", user: "ann:s3:cret" });
    registry.pushModule("p", "v1", WASM);
    registry.special.set(`/v2/p/blobs/${sha256(WASM)}`, (_, response) => {
      response.writeHead(307, { location: `http://${storage.host}/blob` }).end();
    });
    const modules = fetcher(context, {
      sources: insecure(registry.host, storage.host),
      dockerConfigDirectory: folder(context, {
        "config.json": JSON.stringify({ auths: { [registry.host]: { auth } } }),
      }),
    });
    assert.equal((await modules.fetch(`registry://${registry.host}/p:v1`)).digest, sha256(WASM));
    assert.equal(seen, undefined);
  });
});
