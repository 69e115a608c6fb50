import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Policy } from "../../src/policy/policy.js";
import type { ServedPolicy } from "../../src/policy/served/policy-set.js";
import { admissionReview, entry, immediate, post, serve, type TestServer } from "./fake-policy.js";

const GOOD = admissionReview();
const ALLOWED =
  '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"0b3c","allowed":true,"auditAnnotations":null,"warnings":null}}';

/** The same entry of a guest whose instances begin so. */
const starting = (served: ServedPolicy, start: Policy["start"]): ServedPolicy => ({
  ...served,
  policy: { ...served.policy, ...(start && { start }) },
});

describe("routes (spec kubewarden.md 3.1, 3.3, 3.4)", () => {
  let server: TestServer;
  before(async () => {
    server = await serve([
      starting(
        entry("later", () => ({ verdict: "allow" })),
        { start: "cold", because: "it is told to" },
      ),
      starting(
        entry("warm", () => ({ verdict: "allow" })),
        { start: "warm" },
      ),
      immediate("now", () => ({ verdict: "allow" })),
      immediate("group/member", () => ({ verdict: "deny", message: "no", account: () => ({ decision: "Denied" }) })),
      immediate(
        "broken",
        () => ({ verdict: "error", message: "bootstrap failure: x", cause: "unavailable", final: true }),
        {
          mode: "monitor",
          unavailable: "bootstrap failure: x",
        },
      ),
    ]);
  });
  after(() => server.stop({ delay: 0, grace: 0 }));

  test("answers an AdmissionReview in full, whether the policy answers at once or later", async () => {
    for (const id of ["now", "later"]) {
      const response = await post(`${server.url}/validate/${id}`, GOOD);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("content-type"), "application/json");
      assert.equal(await response.text(), ALLOWED);
    }
  });

  test("a member is asked by either form of its id", async () => {
    for (const id of ["group/member", "group%2Fmember", "group%2fmember"]) {
      const body = (await (await post(`${server.url}/validate/${id}`, GOOD)).json()) as { response: unknown };
      assert.deepEqual(body.response, {
        uid: "0b3c",
        allowed: false,
        status: { message: "no" },
        auditAnnotations: null,
        warnings: null,
      });
    }
  });

  test("what a policy tells about its verdict is told of raw reviews only", async () => {
    const body = await (await post(`${server.url}/validate_raw/group/member`, { request: {} })).text();
    const response =
      '{"uid":"","allowed":false,"status":{"message":"no"},"auditAnnotations":null,"warnings":null,"decision":"Denied"}';
    assert.equal(body, `{"response":${response}}`);
  });

  test("raw reviews are answered without kind and apiVersion; the uid is the request's when it is a string", async () => {
    const uids: [unknown, string][] = [
      [{ uid: "raw-4" }, "raw-4"],
      [{ uid: 4 }, ""],
      [null, ""],
      [7, ""],
      ["text", ""],
      [[1], ""],
    ];
    for (const [request, uid] of uids) {
      const response = await post(`${server.url}/validate_raw/now`, { request, other: 1 });
      assert.equal(
        await response.text(),
        `{"response":{"uid":"${uid}","allowed":true,"auditAnnotations":null,"warnings":null}}`,
      );
    }
  });

  test("GET /policies lists what is served, and why something is not", async () => {
    const response = await fetch(`${server.url}/policies`);
    assert.equal(response.status, 200);
    const { policies } = (await response.json()) as { policies: { id: string; available: boolean; error?: string }[] };
    assert.deepEqual(
      policies.map(({ id, available }) => [id, available]),
      [
        ["later", true],
        ["warm", true],
        ["now", true],
        ["group/member", true],
        ["broken", false],
      ],
    );
    assert.equal(policies[4]?.error, "bootstrap failure: x");
  });

  test("GET /policies says how a guest's instances begin, and why not with more done before", async () => {
    const response = await fetch(`${server.url}/policies`);
    const { policies } = (await response.json()) as {
      policies: { id: string; start?: string; startReason?: string }[];
    };
    assert.deepEqual(
      policies.map(({ id, ...rest }) => [id, "start" in rest, rest.start, "startReason" in rest, rest.startReason]),
      [
        ["later", true, "cold", true, "it is told to"],
        ["warm", true, "warm", false, undefined],
        ["now", false, undefined, false, undefined],
        ["group/member", false, undefined, false, undefined],
        ["broken", false, undefined, false, undefined],
      ],
    );
  });

  test("probes have a port of their own, and metrics are on both", async () => {
    const readiness = await fetch(`${server.probes}/readiness`);
    assert.equal(readiness.status, 200);
    assert.equal(await readiness.text(), "");
    assert.equal((await fetch(`${server.probes}/readiness`, { method: "HEAD" })).status, 200);
    assert.equal((await fetch(`${server.probes}/readiness`, { method: "POST" })).status, 405);
    assert.equal((await fetch(`${server.probes}/liveness`)).status, 200);
    assert.equal((await fetch(`${server.probes}/other`)).status, 404);
    assert.equal((await fetch(`${server.url}/readiness`)).status, 404);
    assert.equal((await fetch(`${server.url}/debug/pprof/heap`)).status, 404);
    for (const base of [server.url, server.probes]) {
      const metrics = await fetch(`${base}/metrics`);
      assert.match(metrics.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
      assert.match(await metrics.text(), /^# TYPE kubewarden_policy_evaluations_total counter$/m);
    }
    assert.equal((await fetch(`${server.url}/metrics`, { method: "DELETE" })).status, 405);
  });
});
