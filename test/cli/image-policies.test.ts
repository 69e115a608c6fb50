/** ImageValidatingPolicies on the command line, over the golden images. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.js";
import { folder } from "../fetch/helpers.js";
import { written } from "../support/written.js";

const GOLDEN = fileURLToPath(new URL("../../../test/fixtures/images/", import.meta.url));
const keyOf = (name: string): string => JSON.stringify(readFileSync(join(GOLDEN, "keys", `${name}.pub`), "utf8"));
const RULES =
  '{resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}]}';

const policy = (
  name: string,
  key: string,
  expression: string,
  spec = "validationConfigurations: {verifyDigest: false}",
) => `
apiVersion: policies.kyverno.io/v1
kind: ImageValidatingPolicy
metadata: {name: ${name}}
spec:
  ${spec}
  matchConstraints: ${RULES}
  attestors: [{name: key, cosign: {key: {data: ${keyOf(key)}}}}]
  attestations: [{name: scan, intoto: {type: "https://example.com/scan/v1"}}]
  validations: [{expression: "images.containers.all(i, ${expression} > 0)", message: ${name} says no}]
`;
const SIGNED = "verifyImageSignatures(i, [attestors.key])";
const SCANNED = "verifyAttestationSignatures(i, attestations.scan, [attestors.key])";

const POLICIES = `
ours: {resource: signed.yaml}
monitored: {resource: signed.yaml, policyMode: monitor}
pinned: {resource: strict.yaml, allowedToMutate: true}
either:
  expression: signed() || (vendor_image() && scanned())
  message: neither signed nor scanned
  policies:
    signed: {resource: signed.yaml}
    vendor_image: {cel: {validations: [{expression: "object.spec.containers.all(c, c.image.startsWith('localhost:5055/vendor/'))"}]}}
    scanned: {resource: scanned.yaml}
cautious:
  expression: "vendor_image() && scanned()"
  message: not from the vendor
  policies:
    vendor_image: {cel: {validations: [{expression: "object.spec.containers.all(c, c.image.startsWith('localhost:5055/vendor/'))"}]}}
    scanned: {resource: scanned.yaml}
first_container:
  expression: "first({'apiVersion': dyn('v1'), 'kind': dyn('Pod'), 'metadata': object.metadata, 'spec': dyn({'containers': [object.spec.containers[0]]})})"
  message: the first one is not signed
  policies:
    first: {resource: signed.yaml}
`;

/** A folder with these policies, and the command line in it. */
function start(context: TestContext) {
  const root = folder(context, {
    "policies.yaml": POLICIES,
    "signed.yaml": policy("signed", "cosign", SIGNED),
    "strict.yaml": policy("strict", "cosign", SIGNED, "validationConfigurations: {}"),
    "scanned.yaml": policy("scanned", "other", SCANNED),
  });
  const at = (name: string): string => join(root, name);
  const layout = ["--image-layout", GOLDEN, "--sigstore-trust-config", join(GOLDEN, "trust.json")];
  const run = async (command: string, ...args: string[]) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const own = command === "eval" ? ["--policies", at("policies.yaml")] : [];
    const io = { env: { HOME: root }, stdin: new PassThrough(), stdout, stderr };
    const exitCode = await runCommandLine([command, ...args, ...own, ...(command === "check" ? [] : layout)], io);
    return { exitCode, stdout: written(stdout), stderr: written(stderr) };
  };
  const pod = (...images: readonly string[]): string => {
    const name = images[0]?.replace(/\W+/g, "-") ?? "none";
    const containers = images.map((image, i) => ({ name: `c${i}`, image: `localhost:5055/${image}` }));
    const object = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "ns" }, spec: { containers } };
    writeFileSync(at(`${name}.yaml`), JSON.stringify(object));
    return at(`${name}.yaml`);
  };
  return { run, pod, at };
}

describe("eval", () => {
  test("answers with the reasons beside the answer, and with the codes of other kinds", async (context) => {
    const { run, pod } = start(context);
    assert.equal((await run("eval", "ours", "--object", pod("team/app:bundle-key"))).exitCode, 0);
    const denied = await run("eval", "ours", "--object", pod("team/app:legacy-key-other"), "-o", "text");
    assert.equal(denied.exitCode, 1);
    assert.match(denied.stdout, /^DENIED[\s\S]*Policy signed failed: signed says no/);
    assert.match(denied.stderr, /detail: localhost:5055\/team\/app:legacy-key-other is not verified by key: /);
    const error = await run("eval", "ours", "--object", pod("team/app:gone"), "-o", "text");
    assert.equal(error.exitCode, 2);
    assert.match(
      error.stdout,
      /Policy signed error: failed to evaluate policy: image localhost:5055\/team\/app:gone: /,
    );
    const monitored = await run("eval", "monitored", "--object", pod("team/app:unsigned"), "-o", "text");
    assert.equal(monitored.exitCode, 0);
    assert.match(
      monitored.stdout,
      /monitor mode lets it pass; it would be denied: Policy signed failed: signed says no/,
    );
  });

  test("--explain shows counts of signatures", async (context) => {
    const { run, pod } = start(context);
    const { stderr } = await run("eval", "ours", "--object", pod("team/app:unsigned"), "--explain");
    assert.match(stderr, /ImageValidatingPolicy 'signed': fail: signed says no/);
    assert.match(stderr, /verifyImageSignatures\(i, \[attestors\.key\]\) {2}→ {2}0/);
  });

  test("writes the digests that were verified", async (context) => {
    const { run, pod } = start(context);
    const { exitCode, stdout } = await run("eval", "pinned", "--object", pod("team/app:legacy-key"));
    assert.equal(exitCode, 0, stdout);
    const { patch } = (JSON.parse(stdout) as { response: { patch: string } }).response;
    assert.deepEqual(JSON.parse(Buffer.from(patch, "base64").toString()), [
      {
        op: "replace",
        path: "/spec/containers/0/image",
        value:
          "localhost:5055/team/app:legacy-key@sha256:f98ebb883267cef87d682213a978780df5831a7c326c12e81e48829186074dfd",
      },
    ]);
    assert.equal((await run("eval", "pinned", "--object", pod("team/app:unsigned"))).exitCode, 1);
  });

  test("asks members of groups, and no registry for one that does not count", async (context) => {
    const { run, pod } = start(context);
    const answer = async (id: string, ...images: string[]) => {
      const { stdout, stderr } = await run("eval", id, "--object", pod(...images), "-o", "text");
      return `${stdout.split(/\s/, 1)[0]} ${(stderr.match(/is not verified by/g) ?? []).length}`;
    };
    assert.equal(await answer("either", "team/app:bundle-key"), "ALLOWED 0");
    assert.equal(await answer("either", "vendor/tool:signed"), "ALLOWED 1");
    assert.equal(await answer("either", "vendor/tool:unsigned"), "DENIED 2");
    assert.equal(await answer("either", "team/app:unsigned"), "DENIED 1");
    assert.equal(await answer("either", "vendor/tool:gone"), "ERROR 0");
    assert.equal(await answer("cautious", "team/app:gone"), "DENIED 0");
    assert.equal(await answer("first_container", "team/app:bundle-key", "team/app:unsigned"), "ALLOWED 0");
    assert.equal(await answer("first_container", "team/app:unsigned", "team/app:bundle-key"), "DENIED 1");
  });
});

describe("check", () => {
  test("says once that tags are refused, with what to write", async (context) => {
    const { run, at } = start(context);
    writeFileSync(
      at("policies.yaml"),
      "p: {resource: strict.yaml}\nq: {resource: strict.yaml, allowedToMutate: true}\n",
    );
    const { exitCode, stdout, stderr } = await run("check", at("policies.yaml"));
    assert.equal(exitCode, 0, stdout + stderr);
    const said = (stdout + stderr).match(
      /images with tags are refused, since tags are not replaced by digests: [^\n]*/g,
    );
    assert.equal(said?.length, 1);
    assert.match(said[0], /write allowedToMutate: true in the entry, or verifyDigest: false/);
  });
});

describe("apply and test", () => {
  test("report results under the policy's name and its own source, and change nothing", async (context) => {
    const { run, pod, at } = start(context);
    const resources = ["bundle-key", "unsigned", "gone"].flatMap((tag) => ["--resource", pod(`team/app:${tag}`)]);
    const { stdout, exitCode } = await run(
      "apply",
      at("signed.yaml"),
      ...resources,
      "--policy-report",
      "--output-format",
      "json",
    );
    assert.equal(exitCode, 1);
    const entries = [...stdout.matchAll(/"(rule|result|source)":"([^"]*)"/g)].map(
      ([, key, value]) => `${key} ${value}`,
    );
    for (const entry of [
      "source KyvernoImageValidatingPolicy",
      "rule signed",
      "rule evaluation",
      "result pass",
      "result fail",
      "result error",
    ])
      assert.ok(entries.includes(entry), `${entry}: ${stdout}`);
    const tagged = await run("apply", at("strict.yaml"), "--resource", pod("team/app:bundle-key"));
    assert.match(tagged.stdout, /strict image localhost:5055\/team\/app:bundle-key does not have a digest/);
    const { stderr } = await run("apply", at("signed.yaml"), "--resource", pod("team/app:unsigned"));
    assert.match(
      stderr,
      /^detail: policy signed -> resource ns\/Pod\/\S+: \S+ is not verified by key: no signatures found$/m,
    );
  });

  test("compare rows by the policy's name, with exceptions and payloads", async (context) => {
    const { run, pod, at } = start(context);
    const exception = {
      apiVersion: "policies.kyverno.io/v1",
      kind: "PolicyException",
      metadata: { name: "e", namespace: "ns" },
      spec: {
        policyRefs: [{ name: "signed", kind: "ImageValidatingPolicy" }],
        matchConditions: [{ name: "n", expression: "object.metadata.name == 'team-app-legacy-key-other'" }],
      },
    };
    writeFileSync(at("exception.yaml"), JSON.stringify(exception));
    const tags = { "bundle-key": "pass", unsigned: "fail", gone: "error", "legacy-key-other": "skip" };
    const row = ([tag, result]: readonly [string, string]) => ({
      ...{ policy: "signed", kind: "Pod", isImageValidatingPolicy: true, result },
      resources: [`team-app-${tag}`],
    });
    const suite = {
      apiVersion: "cli.kyverno.io/v1alpha1",
      kind: "Test",
      metadata: { name: "t" },
      policies: ["signed.yaml"],
      resources: Object.keys(tags).map((tag) => pod(`team/app:${tag}`)),
      exceptions: ["exception.yaml"],
      results: Object.entries(tags).map(row),
    };
    writeFileSync(at("kyverno-test.yaml"), JSON.stringify(suite));
    const { exitCode, stdout } = await run("test", at("kyverno-test.yaml"));
    assert.match(stdout, /4 tests passed and 0 tests failed/);
    assert.equal(exitCode, 0);
  });
});
