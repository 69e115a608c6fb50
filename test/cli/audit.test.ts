import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, type TestContext, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { configMap, without } from "../cluster/audit/support.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";
import { placesIn, type Sarif, whatGitHubRefuses } from "../support/sarif.js";

async function cluster(context: TestContext, policies = without("no-bad", "bad")) {
  const server = await FakeApiServer.start(context);
  server.put("namespaces", { metadata: { name: "shop", uid: "uid-shop" } });
  server.put("configmaps", configMap("good", { a: "b" }));
  server.put("configmaps", configMap("bad", { bad: "b" }));
  server.put("configmaps", configMap("bad", { bad: "b" }, "other"));
  return { server, args: ["--kubeconfig", server.kubeconfig(), "--policies", server.file("policies.yaml", policies)] };
}

async function audit(args: readonly string[], tty = false) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  if (tty) Object.assign(stderr, { isTTY: true });
  const io = { env: { HOME: "/nowhere" }, stdin: Readable.from([]), stdout, stderr };
  const code = await runCommandLine(["audit", ...args], io);
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

const COUNTS = "\npass: 1, fail: 2, warn: 0, error: 0, skip: 0 (3 objects, 1 policy)\n";

describe("audit", () => {
  test("shows what fails in a table, with counts", async (context) => {
    const { args, server } = await cluster(context);
    const { code, out, err } = await audit(args);
    assert.equal(code, 1);
    assert.equal(err, "");
    assert.match(out, /│ no-bad │ ConfigMap\/shop\/bad\s+│ fail\s+│ no bad\s+│/);
    assert.match(out, /ConfigMap\/other\/bad/);
    assert.doesNotMatch(out, /good/);
    assert.ok(out.endsWith(COUNTS), out);
    assert.equal(server.patches.length, 0, "nothing is written");
  });

  test("looks at one namespace, or not at some", async (context) => {
    const { args } = await cluster(context);
    assert.match((await audit([...args, "-n", "shop"])).out, /pass: 1, fail: 1, .*\(2 objects/);
    assert.match(
      (await audit([...args, "--exclude-namespaces", "shop,kube-system"])).out,
      /pass: 0, fail: 1, .*\(1 object,/,
    );
  });

  test("is content with a cluster that is in order", async (context) => {
    const { args } = await cluster(context, without("no-worse", "worse"));
    const { code, out } = await audit(args);
    assert.equal(code, 0);
    assert.equal(out, "\npass: 3, fail: 0, warn: 0, error: 0, skip: 0 (3 objects, 1 policy)\n");
  });

  test("prints reports as JSON and YAML, and what is for people elsewhere", async (context) => {
    const { args } = await cluster(context);
    const json = await audit([...args, "-o", "json"]);
    const list = JSON.parse(json.out) as { items: { kind: string; scope: { namespace: string } }[] };
    assert.deepEqual(
      list.items.map(({ kind, scope }) => [kind, scope.namespace]),
      [
        ["Report", "shop"],
        ["Report", "other"],
      ],
    );
    assert.equal(json.err, COUNTS);
    const yaml = await audit([...args, "-o", "yaml", "--report-api", "wgpolicyk8s.io"]);
    assert.equal(yaml.out.match(/^---\napiVersion: wgpolicyk8s.io\/v1alpha2\nkind: PolicyReport\n/gm)?.length, 2);
    const none = await audit([...args, "-o", "json", "-n", "nowhere"]);
    assert.deepEqual(JSON.parse(none.out), { apiVersion: "v1", kind: "List", items: [] });
  });

  test("prints JUnit and SARIF", async (context) => {
    const { args } = await cluster(context);
    assert.match((await audit([...args, "-o", "junit"])).out, /<testsuite name="no-bad" tests="2" failures="2"/);
    const sarif = JSON.parse((await audit([...args, "-o", "sarif"])).out) as Sarif;
    assert.deepEqual(whatGitHubRefuses(sarif), []);
    // The cluster's objects are in no file: the policy's place counts.
    assert.deepEqual(
      placesIn(sarif).map((place) => place.replace(/.*\//, "")),
      ["policies.yaml:1", "policies.yaml:1"],
    );
  });

  test("writes reports when it is to", async (context) => {
    const { args, server } = await cluster(context);
    const { out } = await audit([...args, "--write-reports"]);
    assert.match(out, /reports written: 2, deleted: 0, unchanged: 0\)/);
    assert.equal(server.objects("reports").length, 2);
    assert.match((await audit([...args, "--write-reports"])).out, /reports written: 0, deleted: 0, unchanged: 2\)/);
  });

  test("tells what could not be looked at, which is no pass", async (context) => {
    const off =
      "deleted: {cel: {matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [DELETE], resources: [pods]}]}, validations: [{expression: 'true'}]}}\n";
    const { args, server } = await cluster(
      context,
      `${without("no-worse", "worse")}broken: {cel: {validations: [{expression: "object.("}]}}\n${off}`,
    );
    const broken = await audit(args);
    assert.equal(broken.code, 2);
    assert.match(broken.err, /^Error: the policy broken is not asked: /m);
    assert.match(
      broken.err,
      /^warning: the policy deleted is not asked: its rules are not for the creation of objects$/m,
    );
    server.forbidden.add("list configmaps");
    const refused = await audit([
      ...args.slice(0, 2),
      "--policies",
      server.file("good.yaml", without("no-worse", "worse")),
    ]);
    assert.equal(refused.code, 2);
    assert.match(refused.err, /^Error: \/api\/v1\/configmaps: configmaps is forbidden/m);
  });

  test("takes the policies that the cluster has", async (context) => {
    const { args, server } = await cluster(context);
    const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
    server.put("validatingadmissionpolicies", {
      metadata: { name: "vap", uid: "uid-vap" },
      spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "false", message: "never" }] },
    });
    server.put("validatingadmissionpolicybindings", {
      metadata: { name: "b", uid: "uid-b" },
      spec: { policyName: "vap", validationActions: ["Audit"] },
    });
    // Objects that exist have been mutated: not even a word of it.
    server.put("mutatingadmissionpolicies", { metadata: { name: "map", uid: "uid-map" }, spec: {} });
    server.put("mutatingadmissionpolicybindings", { metadata: { name: "b", uid: "c" }, spec: { policyName: "map" } });
    const both = await audit([...args, "--from-cluster"]);
    assert.equal(both.err, "");
    assert.match(both.out, /pass: 1, fail: 5, .*\(3 objects, 2 policies\)/);
    assert.match(both.out, /│ vap\s+│ ConfigMap\/shop\/good\s+│ fail\s+│ never/);
    server.forbidden.add("list validatingadmissionpolicies");
    const refused = await audit([...args, "--from-cluster"]);
    assert.equal(refused.code, 2);
    assert.match(refused.err, /^Error: .*validatingadmissionpolicies is forbidden/m);
    assert.match(refused.out, /fail: 2/);
  });

  test("tells of each policy of a file, by its name, with its own severity and exceptions", async (context) => {
    const { args, server } = await cluster(context);
    const policy = (name: string, expression: string, annotations: object) => ({
      apiVersion: "policies.kyverno.io/v1",
      kind: "ValidatingPolicy",
      metadata: { name, annotations },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
        },
        validations: [{ expression, message: `${name} says no` }],
        auditAnnotations: [{ key: "seen", valueExpression: "string(object.metadata.name)" }],
      },
    });
    const binding = { policyName: "vap", validationActions: ["Warn"] };
    const documents = [
      policy("no-bad", "!('bad' in object.data)", { "policies.kyverno.io/severity": "high" }),
      policy("nothing", "false", { "policies.kyverno.io/scored": "false", "policies.kyverno.io/category": "Tests" }),
      {
        apiVersion: "policies.kyverno.io/v1",
        kind: "PolicyException",
        metadata: { name: "e", namespace: "default" },
        spec: {
          policyRefs: [{ name: "nothing", kind: "ValidatingPolicy" }],
          matchConditions: [{ name: "n", expression: "object.metadata.name == 'good'" }],
        },
      },
      {
        ...policy("vap", "false", {}),
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingAdmissionPolicy",
      },
      {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingAdmissionPolicyBinding",
        metadata: { name: "b" },
        spec: binding,
      },
    ];
    server.file("all.yaml", documents.map((each) => JSON.stringify(each)).join("\n---\n"));
    const file = server.file("several.yaml", "shop:\n  resource: all.yaml\n");
    const { out, err } = await audit([...args.slice(0, 2), "--policies", file, "-n", "shop", "-o", "json"]);
    assert.equal(err, "\npass: 1, fail: 2, warn: 2, error: 0, skip: 1 (2 objects, 3 policies)\n");
    const reports = JSON.parse(out) as { items: { scope: { name: string }; results: Record<string, unknown>[] }[] };
    const told = reports.items.flatMap(({ scope, results }) =>
      results.map(({ policy: name, result, severity, category, scored, properties }) => [
        scope.name,
        name,
        result,
        severity ?? category,
        scored,
        properties,
      ]),
    );
    const process = "background scan";
    assert.deepEqual(told.sort(), [
      ["bad", "no-bad", "fail", "high", true, { "cel.validationIndex": "0", process, seen: "bad" }],
      ["bad", "nothing", "warn", "Tests", undefined, { "cel.validationIndex": "0", process, seen: "bad" }],
      ["bad", "vap", "warn", undefined, true, { binding: "b", process, seen: "bad" }],
      ["good", "nothing", "skip", "Tests", undefined, { process, exceptions: "e" }],
      ["good", "vap", "warn", undefined, true, { binding: "b", process, seen: "good" }],
    ]);
  });

  test("is not content where it has looked at nothing", async (context) => {
    const { args, server } = await cluster(context, without("no-worse", "worse"));
    const nowhere = await audit([...args, "-n", "shp"]);
    assert.equal(nowhere.code, 3);
    assert.match(nowhere.err, /^nothing was judged: no policy matched one of 0 objects in the namespace shp \(/);
    assert.equal((await audit([...args, "-n", "shp", "--allow-empty"])).code, 0);
    const misspelt = server.file("misspelt.yaml", without("no-worse", "worse").replaceAll("configmaps", "configmap"));
    assert.notEqual((await audit([...args.slice(0, 2), "--policies", misspelt])).code, 0);
    const none = await audit([...args.slice(0, 2), "--policies", server.file("none.yaml", "{}\n")]);
    assert.deepEqual(
      [none.code, none.err],
      [3, "nothing was judged: there is no policy to ask in the background (--allow-empty: exit 0 all the same)\n"],
    );
  });

  test("says how it can't begin", async (context) => {
    const { args, server } = await cluster(context);
    const missing = await audit([...args.slice(0, 2), "--policies", "/nowhere.yaml"]);
    assert.equal(missing.code, 2);
    assert.match(missing.err, /nowhere\.yaml/);
    assert.equal((await audit(["--kubeconfig", "/nowhere", ...args.slice(2)])).code, 2);
    assert.equal((await audit([...args, "-o", "xml"])).code, 2);
    assert.equal((await audit([...args, "more"])).code, 2);
    assert.deepEqual(server.requests, []);
  });
});
