/** `replay`: requests of every form against a configuration. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { runCommandLine } from "../../src/cli/command-line.js";

const folder = mkdtempSync(join(tmpdir(), "replay-"));
after(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: string | Buffer): string => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
};

const policies = (expression: string, more = "", message = "not here"): string =>
  `pods:\n  cel:\n    validations:\n      - expression: ${JSON.stringify(expression)}\n        message: ${message}\n${more}`;
const NO_HOST = "!object.spec.?hostNetwork.orValue(false)";
const same = write("same.yaml", policies(NO_HOST));

interface Change {
  readonly policy: string;
  readonly change: string;
  readonly place: string;
  readonly request: { readonly uid: string };
  readonly after: { readonly undecided?: string };
  readonly redacted?: boolean;
  readonly doubts?: readonly string[];
}
interface Result {
  readonly changes: readonly Change[];
  readonly policies: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly total: Readonly<Record<string, number>>;
  readonly unreadable: { readonly count: number; readonly first: readonly { place: string; why: string }[] };
  readonly skipped: Readonly<Record<string, number>>;
}

async function run(args: readonly string[], stdin = ""): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const io = { env: { KUBECONFIG: join(folder, "none") }, stdin: Readable.from([stdin]), stdout, stderr };
  const [out, err] = [text(stdout), text(stderr)];
  const code = await runCommandLine(["replay", ...args], io);
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

async function json(args: readonly string[], stdin = ""): Promise<Result> {
  const { out, err } = await run([...args, "-o", "json"], stdin);
  assert.notEqual(out, "", err);
  return JSON.parse(out) as Result;
}

const pods = { group: "", version: "v1", resource: "pods" };
const request = (uid: string, spec: object, more: object = {}) => ({
  ...{ uid, kind: { group: "", version: "v1", kind: "Pod" }, resource: pods, name: "web", namespace: "shop" },
  ...{ operation: "CREATE", userInfo: { username: "ann" } },
  object: { apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec },
  ...more,
});
const line = (uid: string, spec: object, response: object, more: object = {}): string =>
  JSON.stringify({
    ...{ record: "policy-server/v1", time: "2026-01-01T00:00:00Z", policy: "pods", origin: "validate", generation: 1 },
    ...{ request: request(uid, spec), response, outcome: "x", milliseconds: 1, ...more },
  });
const denied = { allowed: false, code: 422, message: "not here" };
const recorded = [
  line("a", {}, { allowed: true }, { outcome: "allow" }),
  line("b", { hostNetwork: true }, denied, { outcome: "deny" }),
].join("\n");
const recording = write("recording.jsonl", recorded);

describe("replay of a recording", () => {
  test("what is no verdict is unreadable, and not a denial or the same; words of others do nothing to a terminal", async () => {
    const event = { kind: "Event", apiVersion: "audit.k8s.io/v1", verb: "create", stage: "ResponseComplete" };
    const odd = { ...event, level: "a\u001b[31m\nb", objectRef: {} };
    const file = write(
      "odd.jsonl",
      [line("a", {}, {}), line("b", {}, { allowed: "true" }), JSON.stringify(odd)].join("\n"),
    );
    const { code, out } = await run([file, "--policies", same]);
    assert.equal(code, 2);
    assert.match(out, /Could not be read: 2/);
    assert.match(out, /level a\\u001b\[31m b,/);
  });

  test("the configuration that it was recorded with changes nothing", async () => {
    const { code, out } = await run([recording, "--policies", same, "--fail-on-change"]);
    assert.equal(code, 0);
    assert.match(out, /│ pods +│ 2 +│ 2 +│ 0/);
    assert.match(out, /Nothing would change/);
  });

  test("what would be denied, allowed, said otherwise, or fail is counted, with examples and their places", async () => {
    const inverse = write("inverse.yaml", policies("object.spec.?hostNetwork.orValue(false) == true"));
    const { code, out } = await run([recording, "--policies", inverse, "--fail-on-change"]);
    assert.equal(code, 1);
    assert.match(
      out,
      /now denied {2}pods {2}CREATE Pod shop\/web uid a {2}.*recording\.jsonl:1\n {4}was: allowed\n {4}now: denied: not here/,
    );
    assert.match(out, /now allowed {2}pods .* uid b/);
    const words = write("words.yaml", policies(NO_HOST, "", "elsewhere"));
    assert.equal((await json([recording, "--policies", words])).total.message, 1);
    const failing = write("failing.yaml", policies("object.spec.nope == 1"));
    assert.deepEqual((await json([recording, "--policies", failing])).total.failed, 2);
  });

  test("a policy that is not there can't decide, unless it has another name now", async () => {
    const renamed = write("renamed.yaml", policies(NO_HOST).replace("pods:", "no-host:"));
    const missing = await json([recording, "--policies", renamed]);
    assert.equal(missing.total.undecided, 2);
    assert.match(missing.changes[0]?.after.undecided ?? "", /no such policy/);
    const mapped = await json([recording, "--policies", renamed, "--map", "pods=no-host"]);
    assert.deepEqual(mapped.policies["no-host"]?.same, 2);
    const { code, err } = await run([recording, "--policies", renamed, "--map", "pods=no-hots"]);
    assert.equal(code, 2);
    assert.match(err, /did you mean "no-host"/);
  });

  test("two configurations are compared with each other, whatever was recorded", async () => {
    const before = write("before.yaml", policies("true"));
    const { changes, total } = await json([recording, "--policies", same, "--against", before]);
    assert.deepEqual(
      changes.map(({ change, request: { uid } }) => [change, uid]),
      [["nowDenied", "b"]],
    );
    assert.equal(total.same, 1);
  });

  test("a change about a request with redacted fields is marked; a redacted message is no change", async () => {
    const redacted = { redacted: ["/request/object/x"], outcome: "deny" };
    const file = write(
      "redacted.jsonl",
      [
        line("c", { hostNetwork: true }, { ...denied, message: "[redacted]" }, redacted),
        line("d", {}, denied, redacted),
      ].join("\n"),
    );
    const { changes, total } = await json([file, "--policies", same]);
    assert.deepEqual(
      changes.map(({ change, redacted: marked }) => [change, marked]),
      [["nowAllowed", true]],
    );
    assert.equal(total.redacted, 1);
    assert.match((await run([file, "--policies", same])).out, /redacted fields: may differ/);
  });

  test("raw requests, requests to several policies, and mutations by their patches", async () => {
    const own = write(
      "own.yaml",
      `${policies(NO_HOST)}raw:\n  cel: { validations: [{ expression: "object.n > 1" }] }\n`,
    );
    const members = [{ policy: "pods", allowed: true, outcome: "allow", milliseconds: 1 }];
    const file = write(
      "several.jsonl",
      [
        line(
          "e",
          {},
          { allowed: true },
          { policy: "raw", origin: "validate_raw", request: undefined, payload: { n: 2 } },
        ),
        line("f", {}, { allowed: true }, { policy: "set/0123456789abcdef", members }),
        line("g", {}, { allowed: true, patch: [{ op: "add", path: "/x", value: 1 }] }),
      ].join("\n"),
    );
    const { changes, policies: rows } = await json([file, "--policies", own]);
    assert.equal(rows.raw?.same, 1);
    assert.equal(rows.pods?.same, 1);
    assert.deepEqual(
      changes.map(({ change, request: { uid } }) => [change, uid]),
      [["patch", "g"]],
    );
  });

  test("broken lines are named by place, the others count; only when nothing is left it is an error", async () => {
    const file = write(
      "broken.jsonl",
      `{broken\n${recorded}\n{"record":"policy-server/v9"}\n{"timestamp":"t","fields":{"policy_id":"p","request_uid":"u"}}\n{"a":1}`,
    );
    const { total, unreadable } = await json([file, "--policies", same]);
    assert.equal(total.requests, 2);
    assert.deepEqual(
      unreadable.first.map(({ place, why }) => [place.slice(folder.length + 1), why.split(/[:,]/)[0]]),
      [
        ["broken.jsonl:1", "key must be a string at line 1 column 2"],
        ["broken.jsonl:4", 'a record of version "policy-server/v9"'],
        ["broken.jsonl:5", "a decision record of the log"],
        ["broken.jsonl:6", "neither a recorded request"],
      ],
    );
    const { code, err } = await run([write("nothing.jsonl", "{}\n{}"), "--policies", same]);
    assert.equal(code, 2);
    assert.match(err, /no request that a policy could be asked about/);
  });

  test("a file that is not there, no file, and a malformed --map are mistakes", async () => {
    for (const [args, message] of [
      [[join(folder, "nix")], /no such file/],
      [[], /which requests/],
      [[recording, "--map", "a"], /recorded id/],
      [[recording, "--policies", join(folder, "nix.yaml")], /nix\.yaml/],
    ] as const) {
      const { code, err } = await run([...args]);
      assert.equal(code, 2);
      assert.match(err, message);
    }
  });
});

describe("replay of what others wrote", () => {
  const review = (uid: string, spec: object, response?: object): object => ({
    ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: request(uid, spec) },
    ...(response && { response }),
  });

  test("AdmissionReviews in files, arrays, YAML, packed, in folders and on standard input", async () => {
    const inside = join(folder, "reviews");
    mkdirSync(inside);
    write("reviews/one.json", JSON.stringify(review("1", { hostNetwork: true }), undefined, 2));
    write("reviews/array.json", JSON.stringify([review("2", {}), review("3", {})]));
    write("reviews/two.yaml", `---\n${JSON.stringify(review("4", {}))}\n---\n${JSON.stringify(review("5", {}))}\n`);
    write("reviews/packed.jsonl.gz", gzipSync(`${JSON.stringify(review("6", {}))}\n`));
    write("reviews/left-out.txt", "x");
    const bare = JSON.stringify(request("7", {}));
    const { total, changes } = await json([inside, "-", "--policies", same], bare);
    assert.equal(total.requests, 7);
    assert.deepEqual(
      changes.map(({ change, request: { uid } }) => [change, uid]),
      [["denies", "1"]],
    );
  });

  test("an answer beside the request is what it is compared with", async () => {
    const file = write("answered.json", JSON.stringify(review("1", {}, { uid: "1", allowed: false })));
    assert.equal((await json([file, "--policies", same])).total.nowAllowed, 1);
  });

  test("only policies whose rules are about a request are asked, or those that are named", async () => {
    const rules = `matchConstraints: { resourceRules: [{ apiGroups: ["apps"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }] }`;
    const own = write(
      "rules.yaml",
      `${policies(NO_HOST)}apps:\n  cel: { ${rules}, validations: [{ expression: "false" }] }\n`,
    );
    const file = write("rules.json", JSON.stringify(review("1", {})));
    assert.deepEqual(Object.keys((await json([file, "--policies", own])).policies), ["pods"]);
    assert.deepEqual(Object.keys((await json([file, "--policies", own, "--policy", "apps"])).policies), ["apps"]);
  });

  test("events of an audit log: what was let in and would not be, what is not known, what can't be asked", async () => {
    const pod = (spec: object) => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec });
    const event = (id: string, verb: string, more: object): string =>
      JSON.stringify({
        ...{ kind: "Event", apiVersion: "audit.k8s.io/v1", level: "RequestResponse", auditID: id, verb },
        ...{ stage: "ResponseComplete", user: { username: "ann" }, responseStatus: { code: 201 } },
        ...{ objectRef: { resource: "pods", apiVersion: "v1", namespace: "shop", name: "web" }, ...more },
      });
    const status = { kind: "Status", apiVersion: "v1" };
    const host = pod({ hostNetwork: true });
    const file = write(
      "audit.log",
      [
        event("sent", "create", { requestObject: host, level: "Request" }),
        event("stored", "create", { requestObject: pod({}), responseObject: host }),
        event("patched", "patch", { requestObject: {}, responseObject: host, responseStatus: { code: 200 } }),
        event("patch alone", "patch", { requestObject: { spec: {} }, level: "Request" }),
        event("gone", "delete", { responseObject: pod({}) }),
        event("gone already", "delete", { responseObject: status }),
        event("refused", "create", { requestObject: host, responseStatus: { code: 403 }, responseObject: status }),
        event("read", "get", {}),
        event("begun", "create", { stage: "RequestReceived" }),
        event("names only", "create", { level: "Metadata" }),
      ].join("\n"),
    );
    const { changes, skipped, unreadable } = await json([file, "--policies", same]);
    assert.equal(unreadable.count, 0);
    assert.deepEqual(
      changes.map(({ change, request: { uid }, doubts = [] }) => [uid, change, doubts.length]),
      [
        ["sent", "nowDenied", 1],
        ["stored", "nowDenied", 0],
        ["patched", "nowDenied", 1],
        ["gone", "failed", 0],
        ["refused", "denies", 1],
      ],
    );
    assert.deepEqual(Object.values(skipped), [1, 1, 1, 1, 1]);
  });
});
