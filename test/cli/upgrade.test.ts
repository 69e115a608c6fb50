/** `check --upgrade` and `audit --upgrade` on the command line. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, type TestContext, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { configMap } from "../cluster/audit/support.js";
import { folder } from "../fetch/helpers.js";
import { FakeApiServer } from "../kubernetes/client/fake-api-server.js";

const POLICIES = `share:
  cel:
    validations: [{ expression: "!(double(object.data.share) > 5.0)" }]
named:
  cel:
    validations: [{ expression: "object.metadata.name != 'x'" }]
`;

async function run(...args: readonly string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  const io = { env: { HOME: "/nowhere" }, stdin: Readable.from([]), stdout, stderr };
  const code = await runCommandLine(args, io);
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

const requestFor = (share: string) =>
  JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: share,
      kind: { group: "", version: "v1", kind: "ConfigMap" },
      resource: { group: "", version: "v1", resource: "configmaps" },
      name: "c",
      namespace: "default",
      operation: "CREATE",
      userInfo: {},
      object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c", namespace: "default" }, data: { share } },
    },
  });

function files(context: TestContext, policies = POLICIES) {
  const root = folder(context, {
    "policies.yaml": policies,
    "recorded.jsonl": `${requestFor("NaN")}\n${requestFor("2")}\n${requestFor("nan")}\n`,
  });
  return { file: join(root, "policies.yaml"), recorded: join(root, "recorded.jsonl") };
}

describe("check --upgrade", () => {
  test("shows the request that is decided otherwise, and exits 1", async (context) => {
    const { file } = files(context);
    const { code, out } = await run("check", file, "--upgrade", "1.38");
    assert.equal(code, 1);
    assert.match(
      out,
      /policies.yaml:3:33: warning: share\.cel\.validations\[0\]\.expression: Kubernetes 1\.38 decides otherwise/,
    );
    assert.match(out, /before: denied \(.*NaN values cannot be ordered\)\n {2}then: allowed\n/);
    assert.match(out, /note: named\.cel: Kubernetes 1\.38 decides everything as before \[KUBERNETES_UPGRADE\]/);
    const json = await run("check", file, "--upgrade", "v1.38.1", "-o", "json");
    const { problems } = JSON.parse(json.out) as {
      problems: { witness?: { request: { object: { data: object } } } }[];
    };
    const [witness] = problems.flatMap((each) => each.witness ?? []);
    assert.deepEqual(witness?.request.object.data, { share: "NaN" });
    assert.match((await run("check", file, "--upgrade", "1.38", "-o", "sarif")).out, /"ruleId": ?"KUBERNETES_UPGRADE"/);
  });

  test("says nothing of it when it is not asked, and exits 0 where nothing changes", async (context) => {
    const { file } = files(context);
    assert.doesNotMatch((await run("check", file)).out, /KUBERNETES_UPGRADE/);
    const same = files(context, POLICIES.slice(POLICIES.indexOf("named")));
    assert.equal((await run("check", same.file, "--upgrade", "1.38")).code, 0);
  });

  test("asks about recorded requests, each of which it names", async (context) => {
    const { file, recorded } = files(context);
    const { code, out } = await run("check", file, "--upgrade", "1.38", "--recorded", recorded);
    assert.equal(code, 1);
    for (const line of [1, 3])
      assert.match(
        out,
        new RegExp(
          `recorded\\.jsonl:${line}:1: warning: Kubernetes 1\\.38 decides otherwise under share\n  before: denied .*\n  then: allowed`,
        ),
      );
    assert.doesNotMatch(out, /recorded\.jsonl:2:1: warning/);
    assert.match(out, /note: 2 of 6 decisions about recorded requests change with Kubernetes 1\.38/);
  });

  test("fails where no recorded request was judged", async (context) => {
    const { file } = files(context, POLICIES.slice(POLICIES.indexOf("named")));
    const folders = folder(context, { "empty.jsonl": "", "broken.jsonl": '{"kind":"AdmissionReview"' });
    for (const name of ["empty", "broken"]) {
      const { code, out } = await run("check", file, "--upgrade", "1.38", "--recorded", join(folders, `${name}.jsonl`));
      assert.equal(code, 1, out);
      assert.match(out, /warning: none of the policies was asked about a recorded request/);
    }
  });

  test("refuses what it cannot mean", async (context) => {
    const { file, recorded } = files(context);
    const refused = async (...args: readonly string[]) => {
      const { code, err } = await run("check", file, ...args);
      assert.equal(code, 2);
      return err;
    };
    assert.match(
      await refused("--upgrade", "1.37"),
      /Kubernetes 1\.37 decides everything as 1\.37: decisions change with 1\.38/,
    );
    assert.match(await refused("--upgrade", "1.39"), /'--upgrade <version>': there are no rules of "1\.39"/);
    assert.match(await refused("--upgrade", "1.38", "--kubernetes-version", "1.38"), /decides everything as 1\.38/);
    assert.match(await refused("--upgrade", "1.38", "--batch"), /--batch takes objects one by one/);
    assert.match(await refused("--recorded", recorded), /--recorded is for --upgrade/);
    assert.match(await refused("--upgrade", "1.38", "--recorded", "nowhere.jsonl"), /nowhere\.jsonl: no such file/);
  });
});

describe("audit --upgrade", () => {
  async function cluster(context: TestContext) {
    const server = await FakeApiServer.start(context);
    server.put("namespaces", { metadata: { name: "shop", uid: "uid-shop" } });
    server.put("configmaps", configMap("plain", { share: "2" }));
    server.put("configmaps", configMap("much", { share: "7" }));
    server.put("configmaps", configMap("odd", { share: "NaN" }));
    const rule = `matchConstraints: { resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps] }] }`;
    const policies = POLICIES.replaceAll("  cel:\n", `  cel:\n    ${rule}\n`);
    return ["--kubeconfig", server.kubeconfig(), "--policies", server.file("policies.yaml", policies)];
  }

  test("fails for the objects that are decided otherwise", async (context) => {
    const args = await cluster(context);
    const { code, out, err } = await run("audit", ...args, "--upgrade", "1.38", "--remove-color");
    assert.equal(err, "");
    assert.equal(code, 1);
    assert.match(out, /ConfigMap\/shop\/odd/);
    assert.match(out, /decides otherwise: denied/);
    assert.doesNotMatch(out, /much|plain/);
    assert.match(out, /pass: 5, fail: 1, warn: 0, error: 0, skip: 0/);
    assert.match((await run("audit", ...args, "--upgrade", "1.37")).err, /decisions change with 1\.38/);
    assert.match(
      (await run("audit", ...args, "--upgrade", "1.38", "--write-reports")).err,
      /leave out --write-reports/,
    );
    assert.match((await run("audit", ...args)).out, /ConfigMap\/shop\/much/);
  });
});
