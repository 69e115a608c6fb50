/**
 * What fails, and where: no answer tells its client a server's address, an account or a file, in whatever words the failure came; the log of the
 * decision does, or that of loading.
 */
import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseConfig } from "../../src/config/index.js";
import { createLoader } from "../../src/loader/index.js";
import { checksWith } from "../fetch/helpers.js";
import { FakeApiServer, status } from "../kubernetes/client/fake-api-server.js";
import { admissionReview, post, serve } from "../server/fake-policy.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const ADDRESS = "10.99.99.99:6443";
const ACCOUNT = "system:serviceaccount:secret-ns:secret-sa";
const FILE = "/secret/path";
const HOST = "registry.secret.example";
/** None of these may stand in an answer; the last is where this test's own servers are. */
/** The port with its colon: the digits alone stand in seconds, too. */
const MARKERS = ["10.99.99.99", ":6443", "secret-ns", "secret-sa", FILE, "secret.example", "127.0.0.1"];

const found = (text: string): string[] => MARKERS.filter((marker) => text.includes(marker));

const POLICIES = `
namespaced: { cel: { validations: [ { expression: "namespaceObject.metadata.name != ''" } ] } }
selecting:
  cel:
    matchConstraints:
      namespaceSelector: { matchLabels: { a: b } }
      resourceRules: [ { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] } ]
    validations: [ { expression: "true" } ]
authorizing:
  cel:
    validations:
      - expression: "{'': true}[authorizer.group('').resource('pods').check('get').error()]"
guest:
  module: test/fixtures/chaos/wapc.wasm
  hostCapabilities: ["*"]
  contextAwareResources: [ { apiVersion: v1, kind: Pod } ]
parameters: { resource: PARAMETERS }
selected-parameters: { resource: SELECTED }
group:
  expression: "namespaced() && parameters()"
  message: 'no'
  policies: { namespaced: { policy: namespaced }, parameters: { policy: parameters } }
`;

/** A policy whose parameters the cluster has, named by its binding like this. */
const parameters = (reference: string): string => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: limits }
spec:
  paramKind: { apiVersion: v1, kind: ConfigMap }
  matchConstraints:
    resourceRules: [ { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] } ]
  validations: [ { expression: "true" } ]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: limits }
spec:
  policyName: limits
  paramRef: { ${reference}, namespace: default, parameterNotFoundAction: Deny }
  validationActions: [Deny]
`;

const KINDS = { api_version: "v1", kind: "Pod" };
const ACCESS = { user: "jane", resource_attributes: { verb: "get", resource: "pods" } };
const CALLS: Readonly<Record<string, unknown>> = {
  "kubernetes:get_resource": { ...KINDS, name: "a", namespace: "default", disable_cache: true },
  "kubernetes:list_resources_all": KINDS,
  "kubernetes:list_resources_by_namespace": { ...KINDS, namespace: "default" },
  "kubernetes:can_i": { subject_access_review: ACCESS, disable_cache: true },
};

/** A server with these policies. What it logged while loading comes along. */
async function start(
  context: Pick<TestContext, "after">,
  { text, kubeconfig, proxy = "" }: { text: string; kubeconfig?: string; proxy?: string },
) {
  const environment = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy };
  const signatures = checksWith(() => Promise.reject(new Error(`no trust root in ${FILE}`)));
  const loader = createLoader(
    { policyTimeout: 60_000, downloadDirectory: `${root}/nowhere`, environment, kubeconfig },
    { fetch: { signatures } },
  );
  context.after(() => loader.close());
  const read = parseConfig(text, `${root}/policies.yaml`);
  assert.ok(read.ok, JSON.stringify(read));
  const { policies, problems } = await loader.load(read.config);
  const server = await serve([...policies.entries.values()], { evaluation: { policyTimeout: 60_000 } });
  context.after(() => server.stop({ delay: 0, grace: 0 }));
  const loadLog = [...read.problems, ...problems].map(({ message }) => message).join("\n");

  /** Asks, and holds the answer against the markers; what the log of the decision says of it. */
  const ask = async (id: string, payload?: object): Promise<{ answer: string; detail: string }> => {
    const [origin, body] =
      payload === undefined ? ["validate", admissionReview()] : ["validate_raw", { request: payload }];
    const before = server.lines.length;
    const answer = await (await post(`${server.url}/${origin}/${id}`, body)).text();
    assert.match(answer, /"allowed":false/, `${id}: ${answer}`);
    assert.deepEqual(found(answer), [], `${id}: ${answer}`);
    const logged = server.lines.slice(before).map((line) => JSON.parse(line) as { fields: LoggedDecision });
    assert.equal(logged.length, 1);
    const { detail = "", members = [] } = logged[0]?.fields ?? {};
    return { answer, detail: [detail, ...members.map((member) => member.detail ?? "")].join(" ") };
  };
  /** What operators' endpoints show. */
  const shown = async (): Promise<string> =>
    `${await (await fetch(`${server.url}/policies`)).text()}\n${await (await fetch(`${server.url}/metrics`)).text()}`;
  return { ask, shown, policies, loadLog };
}

interface LoggedDecision {
  readonly detail?: string;
  readonly members?: readonly { readonly detail?: string }[];
}

/** {@link POLICIES} with their files. */
const policiesBeside = (server: FakeApiServer): string =>
  POLICIES.replace("PARAMETERS", server.file("named.yaml", parameters("name: a"))).replace(
    "SELECTED",
    server.file("selected.yaml", parameters("selector: {}")),
  );

/** Asks everything that looks something up in the cluster. */
async function askAll(ask: Awaited<ReturnType<typeof start>>["ask"]): Promise<string> {
  const answers: string[] = [];
  const expect = async (id: string, payload?: object): Promise<void> => {
    const { answer, detail } = await ask(id, payload);
    assert.notDeepEqual(found(detail), [], `the log says what ${id} ${JSON.stringify(payload)} does not: ${detail}`);
    answers.push(answer);
  };
  for (const id of ["namespaced", "selecting", "parameters", "selected-parameters", "group", "authorizing"])
    await expect(id);
  for (const [operation, payload] of Object.entries(CALLS)) {
    await expect("guest", { mode: `host:kubewarden:${operation}:${JSON.stringify(payload)}` });
  }
  return answers.join("\n");
}

const REFUSALS: Readonly<Record<string, { answer: RequestListener; says: RegExp }>> = {
  "refuses an account": {
    answer: (_, response) =>
      status(
        response,
        403,
        "Forbidden",
        `pods is forbidden: User "${ACCOUNT}" cannot list resource "pods" in API group "" at the cluster scope: RBAC: clusterrole ${ACCOUNT} not found`,
      ),
    says: /pods is forbidden: the policy server cannot list resource \\?\\?\\?"pods\\?\\?\\?" in API group/,
  },
  "refuses in other words": {
    answer: (_, response) => status(response, 403, "Forbidden", `Azure does not know ${ACCOUNT} at ${ADDRESS}`),
    says: /the API server answers 403 \(Forbidden\)/,
  },
  "cannot reach somebody itself": {
    answer: (_, response) =>
      status(response, 500, "InternalError", `failed calling webhook: Post "https://${ADDRESS}${FILE}": dial tcp`),
    says: /the API server answers 500 \(InternalError\)/,
  },
  "says what is wrong with the question, and names others": {
    answer: (_, response) => status(response, 400, "BadRequest", `cannot convert: ask https://${HOST}`),
    says: /the API server answers 400 \(BadRequest\)/,
  },
  "is a proxy that answers with a page": {
    answer: (_, response) => {
      response.writeHead(502, { "content-type": "text/html" });
      response.end(`<html>no upstream ${ADDRESS}</html>`);
    },
    says: /the API server answers 502/,
  },
};

for (const [name, { answer, says }] of Object.entries(REFUSALS)) {
  test(`an API server that ${name}`, async (context) => {
    const server = await FakeApiServer.start(context);
    for (const path of [
      "/api/v1/namespaces",
      "/api/v1/namespaces/default",
      "/api/v1/pods",
      "/api/v1/namespaces/default/pods",
      "/api/v1/namespaces/default/pods/a",
      "/api/v1/configmaps",
      "/api/v1/namespaces/default/configmaps/a",
      "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    ]) {
      server.special.set(path, answer);
    }
    const { ask } = await start(context, { text: policiesBeside(server), kubeconfig: server.kubeconfig() });
    assert.match(await askAll(ask), says);
  });
}

test("an API server whose authorizer cannot reach somebody", async (context) => {
  const server = await FakeApiServer.start(context);
  server.access.set("alice", { allowed: false, evaluationError: `Post "https://${ADDRESS}": connection refused` });
  server.access.set("jane", { allowed: false, evaluationError: `Post "https://${ADDRESS}": connection refused` });
  server.put("namespaces", { metadata: { name: "default" } });
  const { ask } = await start(context, { text: policiesBeside(server), kubeconfig: server.kubeconfig() });
  const { answer, detail } = await ask("authorizing");
  assert.match(answer, /no such key: the authorizer could not be asked/);
  assert.notDeepEqual(found(detail), []);
  const call = JSON.stringify(CALLS["kubernetes:can_i"]);
  assert.match(
    (await ask("guest", { mode: `host:kubewarden:kubernetes:can_i:${call}` })).answer,
    /the authorizer could not be asked/,
  );
});

describe("without an API server", () => {
  let closed = "";
  before(async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closed = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await new Promise((resolve) => server.close(resolve));
  });
  test("that answers", async (context) => {
    const server = await FakeApiServer.start(context);
    const kubeconfig = server.kubeconfig({}, { server: `https://${HOST}:6443`, "proxy-url": closed });
    const { ask } = await start(context, { text: policiesBeside(server), kubeconfig });
    assert.match(await askAll(ask), /the API server cannot be reached/);
  });

  test("that we have the credentials for", async (context) => {
    const server = await FakeApiServer.start(context);
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: `${FILE}/plugin`, interactiveMode: "Never" };
    const { ask } = await start(context, { text: policiesBeside(server), kubeconfig: server.kubeconfig({ exec }) });
    assert.match(await askAll(ask), /access to the cluster is not set up correctly/);
  });

  test("and without registries: policies that cannot be loaded, and what guests ask about images", async (context) => {
    const text = `
image: { module: "registry://${HOST}:6443/team/policy:v1" }
address: { module: "https://name:password@${HOST}/policy.wasm" }
file: { module: "file://${FILE}/policy.wasm" }
resource: { resource: ${FILE}/policy.yaml }
group:
  expression: image()
  message: 'no'
  policies: { image: { module: "registry://${HOST}:6443/team/other:v1" } }
guest: { module: test/fixtures/chaos/wapc.wasm, hostCapabilities: ["*"] }
`;
    const { ask, shown, policies, loadLog } = await start(context, { text, proxy: closed });
    for (const id of ["image", "address", "file", "resource", "group", "group%2Fimage"]) {
      const { answer, detail } = await ask(id);
      assert.match(answer, /the server's log says/);
      assert.notDeepEqual(found(detail), [], `${id}: ${detail}`);
    }
    assert.notDeepEqual(found(loadLog), []);
    assert.ok(!loadLog.includes("password"), loadLog);
    assert.equal(policies.entries.get("guest")?.unavailable, undefined);
    const list = await shown();
    assert.deepEqual(found(list), [], list);

    const image = `${HOST}:6443/team/policy:v1`;
    for (const [operation, payload] of [
      ["oci:v1/manifest_digest", image],
      ["oci:v1/oci_manifest_config", image],
      ["oci:v2/verify", { type: "SigstorePubKeyVerify", image, pub_keys: ["k"] }],
    ] as const) {
      const { detail } = await ask("guest", { mode: `host:kubewarden:${operation}:${JSON.stringify(payload)}` });
      assert.notDeepEqual(found(detail), [], operation);
    }
  });
});
