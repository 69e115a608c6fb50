import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { REPORT_APIS } from "../../../src/cluster/audit/object-report.js";
import { audit, configMap, without } from "./support.js";

describe("rounds of the audit", () => {
  test("ask policies about what exists, and write a report of what is not in order", async (context) => {
    const { server, use, run, found, reports } = await audit(context);
    server.put("configmaps", configMap("good", { a: "b" }));
    server.put("configmaps", configMap("bad", { bad: "b" }));
    await use(without("no-bad", "bad") + without("no-worse", "worse"));
    const { counts, isWell, summary, written } = await run();
    assert.deepEqual(counts, { pass: 3, fail: 1, warn: 0, error: 0, skip: 0 });
    assert.deepEqual([summary.objects, summary.evaluated, summary.problems], [2, 2, []]);
    assert.equal(isWell, true);
    assert.deepEqual(Object.fromEntries(found), { bad: { "no-bad": "fail" } });
    assert.deepEqual(reports(), { bad: { "no-bad": "fail" } });
    assert.deepEqual([written?.applied, written?.deleted], [1, 0]);
    const report = server.object("reports", "uid-shop-bad-default", "shop");
    assert.deepEqual(report?.metadata.labels, {
      "app.kubernetes.io/managed-by": "policy-server",
      "policy-server.admission/audited-by": "default",
    });
    assert.deepEqual(report?.metadata.ownerReferences, [
      { apiVersion: "v1", kind: "ConfigMap", name: "bad", uid: "uid-shop-bad" },
    ]);
    assert.deepEqual(report?.summary, { pass: 1, fail: 1, warn: 0, error: 0, skip: 0 });
    assert.match(server.patches[0]?.query ?? "", /force=false/);
  });

  test("ask about nothing that has not changed, and still count it", async (context) => {
    const { server, use, run, found } = await audit(context);
    server.put("configmaps", configMap("good", { a: "b" }));
    server.put("configmaps", configMap("bad", { bad: "b" }));
    await use(without("no-bad", "bad"));
    await run();
    const again = await run();
    assert.equal(again.summary.evaluated, 0);
    assert.deepEqual(again.counts, { pass: 1, fail: 1, warn: 0, error: 0, skip: 0 });
    assert.equal(found.size, 0);
    server.put("configmaps", configMap("good", { bad: "b" }));
    const changed = await run();
    assert.equal(changed.summary.evaluated, 1);
    assert.deepEqual(changed.counts, { pass: 0, fail: 2, warn: 0, error: 0, skip: 0 });
    server.put("namespaces", { metadata: { name: "shop", uid: "uid-shop", labels: { team: "other" } } });
    assert.equal((await run()).summary.evaluated, 2, "what selectors see has changed");
    await use(without("no-bad", "worse"));
    const other = await run();
    assert.equal(other.summary.evaluated, 2);
    assert.equal(other.counts.pass, 2);
  });

  test("write nothing twice, and delete what is said of what is in order or gone", async (context) => {
    const { server, use, run, reports } = await audit(context);
    for (const name of ["a", "b", "c"]) server.put("configmaps", configMap(name, { bad: "b" }));
    await use(without("no-bad", "bad"));
    assert.equal((await run()).written?.applied, 3);
    const writes = server.patches.length;
    server.put("configmaps", configMap("a", { bad: "other" }));
    server.put("configmaps", configMap("b", {}));
    server.remove("configmaps", "c", "shop");
    const { written } = await run();
    assert.deepEqual([written?.applied, written?.deleted, written?.unchanged], [0, 2, 1]);
    assert.equal(server.patches.length, writes);
    assert.deepEqual(Object.keys(reports()), ["a"]);
  });

  test("know what an earlier process has written", async (context) => {
    const first = await audit(context);
    first.server.put("configmaps", configMap("a", { bad: "b" }));
    await first.use(without("no-bad", "bad"));
    await first.run();
    const [report] = first.server.objects("reports");
    const { server, use, run } = await audit(context);
    server.put("configmaps", configMap("a", { bad: "b" }));
    server.put("configmaps", configMap("now-good", {}));
    if (report !== undefined) {
      server.put("reports", report);
      server.put("reports", { ...report, metadata: { ...report.metadata, name: "uid-shop-now-good-default" } });
      server.put("reports", { ...report, metadata: { ...report.metadata, name: "uid-theirs", labels: {} } });
    }
    await use(without("no-bad", "bad"));
    const { written } = await run();
    assert.deepEqual([written?.applied, written?.deleted, written?.unchanged], [0, 1, 1]);
    assert.deepEqual(
      server.objects("reports").map(({ metadata }) => metadata.name),
      ["uid-shop-a-default", "uid-theirs"],
    );
  });

  test("neither change nor delete what another author has to say of the same object", async (context) => {
    const served = await audit(context);
    const command = await audit(context, { author: "audit.command", beside: served });
    const { server } = served;
    server.put("configmaps", configMap("a", { bad: "b", worse: "" }));
    await served.use(without("no-bad", "bad"));
    await command.use(without("no-worse", "worse"));
    for (const { run } of [served, command, served, command]) await run();
    const names = () => server.objects("reports").map(({ metadata }) => metadata.name);
    assert.deepEqual(names(), ["uid-shop-a-default", "uid-shop-a-audit.command"]);
    server.put("configmaps", configMap("a", { bad: "b" }));
    for (const { run } of [served, command]) await run();
    assert.deepEqual(names(), ["uid-shop-a-default"]);
    server.remove("configmaps", "a", "shop");
    await command.run();
    assert.deepEqual(names(), ["uid-shop-a-default"], "only its own author deletes it");
    await served.run();
    assert.deepEqual(names(), []);
  });

  test("delete what was said of an object that is in order since, once all policies can be asked again", async (context) => {
    const { server, use, run, reports, runner, source } = await audit(context);
    server.put("configmaps", configMap("a", { bad: "b" }));
    await use(without("no-bad", "bad"));
    await run();
    server.put("configmaps", configMap("a", {}));
    const { policies } = await source.load();
    runner.use({ policies, leftOut: [{ id: "broken", reason: "a mistake", isProblem: true }] });
    await run();
    assert.deepEqual(Object.keys(reports()), ["a"], "nobody knows what the other one would say");
    runner.use({ policies, leftOut: [] });
    await run();
    assert.deepEqual(Object.keys(reports()), []);
  });

  test("leave reports alone that others have written", async (context) => {
    const { server, use, run } = await audit(context);
    server.put("configmaps", configMap("a", { bad: "b" }));
    server.beforeWrite = (_, response) => {
      response.statusCode = 409;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ kind: "Status", reason: "Conflict", message: "Apply failed with 1 conflict" }));
    };
    await use(without("no-bad", "bad"));
    const { summary, isWell } = await run();
    assert.equal(isWell, false);
    assert.match(summary.problems[0] ?? "", /shop\/ConfigMap\/a: a report of that name belongs to another client/);
    server.beforeWrite = () => {};
    assert.equal((await run()).written?.applied, 1, "and try again in the next round");
  });

  test("tell what is wrong in one namespace however much is wrong in another", async (context) => {
    const { server, use, run } = await audit(context);
    for (let i = 0; i < 120; i++) server.put("configmaps", configMap(`m${i}`, { bad: "b" }));
    server.put("namespaces", { metadata: { name: "team", uid: "uid-team" } });
    server.put("configmaps", configMap("own", { bad: "b" }, "team"));
    server.beforeWrite = (_, response) => {
      response.statusCode = 500;
      response.end("no");
    };
    await use(without("no-bad", "bad"));
    const { problems } = (await run()).summary;
    assert.equal(problems.filter((each) => each.includes("report of shop/")).length, 10);
    assert.equal(problems.filter((each) => each.includes("report of team/ConfigMap/own")).length, 1);
    assert.equal(problems.at(-1), "110 more reports could not be written");
  });

  test("write none into a namespace that ends", async (context) => {
    const { server, use, run } = await audit(context);
    server.put("configmaps", configMap("a", { bad: "b" }));
    server.beforeWrite = (_, response) => {
      response.statusCode = 403;
      response.setHeader("content-type", "application/json");
      const message =
        'reports "a" is forbidden: unable to create new content in namespace shop because it is being terminated';
      response.end(JSON.stringify({ kind: "Status", reason: "Forbidden", message }));
    };
    await use(without("no-bad", "bad"));
    const { summary, written } = await run();
    assert.deepEqual([summary.problems, written?.applied], [[], 0]);
  });

  test("read and delete reports at the pace of all else", async (context) => {
    const { server, use, run } = await audit(context);
    for (let i = 0; i < 5; i++) server.put("configmaps", configMap(`m${i}`, { bad: "b" }));
    await use(without("no-bad", "bad"));
    await run();
    for (let i = 0; i < 5; i++) server.remove("configmaps", `m${i}`, "shop");
    let steps = 0;
    const pace = {
      step: () => {
        steps += 1;
        return undefined;
      },
    };
    const { written } = await run({ pace });
    assert.equal(written?.deleted, 5);
    assert.ok(steps >= 7, `${steps}: a page of reports twice, and five deletions`);
  });

  test("write none where there are no reports, and say it once", async (context) => {
    const { server, use, run } = await audit(context);
    for (const name of ["a", "b"]) server.put("configmaps", configMap(name, { bad: "b" }));
    server.special.set("/apis/openreports.io/v1alpha1/clusterreports", (_, response) => {
      response.statusCode = 404;
      response.end("404 page not found");
    });
    await use(without("no-bad", "bad"));
    const { summary, counts } = await run();
    assert.equal(counts.fail, 2);
    assert.equal(summary.problems.length, 1);
    assert.match(summary.problems[0] ?? "", /reports cannot be read/);
    assert.equal(server.patches.length, 0);
  });

  test("go on when a policy can't be loaded or a kind can't be listed, and delete nothing then", async (context) => {
    const { server, use, run, reports } = await audit(context);
    server.put("configmaps", configMap("a", { bad: "b" }));
    server.put("pods", { metadata: { name: "p", namespace: "shop", uid: "uid-p" }, spec: {} });
    const pods = without("no-pods", "x").replace("configmaps", "pods").replace("object.data", "object.metadata");
    await use(without("no-bad", "bad") + pods);
    await run();
    assert.deepEqual(reports(), { a: { "no-bad": "fail" } });
    await use(`${pods}no-bad: {cel: {validations: [{expression: "object.("}]}}\n`);
    const broken = await run();
    assert.deepEqual(
      broken.leftOut.map(({ id, isProblem }) => [id, isProblem]),
      [["no-bad", true]],
    );
    assert.equal(broken.isWell, false);
    assert.equal(broken.counts.pass, 1);
    assert.deepEqual(Object.keys(reports()), ["a"], "what it had to say stands");
    server.forbidden.add("list configmaps");
    await use(without("no-bad", "bad") + pods);
    const refused = await run();
    assert.match(refused.summary.problems[0] ?? "", /configmaps is forbidden/);
    assert.equal(refused.counts.pass, 1);
    assert.equal(refused.summary.isComplete, false);
    assert.deepEqual(Object.keys(reports()), ["a"]);
  });

  test("look at a replica's own objects only, and at none of namespaces that are left alone", async (context) => {
    const { server, use, run, reports } = await audit(context, { excluded: ["kube-system"] });
    for (const name of ["a", "b"]) server.put("configmaps", configMap(name, { bad: "b" }));
    server.put("configmaps", configMap("c", { bad: "b" }, "kube-system"));
    await use(without("no-bad", "bad"));
    await run();
    assert.deepEqual(Object.keys(reports()), ["a", "b"]);
    server.remove("configmaps", "b", "shop");
    const { summary } = await run({ isOwn: (uid) => uid.endsWith("a") });
    assert.equal(summary.objects, 1);
    assert.deepEqual(Object.keys(reports()), ["a", "b"], "another replica deletes it");
  });

  test("write the older reports where they are wanted, and cluster-wide ones for what is in no namespace", async (context) => {
    const { server, use, run, reports } = await audit(context, { api: REPORT_APIS.wgpolicyk8s });
    await use(
      without("owned", "x")
        .replace("configmaps", "namespaces")
        .replace("!('x' in object.data)", "'owner' in object.metadata.labels"),
    );
    await run();
    assert.deepEqual(reports("clusterpolicyreports"), { shop: { owned: "fail" } });
    assert.equal(server.objects("clusterpolicyreports")[0]?.kind, "ClusterPolicyReport");
  });

  test("call what is only to be warned of a warning, what is only to be noted a failure", async (context) => {
    const { server, use, run, found } = await audit(context);
    server.put("configmaps", configMap("a", { warn: "", note: "", deny: "", monitor: "" }));
    await use(
      without("warned", "warn", "  validationActions: [Warn]\n") +
        without("noted", "note", "  validationActions: [Audit]\n") +
        without("denied", "deny", "  validationActions: [Deny, Audit]\n") +
        without("monitored", "monitor", "  policyMode: monitor\n"),
    );
    await run();
    assert.deepEqual(found.get("a"), { warned: "warn", noted: "fail", denied: "fail", monitored: "fail" });
  });

  test("tell what can't be evaluated as an error", async (context) => {
    const { server, use, run } = await audit(context);
    server.put("configmaps", { metadata: { name: "a", namespace: "shop", uid: "uid-a" } });
    await use(without("no-bad", "bad"));
    const { counts, isWell } = await run();
    assert.deepEqual([counts.error, counts.pass, isWell], [1, 0, true]);
  });

  test("ask again about what hangs on more than the object", async (context) => {
    const { server, use, run } = await audit(context);
    server.put("configmaps", configMap("a", { a: "b" }));
    await use(
      without("asked", "bad").replace(
        "!('bad' in object.data)",
        "authorizer.group('').resource('pods').check('get').allowed()",
      ),
    );
    await run();
    assert.equal((await run()).summary.evaluated, 1);
  });

  test("outlive an object that something goes wrong with", async (context) => {
    const { server, use, run } = await audit(context);
    for (let i = 0; i < 300; i++) server.put("configmaps", configMap(`m${i}`, i === 0 ? { bad: "b" } : {}));
    await use(without("no-bad", "bad"));
    const { summary, isWell } = await run({ found: () => Promise.reject(new Error("nobody reads it")) });
    assert.deepEqual([summary.objects, summary.problems, isWell], [300, ["nobody reads it"], false]);
  });

  test("end when they are told to, and conclude nothing from what they have not seen", async (context) => {
    const { server, use, run, reports } = await audit(context);
    server.put("configmaps", configMap("a", { bad: "b" }));
    await use(without("no-bad", "bad"));
    await run();
    const { summary } = await run({ signal: AbortSignal.abort() });
    assert.equal(summary.isComplete, false);
    assert.deepEqual(Object.keys(reports()), ["a"]);
  });

  test("tell how far they are of all that there is", async (context) => {
    const { server, use, run } = await audit(context);
    for (let i = 0; i < 300; i++) server.put("configmaps", configMap(`m${i}`, {}));
    await use(
      without("no-bad", "bad") +
        without("owned", "x").replace("configmaps", "namespaces").replace("object.data", "object.metadata"),
    );
    const told: [number, number][] = [];
    await run({ progress: (done, total) => told.push([done, total]) });
    assert.deepEqual(
      told.map(([done]) => done),
      [250, 300, 301],
    );
  });
});
