import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, type TestContext, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";

const ADMISSION = "/apis/admissionregistration.k8s.io";

/** A cluster with a mutating policy that reads a parameter of the cluster. */
async function cluster(context: TestContext) {
  const server = await FakeApiServer.start(context);
  server.put("namespaces", { metadata: { name: "shop", uid: "uid-shop" } });
  server.put("configmaps", { metadata: { name: "teams", namespace: "shop", uid: "u" }, data: { team: "core" } });
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
  const spec = {
    ...{ reinvocationPolicy: "Never", matchConstraints: { resourceRules: [rule] } },
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    mutations: [
      {
        patchType: "ApplyConfiguration",
        applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'team': params.data.team}}}" },
      },
    ],
  };
  server.put("mutatingadmissionpolicies", { metadata: { name: "team", uid: "uid-p" }, spec });
  server.put("mutatingadmissionpolicies", { metadata: { name: "unbound", uid: "uid-q" }, spec });
  const paramRef = { name: "teams", namespace: "shop", parameterNotFoundAction: "Deny" };
  const binding = { policyName: "team", paramRef };
  server.put("mutatingadmissionpolicybindings", { metadata: { name: "team", uid: "uid-b" }, spec: binding });
  const pod = server.file("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: { name: web, namespace: shop }\n");
  return { server, args: ["--from-cluster", "--kubeconfig", server.kubeconfig(), "--object", pod, "-o", "text"] };
}

async function evaluate(...args: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  const io = { env: { HOME: "/nowhere" }, stdin: Readable.from([]), stdout, stderr };
  const code = await runCommandLine(["eval", ...args], io);
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

describe("eval --from-cluster", () => {
  test("explains what a policy of the cluster does, with the cluster's parameters", async (context) => {
    const { args } = await cluster(context);
    const { code, out, err } = await evaluate("mutatingadmissionpolicy-team", ...args, "--explain");
    assert.equal(code, 0, err);
    assert.match(out, /\+ {5}team: core/);
    assert.match(out, /MutatingAdmissionPolicy 'team'/);
    assert.match(out, /spec\.mutations\[0\]\.applyConfiguration\.expression: .* → {2}Object/);
  });

  test("knows those that are served: bound ones, in the version that the cluster has", async (context) => {
    const { args, server } = await cluster(context);
    const kinds = server.resources.get(`${ADMISSION}/v1`) ?? [];
    const isMutating = ({ name }: { readonly name: string }) => name.startsWith("mutatingadmission");
    server.resources.set(
      `${ADMISSION}/v1`,
      kinds.filter((each) => !isMutating(each)),
    );
    server.resources.set(`${ADMISSION}/v1beta1`, kinds.filter(isMutating));
    const { code, out } = await evaluate("--all", ...args);
    assert.equal(code, 0);
    assert.match(out, /ALLOWED {2}mutatingadmissionpolicy-team/);
    const unbound = await evaluate("mutatingadmissionpolicy-unbound", ...args);
    assert.equal(unbound.code, 2);
    assert.match(
      unbound.err,
      /unknown policy: mutatingadmissionpolicy-unbound .*known are mutatingadmissionpolicy-team/,
    );
  });

  test("says which kinds may not be read", async (context) => {
    const { args, server } = await cluster(context);
    server.forbidden.add("list mutatingadmissionpolicies");
    const { code, err } = await evaluate("mutatingadmissionpolicy-team", ...args);
    assert.equal(code, 2);
    assert.match(err, /^warning: .*mutatingadmissionpolicies is forbidden/m);
    assert.match(err, /the cluster has no policies/);
  });
});
