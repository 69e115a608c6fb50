/** What a policy's `credentials` do: registries without TLS, and log-ins in Secrets of the server's namespace. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { JsonObject } from "../../src/kubernetes/object.js";
import { createLoader } from "../../src/loader/index.js";
import type { LoaderSettings } from "../../src/loader/settings.js";
import type { ImageAccess } from "../../src/world/images/image-trust.js";
import { LookupFailure } from "../../src/world/resources/resource-source.js";
import { newCertificate } from "../fetch/certificates.js";
import { folder, insecure } from "../fetch/helpers.js";
import { TestRegistry } from "../fetch/test-registry.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";

const USER = "robot:pass-word-1";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const entry = (user = USER) => ({ auth: base64(user) });

async function setUp(context: TestContext, more: LoaderSettings = {}, listed = true) {
  const registry = await TestRegistry.start(context, { login: "basic", user: USER });
  const digest = registry.push("team/app", "v1", []);
  const cluster = await FakeApiServer.start(context);
  const settings = {
    environment: { HOME: "/nonexistent" },
    kubeconfig: cluster.kubeconfig(),
    namespace: "own",
    ...more,
  };
  const fetch = listed ? { sources: insecure(registry.host) } : {};
  const loader = createLoader({ downloadDirectory: folder(context), ...settings }, { fetch });
  context.after(() => loader.close());
  const secret = (name: string, type: string, data: object, namespace = "own") =>
    cluster.put("secrets", { kind: "Secret", type, data, metadata: { name, namespace } });
  const auths = (name: string, entries: object) =>
    secret(name, "kubernetes.io/dockerconfigjson", { ".dockerconfigjson": base64(JSON.stringify({ auths: entries })) });
  const ask = (access: ImageAccess, image = "team/app:v1") =>
    loader.external.trust.digest(`${registry.host}/${image}`, access);
  const failure = async (access: ImageAccess): Promise<LookupFailure> => {
    const found = await ask(access);
    assert.ok(found instanceof LookupFailure, String(found));
    const all = `${found.message} ${found.detail}`;
    for (const hidden of [USER, "pass-word-1", base64(USER), base64(USER).slice(0, 12)])
      assert.ok(!all.includes(hidden), all);
    assert.ok(!found.message.includes(registry.host), found.message);
    return found;
  };
  return { registry, digest, cluster, secret, auths, ask, failure, images: loader.external.images };
}

describe("Secrets that a policy names", () => {
  test("are log-ins of registries, in each of their forms", async (context) => {
    const { registry, digest, secret, auths, ask, failure } = await setUp(context);
    const { host } = registry;
    assert.equal((await failure({})).message, "the registry answers 401");
    auths("new", { [host]: entry() });
    secret("old", "kubernetes.io/dockercfg", { ".dockercfg": base64(JSON.stringify({ [host]: entry() })) });
    auths("plain", { [host]: { username: "robot", password: "pass-word-1" } });
    for (const name of ["new", "old", "plain"]) assert.equal(await ask({ secrets: [name] }), digest, name);
    // The first one that has the host counts.
    auths("other", { "registry.example": entry("other:x") });
    assert.equal(await ask({ secrets: ["other", "new"] }), digest);
    auths("wrong", { [host]: entry("other:x") });
    assert.equal((await failure({ secrets: ["wrong", "new"] })).message, "the registry answers 401");
    // A policy without them has no part in them.
    assert.equal((await failure({})).message, "the registry answers 401");
  });

  test("are log-ins for manifest and configuration, too", async (context) => {
    const { registry, digest, auths, images } = await setUp(context);
    auths("new", { [registry.host]: entry() });
    const image = `${registry.host}/team/app:v1`;
    assert.equal(((await images.metadata(image, { secrets: ["new"] })) as JsonObject).digest, digest);
    assert.ok((await images.metadata(image)) instanceof LookupFailure);
    assert.ok((await images.metadata(image, {})) instanceof LookupFailure);
  });

  test("have keys as the kubelet reads them, and the longest counts", async (context) => {
    const { registry, digest, auths, ask, failure } = await setUp(context);
    const { host } = registry;
    const port = host.slice(host.indexOf(":"));
    const fitting = [
      host,
      `https://${host}`,
      `http://${host}/`,
      `https://${host}/v1/`,
      `${host}/v2/`,
      `${host}/team`,
      `${host}/team/app`,
      `https://${host}/v2/team/app`,
      `*${port}`,
      `local*${port}`,
      `l?calhost${port}`,
    ];
    const others = [
      "localhost",
      `${host}0`,
      `*.${host}`,
      `${host}/other`,
      `${host}/team/app/x`,
      `*`,
      "*/team",
      `.*${port}`,
    ];
    for (const [index, key] of [...fitting, ...others].entries()) {
      auths(`s${index}`, { [key]: entry() });
      const access = { secrets: [`s${index}`] };
      if (fitting.includes(key)) assert.equal(await ask(access), digest, key);
      else await failure(access);
    }
    auths("longest", { [host]: entry("other:x"), [`${host}/team`]: entry(), [`*${port}`]: entry("other:x") });
    assert.equal(await ask({ secrets: ["longest"] }), digest);
  });

  test("that cannot be used are an error that names them, and nothing of their content", async (context) => {
    const { registry, cluster, secret, auths, failure } = await setUp(context);
    auths("good", { [registry.host]: entry() });
    secret("elsewhere", "kubernetes.io/dockerconfigjson", {}, "other");
    secret("opaque", "Opaque", { ".dockerconfigjson": base64(USER) });
    secret("text", "kubernetes.io/dockerconfigjson", { ".dockerconfigjson": base64(USER) });
    cluster.special.set("/api/v1/namespaces/own/secrets/forbidden", (_, response) => {
      const status = { kind: "Status", code: 403, reason: "Forbidden", message: 'secrets "forbidden" is forbidden: x' };
      response.writeHead(403, { "content-type": "application/json" }).end(JSON.stringify(status));
    });
    const reasons: Record<string, RegExp> = {
      absent: /: it is not in the server's namespace, own$/,
      elsewhere: /: it is not in the server's namespace, own$/,
      "other/elsewhere": /: invalid resource name "other\/elsewhere"$/,
      opaque: /: it is neither of type kubernetes.io\/dockerconfigjson nor kubernetes.io\/dockercfg$/,
      text: /: it is not JSON$/,
      forbidden: /: permission denied: /,
    };
    for (const [name, reason] of Object.entries(reasons)) {
      const { message } = await failure({ secrets: [name, "good"] });
      assert.ok(message.startsWith(`cannot read registry credentials of Secret ${name}: `), message);
      assert.match(message, reason);
    }
  });

  test("cannot be read without a cluster", async (context) => {
    const { failure } = await setUp(context, { kubeconfig: undefined });
    const { message } = await failure({ secrets: ["a"] });
    assert.equal(message, "cannot read registry credentials of Secret a: kube::Client was not initialized properly");
  });

  test("come before the server's own log-ins, which count for other hosts", async (context) => {
    const dockerConfigDirectory = folder(context);
    const { registry, digest, auths, ask, failure } = await setUp(context, { dockerConfigDirectory });
    const write = (user: string) =>
      writeFileSync(
        join(dockerConfigDirectory, "config.json"),
        JSON.stringify({ auths: { [registry.host]: entry(user) } }),
      );
    write("server:x");
    auths("good", { [registry.host]: entry() });
    assert.equal(await ask({ secrets: ["good"] }), digest);
    assert.equal((await failure({})).message, "the registry answers 401");
    write(USER);
    auths("other", { "registry.example": entry("other:x") });
    assert.equal(await ask({ secrets: ["other"] }), digest);
  });

  test("are read once for the questions of a moment, and only where a log-in is asked for", async (context) => {
    const { registry, cluster, auths, ask } = await setUp(context);
    auths("good", { [registry.host]: entry() });
    await Promise.all(["v1", "v2", "v3"].map((tag) => ask({ secrets: ["good"] }, `team/app:${tag}`)));
    assert.equal(cluster.asked("GET /api/v1/namespaces/own/secrets/good").length, 1);
    const open = await TestRegistry.start(context);
    const loader = createLoader(
      { downloadDirectory: folder(context), environment: { HOME: "/nonexistent" } },
      { fetch: { sources: insecure(open.host) } },
    );
    context.after(() => loader.close());
    const digest = open.push("app", "v1", []);
    assert.equal(await loader.external.trust.digest(`${open.host}/app:v1`, { secrets: ["a"] }), digest);
  });
});

describe("a registry without TLS", () => {
  test("is asked for a policy that says so, and for no other", async (context) => {
    const { registry, digest, auths, ask, failure } = await setUp(context, { egress: { blocklist: [] } }, false);
    auths("good", { [registry.host]: entry() });
    assert.equal(await ask({ insecure: true, secrets: ["good"] }), digest);
    const { detail } = await failure({ secrets: ["good"] });
    assert.match(detail ?? "", /does not speak TLS/);
    await failure({});
  });

  test("is one where TLS fails: a certificate of an unknown authority is not taken for good", async (context) => {
    const certificate = newCertificate({ name: "registry", hosts: ["localhost"] });
    const registry = await TestRegistry.start(context, { certificate });
    registry.push("app", "v1", []);
    const settings = { downloadDirectory: folder(context), environment: { HOME: "/nonexistent" } };
    const loader = createLoader({ ...settings, egress: { blocklist: [] } });
    context.after(() => loader.close());
    assert.ok(
      (await loader.external.trust.digest(`${registry.host}/app:v1`, { insecure: true })) instanceof LookupFailure,
    );
    assert.equal(registry.requests.length, 0);
  });

  test("is not asked at a blocked address, whatever a policy says", async (context) => {
    const { registry, failure } = await setUp(context, {}, false);
    const { message } = await failure({ insecure: true });
    assert.match(message, /cannot be reached/);
    assert.equal(registry.requests.length, 0);
  });

  test("gets no log-in of the server's own for a policy's sake, unless sources.yml lists it", async (context) => {
    for (const listed of [false, true]) {
      const dockerConfigDirectory = folder(context);
      const more = { egress: { blocklist: [] }, dockerConfigDirectory };
      const { registry, digest, auths, ask, failure } = await setUp(context, more, listed);
      const config = { auths: { [registry.host]: entry() } };
      writeFileSync(join(dockerConfigDirectory, "config.json"), JSON.stringify(config));
      auths("other", { "registry.example": entry("other:x") });
      for (const access of [{ insecure: true }, { insecure: true, secrets: ["other"] }])
        if (listed) assert.equal(await ask(access), digest);
        else assert.match((await failure(access)).detail ?? "", /asked anonymously: without TLS the server's log-ins /);
    }
  });

  test("gets no log-in that a registry with TLS has asked for", async (context) => {
    const authority = newCertificate({ name: "authority", authority: true });
    const certificate = newCertificate({ name: "registry", hosts: ["localhost"], issuer: authority });
    let asked = 0;
    const sent: (string | undefined)[] = [];
    const tls = createTlsServer({ cert: certificate.pem, key: certificate.keyPem }, (_, response) => {
      asked++;
      response.writeHead(401, { "www-authenticate": 'Basic realm="x"', connection: "close" }).end();
    });
    const plain = createHttpServer((request, response) => {
      sent.push(request.headers.authorization);
      response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
    });
    // After its first answer an attacker cuts all that is encrypted.
    const server = createServer((socket) => {
      socket.once("data", (first) => {
        socket.pause();
        socket.unshift(first);
        if (first[0] !== 22) plain.emit("connection", socket);
        else if (asked === 0) tls.emit("connection", socket);
        else socket.destroy();
        process.nextTick(() => socket.resume());
      });
      socket.on("error", () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    context.after(() => void server.close());
    const host = `localhost:${(server.address() as AddressInfo).port}`;
    const files = { "config.json": JSON.stringify({ auths: { [host]: entry() } }), "ca.pem": authority.pem };
    const dockerConfigDirectory = folder(context, files);
    const environment = { HOME: "/nonexistent", SSL_CERT_FILE: join(dockerConfigDirectory, "ca.pem") };
    const loader = createLoader({
      downloadDirectory: folder(context),
      environment,
      dockerConfigDirectory,
      egress: { blocklist: [] },
    });
    context.after(() => loader.close());
    const found = await loader.external.trust.digest(`${host}/app:v1`, { insecure: true });
    assert.ok(found instanceof LookupFailure, String(found));
    assert.equal(asked, 1);
    assert.deepEqual(sent, []);
  });
});
