import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, type TestContext, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";

const POLICY = `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: labelled}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods, namespaces]}]}
  validations:
  - expression: "namespaceObject == null || object.metadata.labels.env == namespaceObject.metadata.labels.env"
    messageExpression: "'not ' + namespaceObject.metadata.labels.env"
`;

async function cluster(context: TestContext) {
  const server = await FakeApiServer.start(context);
  const verbs = ["get", "list"];
  const answers = {
    "/apis": { groups: [] },
    "/api/v1": {
      resources: [
        { name: "pods", kind: "Pod", namespaced: true, verbs },
        { name: "pods/log", kind: "Pod", namespaced: true, verbs },
        { name: "bindings", kind: "Binding", namespaced: true, verbs: ["create"] },
        { name: "configmaps", kind: "ConfigMap", namespaced: true, verbs },
        { name: "namespaces", kind: "Namespace", namespaced: false, verbs },
      ],
    },
  };
  for (const [path, answer] of Object.entries(answers)) {
    server.special.set(path, (_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer));
    });
  }
  server.put("namespaces", { metadata: { name: "shop", labels: { env: "prod" } } });
  server.put("pods", { metadata: { name: "a", namespace: "shop", labels: { env: "prod" } } });
  server.put("pods", { metadata: { name: "b", namespace: "shop", labels: { env: "test" } } });
  return { server, policy: server.file("policy.yaml", POLICY), kubeconfig: server.kubeconfig() };
}

async function apply(args: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  const io = { env: { HOME: "/nowhere" }, stdin: Readable.from([]), stdout, stderr };
  const code = await runCommandLine(["apply", ...args], io);
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

describe("apply --cluster", () => {
  test("asks policies about what they are for, with the Namespaces of the cluster", async (context) => {
    const { server, policy, kubeconfig } = await cluster(context);
    assert.deepEqual(await apply([policy, "--cluster", "--kubeconfig", kubeconfig]), {
      code: 1,
      out: "\nApplying 1 policy rule(s) to 3 resource(s)...\npolicy labelled -> resource shop/Pod/b failed:\n1 -  not prod\n\npass: 2, fail: 1, warn: 0, error: 0, skip: 0 \n",
      err: "",
    });
    assert.deepEqual(server.asked("GET /api/v1/configmaps"), [], "nobody is for ConfigMaps");
  });

  test("or about those of a namespace", async (context) => {
    const { policy, kubeconfig } = await cluster(context);
    const { out } = await apply([policy, "--cluster", "-n", "shop", "--kubeconfig", kubeconfig]);
    assert.match(out, /to 2 resource\(s\)/);
    assert.match(out, /pass: 1, fail: 1,/);
    const reports = await apply([policy, "--cluster", "-n", "shop", "-p", "--kubeconfig", kubeconfig]);
    assert.deepEqual([reports.code, reports.err], [1, ""]);
    const nowhere = await apply([policy, "--cluster", "-n", "shp", "--kubeconfig", kubeconfig]);
    assert.deepEqual(
      [nowhere.code, nowhere.err],
      [
        3,
        "nothing was judged: there is no resource in the cluster's namespace shp (--allow-empty: exit 0 all the same)\n",
      ],
    );
  });

  test("a cluster that does not answer lets nothing pass", async (context) => {
    const { server, policy, kubeconfig } = await cluster(context);
    server.special.set("/api/v1", (_, response) => {
      response.statusCode = 403;
      response.end("{}");
    });
    const { code, err } = await apply([policy, "--cluster", "--kubeconfig", kubeconfig]);
    assert.equal(code, 2);
    assert.match(err, /^Error: failed to load resources \(/);
  });

  const lists: Readonly<Record<string, readonly [answer: unknown, message: RegExp]>> = {
    "without items": [{ metadata: {} }, /the answer is not a list/],
    "that never ends": [{ metadata: { continue: "x" }, items: [] }, /the list does not go on/],
  };
  for (const [name, [answer, message]] of Object.entries(lists)) {
    test(`a list ${name} lets nothing pass`, async (context) => {
      const { server, policy, kubeconfig } = await cluster(context);
      server.special.set("/api/v1/pods", (_, response) => {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify(answer));
      });
      const { code, err } = await apply([policy, "--cluster", "--kubeconfig", kubeconfig]);
      assert.equal(code, 2);
      assert.match(err, message);
    });
  }

  test("a list of none may say so with null", async (context) => {
    const { server, policy, kubeconfig } = await cluster(context);
    server.special.set("/api/v1/pods", (_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ metadata: {}, items: null }));
    });
    assert.match((await apply([policy, "--cluster", "--kubeconfig", kubeconfig])).out, /to 1 resource/);
  });
});
