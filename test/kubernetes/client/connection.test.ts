import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { findConnection } from "../../../src/kubernetes/client/index.js";
import { newCertificate } from "../../fetch/certificates.js";
import { FakeApiServer } from "./fake-api-server.js";
import { connect, PATIENT, PODS } from "./support.js";

const now = () => performance.now();

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "connection-"));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe("finding a cluster", () => {
  test("without any configuration says where was looked", () => {
    const nowhere = "/nowhere/at/all";
    assert.throws(() => findConnection({ env: { HOME: nowhere }, now }), {
      code: "KUBERNETES_CONFIG",
      message: "no kubeconfig file; not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set",
    });
    const env = { HOME: nowhere, KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
    assert.throws(
      () => findConnection({ env, now, serviceAccount: nowhere }),
      /there is no \/nowhere\/at\/all\/token$/,
    );
  });

  test("takes $KUBECONFIG, then the home folder's file, then the pod's service account", (context) => {
    const home = folder(context);
    const kubeconfig = (name: string) =>
      JSON.stringify({
        "current-context": "x",
        clusters: [{ name: "c", cluster: { server: `https://${name}:6443/base` } }],
        contexts: [{ name: "x", context: { cluster: "c" } }],
      });
    for (const name of ["token", "ca.crt"]) writeFileSync(join(home, name), name);
    const env = { HOME: home, KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
    const find = (more: object = {}) => findConnection({ env: { ...env, ...more }, now, serviceAccount: home });
    assert.equal(find().server.href, "https://[fd00::1]/");
    mkdirSync(join(home, ".kube"));
    writeFileSync(join(home, ".kube/config"), kubeconfig("home"));
    assert.equal(find().server.href, "https://home:6443/base");
    writeFileSync(join(home, "named"), kubeconfig("named"));
    assert.equal(find({ KUBECONFIG: `${join(home, "absent")}:${join(home, "named")}` }).server.host, "named:6443");
    writeFileSync(join(home, ".kube/config"), "{}");
    assert.equal(
      find().server.href,
      "https://[fd00::1]/",
      "an unusable kubeconfig does not keep a pod from its cluster",
    );
  });

  test("merges files: the first that names a thing says what it is", (context) => {
    const home = folder(context);
    const [first, second] = [join(home, "first"), join(home, "second")];
    writeFileSync(first, "current-context: x\nusers: [{name: u, user: {token: one}}]\n");
    writeFileSync(
      second,
      `current-context: y
clusters: [{name: c, cluster: {server: "https://c"}}]
users: [{name: u, user: {token: two}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
`,
    );
    const connection = findConnection({ env: { KUBECONFIG: `${first}:${second}` }, now });
    return connection.identity().then(({ authorization }) => assert.equal(authorization, "Bearer one"));
  });

  const BROKEN = {
    "no current context": ["{}", /there is no current-context/],
    "an unknown context": ["current-context: x", /there is no context "x" in contexts/],
    "no YAML": ["a: [", /cannot use/],
    "no map": ["[]", /is not a kubeconfig/],
    "no address": [
      '{current-context: x, contexts: [{name: x, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "x y"}}]}',
      /the server "x y" is not an HTTP address/,
    ],
    "an old auth-provider": [
      "{current-context: x, contexts: [{name: x, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: https://c}}], users: [{name: u, user: {auth-provider: {name: gcp}}}]}",
      /user "u" has an auth-provider/,
    ],
  } as const;
  for (const [name, [content, message]] of Object.entries(BROKEN)) {
    test(`refuses a named kubeconfig with ${name}`, (context) => {
      const file = join(folder(context), "kubeconfig");
      writeFileSync(file, content);
      assert.throws(() => findConnection({ kubeconfig: file, env: {}, now }), { code: "KUBERNETES_CONFIG", message });
    });
  }
});

describe("an identity", () => {
  test("of a pod is its token, read again every minute and when it is refused", async (context) => {
    const server = await FakeApiServer.start(context);
    const account = folder(context);
    writeFileSync(join(account, "ca.crt"), server.authority.pem);
    writeFileSync(join(account, "token"), "one\n");
    server.tokens.add("one");
    let ahead = 0;
    const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(server.port) };
    const clock = () => performance.now() + ahead;
    const connection = findConnection({ env, now: clock, serviceAccount: account });
    const { reader } = connect(context, server, { connection });
    const get = () => reader.get({ apiVersion: "v1", kind: "Namespace" }, { name: "n" }, PATIENT);
    server.put("namespaces", { metadata: { name: "n" } });
    await get();
    assert.equal(server.headers.authorization, "Bearer one");

    writeFileSync(join(account, "token"), "two");
    server.tokens.add("two");
    await get();
    assert.equal(server.headers.authorization, "Bearer one", "not read at each request");
    ahead += 60_000;
    await get();
    assert.equal(server.headers.authorization, "Bearer two");

    writeFileSync(join(account, "token"), "three");
    server.tokens.clear();
    server.tokens.add("three");
    const before = server.requests.length;
    await get();
    assert.equal(server.headers.authorization, "Bearer three");
    assert.equal(server.requests.length, before + 2, "refused once, then sent again");

    rmSync(join(account, "token"));
    ahead += 60_000;
    await get();
    assert.equal(server.headers.authorization, "Bearer three", "a file that is being replaced");

    server.tokens.clear();
    server.tokens.add("four");
    await assert.rejects(get(), /cannot read .*token/);
  });

  test("can be a client certificate, from data or from files relative to the kubeconfig", async (context) => {
    const server = await FakeApiServer.start(context);
    const client = newCertificate({ name: "gateway", issuer: server.authority });
    const data = {
      "client-certificate-data": Buffer.from(client.pem).toString("base64"),
      "client-key-data": Buffer.from(client.keyPem).toString("base64"),
    };
    server.file("client.pem", client.pem);
    server.file("client.key", client.keyPem);
    server.file("ca.pem", server.authority.pem);
    const files = { "client-certificate": "client.pem", "client-key": "client.key" };
    const authority = { "certificate-authority-data": "", "certificate-authority": "ca.pem" };
    for (const kubeconfig of [server.kubeconfig(data), server.kubeconfig(files, authority)]) {
      server.client = undefined;
      const { reader } = connect(context, server, { kubeconfig });
      await reader.list(PODS, {}, PATIENT);
      assert.equal(server.client, "gateway");
    }
  });

  test("can be name and password, a token file, or somebody else's by impersonation", async (context) => {
    const server = await FakeApiServer.start(context);
    const ask = async (user: object) => {
      await connect(context, server, { kubeconfig: server.kubeconfig(user) }).reader.list(PODS, {}, PATIENT);
      return server.headers;
    };
    assert.equal((await ask({ username: "a", password: "b" })).authorization, "Basic YTpi");
    server.file("token", "from-file\n");
    assert.equal((await ask({ token: "ignored", tokenFile: "token" })).authorization, "Bearer from-file");
    const headers = await ask({
      as: "jane",
      "as-groups": ["one", "two"],
      "as-uid": "7",
      "as-user-extra": { k: ["v"] },
    });
    assert.equal(headers["impersonate-user"], "jane");
    assert.equal(headers["impersonate-group"], "one, two");
    assert.equal(headers["impersonate-uid"], "7");
    assert.equal(headers["impersonate-extra-k"], "v");
  });

  test("can come from a plugin, which is asked again when its credential ends or is refused", async (context) => {
    const server = await FakeApiServer.start(context);
    const plugin = server.file(
      "plugin",
      `#!/bin/sh
echo run >> "$RUNS"
case "$KUBERNETES_EXEC_INFO" in *'"kind":"ExecCredential"'*) ;; *) exit 3;; esac
echo "{\\"status\\":{\\"token\\":\\"$1-$(wc -l < "$RUNS" | tr -d ' ')\\"$EXPIRY}}"
`,
    );
    chmodSync(plugin, 0o755);
    const exec = (name: string, expiry: string) => {
      const runs = server.file(`runs-${name}`, "");
      const env = [
        { name: "RUNS", value: runs },
        { name: "EXPIRY", value: expiry },
      ];
      const kubeconfig = server.kubeconfig({
        exec: { apiVersion: "client.authentication.k8s.io/v1", command: "./plugin", args: [name], env },
      });
      return connect(context, server, { kubeconfig }).reader;
    };
    const lasting = exec("lasting", "");
    server.put("pods", { metadata: { name: "p", namespace: "n" } });
    const get = (reader: typeof lasting) => reader.get(PODS, { name: "p", namespace: "n" }, PATIENT);
    await Promise.all([get(lasting), get(lasting)]);
    await get(lasting);
    assert.equal(server.headers.authorization, "Bearer lasting-1");
    server.tokens.add("lasting-2");
    await get(lasting);
    assert.equal(server.headers.authorization, "Bearer lasting-2");
    server.tokens.clear();

    const soon = new Date(Date.now() + 10_000).toISOString();
    const ending = exec("ending", `,\\"expirationTimestamp\\":\\"${soon}\\"`.replaceAll("\\", ""));
    await get(ending);
    const first = server.headers.authorization;
    await get(ending);
    assert.notEqual(server.headers.authorization, first);
  });

  test("of a plugin that fails is an error with its words", async (context) => {
    const server = await FakeApiServer.start(context);
    const kubeconfig = server.kubeconfig({
      exec: { command: "sh", args: ["-c", "echo log in first >&2; exit 1"], installHint: "see the handbook" },
    });
    const { reader } = connect(context, server, { kubeconfig });
    await assert.rejects(
      reader.list(PODS, {}, PATIENT),
      /the credential plugin sh failed: .*log in first; see the handbook/,
    );
  });

  test("a server with a certificate of another authority is not believed, unless that was asked for", async (context) => {
    const server = await FakeApiServer.start(context);
    const other = newCertificate({ name: "somebody else", authority: true });
    const cluster = { "certificate-authority-data": Buffer.from(other.pem).toString("base64") };
    const strict = connect(context, server, { kubeconfig: server.kubeconfig({}, cluster) }).reader;
    await assert.rejects(
      strict.list(PODS, {}, PATIENT),
      /error finding resource v1 \/ Pod: cannot reach the API server at 127/,
    );
    const kubeconfig = server.kubeconfig({}, { ...cluster, "insecure-skip-tls-verify": true });
    assert.deepEqual(await connect(context, server, { kubeconfig }).reader.list(PODS, {}, PATIENT), []);
  });
});
