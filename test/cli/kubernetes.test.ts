import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, type TestContext, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { until } from "../kubernetes/client/support.js";
import { type ExampleServer, startExample } from "../support/example-server.js";

/** Runs a command line with nothing in its environment but what is given. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runCommandLine(args, {
    env: { HOME: "/nowhere", ...env },
    stdin: Readable.from([]),
    stdout,
    stderr,
  });
  stdout.end();
  stderr.end();
  return { code, stdout: await text(stdout), stderr: await text(stderr) };
}

/** Everything a policy can learn from a cluster, in one policy. */
const POLICY = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: v }
spec:
  paramKind: { apiVersion: v1, kind: ConfigMap }
  matchConstraints:
    namespaceSelector: { matchLabels: { env: prod } }
    resourceRules: [ { apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] } ]
  validations:
    - expression: "authorizer.group('').resource('pods').namespace('shop').check('deploy').allowed()"
      messageExpression: "params.data.who + ' in ' + namespaceObject.metadata.labels.env"
`;
const BINDING = `---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: b }
spec: { policyName: v, validationActions: [Deny], paramRef: { name: c, namespace: shop, parameterNotFoundAction: Deny } }
`;

async function clusterWithPolicy(context: TestContext) {
  const server = await FakeApiServer.start(context);
  server.put("configmaps", { metadata: { name: "c", namespace: "shop" }, data: { who: "jane" } });
  server.put("namespaces", { metadata: { name: "shop", labels: { env: "prod" } } });
  server.access.set("kubernetes-admin", { allowed: false });
  server.file("resource.yaml", POLICY + BINDING);
  const policies = server.file("policies.yaml", "p: { resource: resource.yaml }\n");
  const object = server.file("pod.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}}\n");
  return { server, policies, object, kubeconfig: server.kubeconfig() };
}

describe("eval and check", () => {
  test("with a kubeconfig sees parameters, Namespace and permissions of the cluster", async (context) => {
    const { server, policies, object, kubeconfig } = await clusterWithPolicy(context);
    const ask = ["eval", "p", "--object", object, "--policies", policies, "--policy-timeout", "20"];
    const denied = await run([...ask, "--kubeconfig", kubeconfig]);
    assert.equal(denied.code, 1, denied.stderr + denied.stdout);
    assert.match(denied.stdout, /denied request: jane in prod"/);
    server.access.set("kubernetes-admin", { allowed: true });
    const allowed = await run([...ask, "--kubernetes"], { KUBECONFIG: kubeconfig });
    assert.equal(allowed.code, 0, allowed.stdout);
    server.put("namespaces", { metadata: { name: "shop" } });
    server.access.set("kubernetes-admin", { allowed: false });
    assert.equal((await run([...ask, "--kubeconfig", kubeconfig])).code, 3, "the selector looks at the real labels");
    server.special.set("/api/v1/namespaces", (_, response) => response.destroy());
    server.special.set("/api/v1/namespaces/shop", (_, response) => response.destroy());
    assert.notEqual((await run([...ask, "--kubeconfig", kubeconfig])).code, 0, "an unreachable cluster allows nothing");
  });

  test("loading looks for Namespaces and parameters before the first request", async (context) => {
    const { server, policies, kubeconfig } = await clusterWithPolicy(context);
    assert.equal((await run(["check", policies, "--kubeconfig", kubeconfig])).code, 0);
    const parameter = "GET /api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name=c&limit";
    assert.equal(server.asked(parameter).length, 1);
    assert.deepEqual(server.asked("GET /api/v1/configmaps"), [], "only what is named");
    assert.equal(server.asked("GET /api/v1/namespaces?limit").length, 1);
  });

  test("loading policies that do without a cluster asks it nothing", async (context) => {
    const { server, kubeconfig } = await clusterWithPolicy(context);
    const policies = server.file("simple.yaml", 'p: { cel: { validations: [ { expression: "true" } ] } }\n');
    assert.equal((await run(["check", policies, "--kubeconfig", kubeconfig])).code, 0);
    assert.deepEqual(server.requests, []);
  });

  test("without being told to ask no cluster", async (context) => {
    const { server, policies, object, kubeconfig } = await clusterWithPolicy(context);
    await run(["eval", "p", "--object", object, "--policies", policies], { KUBECONFIG: kubeconfig });
    await run(["check", policies], { KUBECONFIG: kubeconfig });
    assert.deepEqual(server.requests, []);
  });
});

const WORDS = "Cannot connect to Kubernetes, context aware policies would not work properly";

/** What is said of the policy where there is no cluster. */
const WARNING =
  "asks a cluster for the labels of Namespaces, `namespaceObject`, parameters (ConfigMap of v1) and `authorizer`: without one requests for which " +
  "it asks are denied, those for the labels of Namespaces and parameters (ConfigMap of v1) unless its failurePolicy is Ignore. Write Namespaces and parameters (ConfigMap of v1) as YAML documents beside it (add their " +
  "file to `resource`); `authorizer` can only be told by a cluster, named with --kubeconfig";

describe("without a cluster", () => {
  test("check finds it missing only when it is wanted", async (context) => {
    const { policies } = await clusterWithPolicy(context);
    const content = await run(["check", policies]);
    assert.equal(content.code, 0);
    assert.ok(
      content.stdout.startsWith(`${policies}:1:16: warning: p.resource: ${WARNING} [CLUSTER_NEEDED]\n`),
      content.stdout,
    );
    const wanted = await run(["check", policies, "--kubernetes"]);
    assert.equal(wanted.code, 1);
    assert.match(wanted.stdout, new RegExp(`${WORDS}: no kubeconfig file; .*needed by p;`));
  });

  test("serve does not start when a policy needs one and --strict wants all of them to work", async (context) => {
    const { policies } = await clusterWithPolicy(context);
    const args = ["serve", "--workers", "1", "--policies", policies, "--log-level", "error", "--strict"];
    const refused = await run(args);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, new RegExp(`^Error: ${WORDS}: no kubeconfig file.*needed by p;`));
  });

  test("serve does not start on a kubeconfig that was named and is of no use", async (context) => {
    const { server, policies } = await clusterWithPolicy(context);
    writeFileSync(policies, 'p: { cel: { validations: [ { expression: "true" } ] } }\n');
    const broken = server.file("broken", "{}");
    const refused = await run(["serve", "--workers", "1", "--policies", policies, "--kubeconfig", broken]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /there is no current-context/);
  });

  const answerOf = async (running: ExampleServer, policy = "p") => {
    const request = {
      uid: "1",
      kind: { group: "", version: "v1", kind: "Pod" },
      resource: { group: "", version: "v1", resource: "pods" },
      name: "a",
      namespace: "shop",
      operation: "CREATE",
      userInfo: { username: "jane" },
      object: { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "shop" } },
    };
    const response = await fetch(`${running.url}/validate/${policy}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request }),
    });
    const answer = (await response.json()) as { response: { allowed: boolean; status?: { message: string } } };
    return answer.response;
  };

  const deniedWithoutCluster = async (running: ExampleServer) => {
    const answer = await answerOf(running);
    assert.equal(answer.allowed, false);
    assert.match(answer.status?.message ?? "", /kube::Client was not initialized properly/);
  };

  test("serve starts, says which policies need one, and those allow nothing", async (context) => {
    const { policies } = await clusterWithPolicy(context);
    const running = await startExample("--workers", "1", "--policies", policies);
    context.after(() => running.stop());
    await deniedWithoutCluster(running);
    await running.said(new RegExp(`1:1: warning: ${WORDS}: no kubeconfig file`));
    await running.said(`${policies}:1:16: warning: p.resource: ${WARNING}`);
  });

  for (const strict of [[], ["--strict"]]) {
    test(`serve ${strict.join("")} keeps out policies that begin to need one: whoever denied goes on denying`, async (context) => {
      const { server, policies } = await clusterWithPolicy(context);
      const rules = `resourceRules: [ { apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] } ]`;
      const write = (constraints: string, message: string) =>
        server.file(
          "resource.yaml",
          `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: v }
spec:
  failurePolicy: Ignore
  matchConstraints: { ${constraints}${rules} }
  validations: [ { expression: "false", message: ${message} } ]
`,
        );
      write("", "one");
      const running = await startExample("--workers", "1", "--policies", policies, ...strict);
      context.after(() => running.stop());
      const message = async () => (await answerOf(running)).status?.message ?? "allowed";
      assert.match(await message(), /denied request: one$/);
      write("namespaceSelector: { matchLabels: { env: prod } }, ", "two");
      process.kill(running.pid, "SIGHUP");
      const [, reason = ""] = await running.said(/reload kept out.*?reason=(.*)\n/);
      assert.match(await message(), /denied request: one$/);
      assert.match(reason, new RegExp(`${WORDS}: no kubeconfig file; .*p asks a cluster for the labels of Namespaces`));
      assert.match(reason, /Write Namespaces as YAML documents beside it/);
      write("", "three");
      process.kill(running.pid, "SIGHUP");
      await until("the reload", async () => / three$/.test(await message()));
    });
  }

  test("a failurePolicy of Ignore lets requests through that depend on labels or parameters, and none that depend on an expression", async (context) => {
    const { server, policies } = await clusterWithPolicy(context);
    const rules = `resourceRules: [ { apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] } ]`;
    const selecting = "namespaceSelector: { matchLabels: { env: prod } }, ";
    const write = (name: string, expression: string, constraints: string, more = "", binding = "") =>
      server.file(
        `${name}.yaml`,
        POLICY.split("spec:")[0] +
          `spec:\n  failurePolicy: Ignore\n  matchConstraints: { ${constraints}${rules} }\n${more}  validations: [ { expression: "${expression}" } ]\n${binding}`,
      );
    write("labels", "false", selecting);
    write("parameters", "params == null", "", "  paramKind: { apiVersion: v1, kind: ConfigMap }\n", BINDING);
    write("object", "namespaceObject == null", "");
    write("authorizer", "authorizer.path('/x').check('get').allowed()", "");
    const names = ["labels", "parameters", "object", "authorizer"];
    writeFileSync(policies, names.map((name) => `${name}: { resource: ${name}.yaml }\n`).join(""));
    const running = await startExample("--workers", "1", "--policies", policies);
    context.after(() => running.stop());
    const allowed = await Promise.all(names.map(async (name) => (await answerOf(running, name)).allowed));
    assert.deepEqual(allowed, [true, true, false, false]);
    for (const name of names) {
      const [, said = ""] = await running.said(new RegExp(`warning: ${name}\\.resource: (.*)\n`));
      assert.equal(
        said.includes("unless its failurePolicy is Ignore"),
        name === "labels" || name === "parameters",
        said,
      );
    }
  });

  test("policies that needed one from the start may be loaded anew", async (context) => {
    const { policies } = await clusterWithPolicy(context);
    const running = await startExample("--workers", "1", "--policies", policies);
    context.after(() => running.stop());
    writeFileSync(
      policies,
      `p: { resource: resource.yaml }\nq: { cel: { validations: [ { expression: "true" } ] } }\n`,
    );
    process.kill(running.pid, "SIGHUP");
    await running.said("reloaded policies");
    await deniedWithoutCluster(running);
  });

  test("serve starts when told to, says so, and the policy allows nothing", async (context) => {
    const { server, policies } = await clusterWithPolicy(context);
    const missing = server.file("broken", "{}");
    const args = ["--workers", "1", "--policies", policies, "--kubeconfig", missing, "--strict"];
    const running = await startExample(...args, "--ignore-kubernetes-connection-failure");
    context.after(() => running.stop());
    await deniedWithoutCluster(running);
    await running.said(WORDS);
  });
});
