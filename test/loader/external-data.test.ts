import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createPlainServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { loadConfig } from "../../src/config/index.js";
import { UsageError } from "../../src/data/command-io.js";
import { createLoader } from "../../src/loader/index.js";
import type { Outcome } from "../../src/policy/index.js";
import type { EgressOptions } from "../../src/world/open-external.js";
import { insecure } from "../fetch/helpers.js";
import { TestRegistry } from "../fetch/test-registry.js";
import { context as evaluation, review } from "../kinds/kyverno/asked.js";
import { FakeApiServer, json } from "../kubernetes/client/fake-api-server.js";

const policy = (expression: string, kind = "ValidatingPolicy"): string => `
apiVersion: policies.kyverno.io/v1
kind: ${kind}
metadata: { name: p, namespace: ns }
spec:
  matchConstraints: { resourceRules: [ { apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] } ] }
  validations: [ { expression: ${JSON.stringify(expression)}, message: "no" } ]
`;

/** What is beside the policy. */
interface Beside {
  readonly documents?: string;
  readonly egress?: EgressOptions;
  /** A kubeconfig. */
  readonly kubeconfig?: string;
  /** Registries without TLS. */
  readonly insecure?: readonly string[];
  /** A cluster is wanted; without a kubeconfig there is none. */
  readonly wanted?: boolean;
}

/** The outcome of a policy about a Pod, or what keeps it from being loaded. */
async function outcomeOf(
  context: TestContext,
  text: string,
  beside: Beside = {},
): Promise<Outcome | readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "external-"));
  const { documents = "", egress, kubeconfig, wanted = false, insecure: hosts = [] } = beside;
  const settings = { downloadDirectory: folder, environment: { HOME: folder }, egress, kubernetes: wanted, kubeconfig };
  const loader = createLoader({ ...settings, policyTimeout: 60_000 }, { fetch: { sources: insecure(...hosts) } });
  context.after(() => {
    loader.close();
    rmSync(folder, { recursive: true, force: true });
  });
  writeFileSync(join(folder, "policies.yaml"), "p: { resource: resource.yaml }\n");
  writeFileSync(join(folder, "resource.yaml"), `${text}---\n${documents}`);
  const read = loadConfig(join(folder, "policies.yaml"));
  assert.ok(read.ok);
  const { policies, problems } = await loader.load(read.config);
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) return errors.map(({ message }) => message);
  const served = policies.entries.get("p");
  assert.ok(served !== undefined);
  return served.policy.evaluate(review(), evaluation());
}

/** The words of an outcome that refuses. */
function wordsOf(outcome: Outcome | readonly string[]): string {
  assert.ok("verdict" in outcome, JSON.stringify(outcome));
  assert.notEqual(outcome.verdict, "allow");
  return JSON.stringify(outcome);
}
const verdictOf = (outcome: Outcome | readonly string[]): string =>
  "verdict" in outcome ? outcome.verdict : JSON.stringify(outcome);

async function serve(context: TestContext): Promise<string> {
  const server = createServer((_request, response) => response.end('{"allowed": true}'));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe("Kyverno's policies ask HTTP servers", () => {
  test("but not this machine, unless the lists say so", async (context) => {
    const url = await serve(context);
    const text = policy(`http.Get("${url}").allowed == true`);
    assert.match(
      wordsOf(await outcomeOf(context, text)),
      /blocked: IP 127\.0\.0\.1 falls in blocked range 127\.0\.0\.0\/8/,
    );
    assert.equal(verdictOf(await outcomeOf(context, text, { egress: { blocklist: [] } })), "allow");
    const elsewhere = { egress: { blocklist: [], allowlist: ["https://example.com"] } };
    assert.match(wordsOf(await outcomeOf(context, text, elsewhere)), /is not permitted: no matching allowlist entry/);
  });

  test("those of a namespace only where that is allowed", async (context) => {
    const url = await serve(context);
    const text = policy(`http.Get("${url}").allowed == true`, "NamespacedValidatingPolicy");
    const refused = await outcomeOf(context, text, { egress: { blocklist: [] } });
    assert.deepEqual(refused, [
      "Forbidden: http.* is not allowed in namespaced policies; set --allowHTTPInNamespacedPolicies to enable",
    ]);
    const egress = { blocklist: [], forNamespaced: true };
    assert.equal(verdictOf(await outcomeOf(context, text, { egress })), "allow");
  });

  test("lists that can't be read are an error", async (context) => {
    await assert.rejects(outcomeOf(context, policy("true"), { egress: { blocklist: ["1.2.3.4/99"] } }), UsageError);
  });
});

describe("Kyverno's policies ask registries", () => {
  const absent = (host: string) => policy(`image.GetMetadata("${host}/app:v1").registry == ""`);

  test("but not at addresses that are blocked, unless an operator lists them", async (context) => {
    const registry = await TestRegistry.start(context);
    let connections = 0;
    const silent = createPlainServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    context.after(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const literal = wordsOf(await outcomeOf(context, absent(`127.0.0.1:${port}`)));
    assert.match(literal, /its registry is at a blocked address/);
    const named = wordsOf(await outcomeOf(context, absent(`localhost:${port}`)));
    assert.match(named, /cannot be reached/);
    assert.equal(connections, 0);
    await outcomeOf(context, absent(`localhost:${port}`), { egress: { blocklist: [] } });
    assert.ok(connections > 0);
    const before = connections;
    // Nor does a listed one lead there.
    registry.special.set("/v2/app/manifests/v1", (_request, response) =>
      response.writeHead(302, { location: `https://127.0.0.1:${port}/` }).end(),
    );
    const redirected = wordsOf(await outcomeOf(context, absent(registry.host), { insecure: [registry.host] }));
    assert.match(redirected, /its registry is at a blocked address/);
    assert.equal(connections, before);
    assert.deepEqual(registry.requests, ["GET /v2/app/manifests/v1"]);
  });
});

describe("Kyverno's policies ask a cluster", () => {
  const MISSING = 'dyn(resource.Get("v1", "configmaps", "ns", "cm")) == null';

  test("and without one nothing is taken for absent", async (context) => {
    for (const wanted of [false, true]) {
      assert.match(wordsOf(await outcomeOf(context, policy(MISSING), { wanted })), /failed to get resource: /);
      const entry = policy('globalContext.Get("none") == null');
      assert.match(wordsOf(await outcomeOf(context, entry, { wanted })), /failed to get global reference: /);
    }
  });

  test("documents beside a policy are objects", async (context) => {
    const documents = "{apiVersion: v1, kind: ConfigMap, metadata: {name: cm, namespace: ns}, data: {mode: x}}";
    const found = policy('resource.Get("v1", "configmaps", "ns", "cm").data.mode == "x"');
    assert.equal(verdictOf(await outcomeOf(context, found, { documents })), "allow");
    // One document says nothing of other objects, wherever they are.
    for (const wanted of [false, true]) {
      for (const expression of [MISSING.replace('"cm"', '"other"'), MISSING.replace('"ns"', '"prod"')]) {
        const outcome = await outcomeOf(context, policy(expression), { documents, wanted });
        assert.match(wordsOf(outcome), /failed to get resource: /);
      }
      const list = policy('dyn(resource.List("v1", "configmaps", "ns").items).size() == 1');
      assert.match(wordsOf(await outcomeOf(context, list, { documents, wanted })), /failed to list resource: /);
    }
  });

  test("objects, lists and context entries come from it", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put("configmaps", { kind: "ConfigMap", metadata: { name: "cm", namespace: "ns" }, data: { mode: "x" } });
    server.special.set("/version", (_request, response) => json(response, 200, { minor: "36" }));
    const kubeconfig = server.kubeconfig();
    const documents =
      "{apiVersion: kyverno.io/v2, kind: GlobalContextEntry, metadata: {name: e}, spec: {apiCall: {urlPath: /version}, projections: [{name: m, jmesPath: minor}]}}";
    const text = policy(
      'resource.Get("v1", "configmaps", "ns", "cm").data.mode == "x" && dyn(resource.List("v1", "configmaps", "").items).size() == 1 && globalContext.Get("e", "m") == "36"',
    );
    assert.equal(verdictOf(await outcomeOf(context, text, { kubeconfig, documents })), "allow");
    assert.equal(
      verdictOf(await outcomeOf(context, policy(MISSING.replace('"cm"', '"none"')), { kubeconfig })),
      "allow",
    );
  });
});
