import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FakeApiServer, status } from "../../kubernetes/client/fake-api-server.js";
import { until } from "../../kubernetes/client/support.js";
import { certificateRequest, conditionsOf, eventsOf, REQUESTS, startApprover } from "./support.js";

const APPROVED = { result: "Approved", message: 'Approved by CertificateRequestPolicy: "p"' } as const;
const DENIED = { result: "Denied", message: "No policy approved this request: [p: no]" } as const;
const UNPROCESSED = { result: "Unprocessed", message: "No CertificateRequestPolicies exist" } as const;

describe("a decision", () => {
  for (const ruling of [APPROVED, DENIED]) {
    test(`${ruling.result} is applied to the status as approver-policy does it, with an event`, async (context) => {
      const server = await FakeApiServer.start(context);
      server.put(REQUESTS, certificateRequest("a"));
      const resourceVersion = server.object(REQUESTS, "a", "team")?.metadata.resourceVersion;
      const { lines } = await startApprover(context, server, () => ruling);
      await until("the condition", () => conditionsOf(server, "a").length > 0);
      const condition = {
        type: ruling.result,
        status: "True",
        reason: "policy.cert-manager.io",
        message: ruling.message,
        lastTransitionTime: "2026-01-02T03:04:05Z",
      };
      assert.deepEqual(server.patches, [
        {
          query: "?fieldManager=approver-policy&force=true",
          type: "application/apply-patch+yaml",
          body: {
            apiVersion: "cert-manager.io/v1",
            kind: "CertificateRequest",
            metadata: { name: "a", namespace: "team", resourceVersion },
            status: { conditions: [condition] },
          },
        },
      ]);
      assert.deepEqual(conditionsOf(server, "a"), [condition]);
      await until("the event", () => server.objects("events").length > 0);
      const type = ruling.result === "Approved" ? "Normal" : "Warning";
      assert.deepEqual(eventsOf(server), [`${ruling.result} a ${type}: ${ruling.message}`]);
      const { fields } = lines.find(({ level }) => level === "info") ?? {};
      assert.deepEqual(fields, {
        namespace: "team",
        name: "a",
        uid: "uid-a",
        decision: ruling.result,
        message: ruling.message,
      });
    });
  }

  test("leaves conditions of others alone", async (context) => {
    const server = await FakeApiServer.start(context);
    const ready = { type: "Ready", status: "False", reason: "Pending" };
    server.put(REQUESTS, certificateRequest("a", { status: { conditions: [ready] } }));
    await startApprover(context, server, () => APPROVED);
    await until("the condition", () => conditionsOf(server, "a").length === 2);
    assert.deepEqual(conditionsOf(server, "a")[0], ready);
  });

  test("is not asked for where one stands, also when it comes later", async (context) => {
    const server = await FakeApiServer.start(context);
    for (const type of ["Approved", "Denied"]) {
      server.put(REQUESTS, certificateRequest(type, { status: { conditions: [{ type, status: "True" }] } }));
    }
    server.put(
      REQUESTS,
      certificateRequest("odd", { status: { conditions: [{ type: "Approved", status: "False" }] } }),
    );
    const { reviewed, approver } = await startApprover(context, server, () => UNPROCESSED);
    await until("the odd one", () => reviewed.length === 1);
    server.put(REQUESTS, certificateRequest("later", { status: { conditions: [{ type: "Denied", status: "True" }] } }));
    server.put(REQUESTS, certificateRequest("new"));
    await until("the new one", () => reviewed.length === 2);
    assert.deepEqual(reviewed, ["odd", "new"]);
    assert.deepEqual(approver.counts(), [
      { namespace: "team", status: "approved", count: 1 },
      { namespace: "team", status: "denied", count: 2 },
      { namespace: "team", status: "unmatched", count: 2 },
    ]);
  });

  test("stands at once, also when the watch says so later", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    const test = await startApprover(context, server, () => undefined);
    await until("the review", () => test.reviewed.length === 1);
    server.slow = true;
    test.decide = () => APPROVED;
    test.approver.policiesChanged();
    await until("the decision", () => test.approver.counts()[0]?.status === "approved");
    const watches = server.requests.filter((request) => /certificaterequests\?.*watch=true/.test(request));
    assert.equal(watches.length, 1, "nothing that a new watch has brought");
    test.approver.policiesChanged();
    server.put(REQUESTS, certificateRequest("marker"));
    await until("the marker", () => test.reviewed.includes("marker"));
    assert.deepEqual(test.reviewed, ["a", "a", "marker"]);
  });

  test("is made about requests that come while it watches, each once", async (context) => {
    const server = await FakeApiServer.start(context);
    const { reviewed } = await startApprover(context, server, () => APPROVED);
    for (let i = 0; i < 50; i++) server.put(REQUESTS, certificateRequest(`r${i}`));
    await until("all decisions", () => server.patches.length === 50);
    await until("all conditions", () => server.objects(REQUESTS).every(({ status }) => status !== undefined));
    assert.equal(reviewed.length, 50);
  });
});

describe("a request that changes meanwhile", () => {
  test("is looked at again: what was reviewed before is not written", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    let changed = false;
    server.beforeWrite = (request) => {
      if (request.method !== "PATCH" || changed) return;
      changed = true;
      server.put(REQUESTS, certificateRequest("a", { spec: { changed: true } }));
    };
    const { reviewed } = await startApprover(context, server, ({ spec }) =>
      (spec as { changed?: boolean }).changed ? DENIED : APPROVED,
    );
    await until("the decision", () => conditionsOf(server, "a").length > 0);
    assert.deepEqual(
      conditionsOf(server, "a").map(({ type }) => type),
      ["Denied"],
    );
    assert.deepEqual(reviewed, ["a", "a"]);
  });

  test("is left alone when somebody else has decided it", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    const conditions = [{ type: "Denied", status: "True", reason: "somebody" }];
    server.beforeWrite = () => server.put(REQUESTS, certificateRequest("a", { status: { conditions } }));
    const { reviewed, clock, lines } = await startApprover(context, server, ({ metadata }) =>
      (metadata as { name: string }).name === "a" ? APPROVED : UNPROCESSED,
    );
    await until("the conflict", () => lines.some(({ message }) => message.includes("could not be approved")));
    clock.move(3_600_000);
    server.beforeWrite = () => {};
    server.put(REQUESTS, certificateRequest("marker"));
    await until("the marker", () => reviewed.includes("marker"));
    assert.deepEqual(conditionsOf(server, "a"), conditions);
    assert.deepEqual([server.patches.length, reviewed], [1, ["a", "marker"]]);
    assert.ok(!eventsOf(server).some((event) => event.startsWith("Approved")));
  });

  test("is left alone when it was deleted", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    server.beforeWrite = () => server.remove(REQUESTS, "a", "team");
    const { reviewed, clock, lines } = await startApprover(context, server, () => APPROVED);
    await until("the attempt", () => lines.some(({ message }) => message.includes("deleted before it was decided")));
    clock.move(3_600_000);
    assert.deepEqual([server.patches.length, reviewed.length], [1, 1]);
  });

  test("is another one when it was deleted and made anew under its name", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    let done = false;
    server.beforeWrite = ({ method }) => {
      if (method !== "PATCH" || done) return;
      done = true;
      server.remove(REQUESTS, "a", "team");
      server.put(REQUESTS, certificateRequest("a", { spec: { another: true } }));
    };
    await startApprover(context, server, ({ spec }) => ((spec as { another?: boolean }).another ? DENIED : APPROVED));
    await until("the decision", () => conditionsOf(server, "a").length > 0);
    assert.deepEqual(
      conditionsOf(server, "a").map(({ type }) => type),
      ["Denied"],
    );
  });
});

describe("a review that fails", () => {
  test("is retried later and later, its cause is logged only", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    const approver = await startApprover(context, server, () => ({ result: "Error", cause: "secret cause" }));
    const { clock, lines, reviewed } = approver;
    const waits: unknown[] = [];
    for (let attempt = 1; attempt <= 12; attempt++) {
      await until(`attempt ${attempt}`, () => lines.filter(({ level }) => level === "warn").length === attempt);
      waits.push(lines.at(-1)?.fields.retry_ms);
      clock.move(Number(waits.at(-1)) - 1_000);
      assert.equal(reviewed.length, attempt, "not before its time");
      clock.move(2_000);
    }
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 150_000, 150_000, 150_000]);
    assert.equal(lines[0]?.fields.reason, "secret cause");
    assert.deepEqual(eventsOf(server), [
      "EvaluationError a Warning: approver-policy failed to review the request and will retry",
    ]);
    assert.deepEqual(conditionsOf(server, "a"), []);
    approver.decide = () => APPROVED;
    clock.move(300_000);
    await until("the decision", () => conditionsOf(server, "a").length > 0);
  });

  test("fails so too when it throws", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    const { lines } = await startApprover(context, server, () => Promise.reject(new Error("broken")));
    await until("the failure", () => lines.some(({ fields }) => String(fields.reason).includes("broken")));
    assert.equal(server.patches.length, 0);
  });

  test("is retried when the decision cannot be written, with a new review", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    server.beforeWrite = (_, response) => status(response, 403, "Forbidden", "may not approve");
    const { clock, lines, reviewed } = await startApprover(context, server, () => APPROVED);
    await until("the refusal", () => lines.some(({ message }) => message.includes("could not be approved")));
    assert.equal(server.objects("events").length, 0, "nothing is said that is not so");
    server.beforeWrite = () => {};
    clock.move(1_000);
    await until("the decision", () => conditionsOf(server, "a").length > 0);
    assert.deepEqual(reviewed, ["a", "a"]);
  });
});

describe("a request that nobody decides", () => {
  test("gets no condition, one event, and is looked at again when policies change", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    const test = await startApprover(context, server, () => UNPROCESSED);
    await until("the event", () => server.objects("events").length === 1);
    assert.deepEqual(eventsOf(server), ["Unprocessed a Normal: Request is not applicable for any policy so ignoring"]);
    test.clock.move(3_600_000);
    test.approver.policiesChanged();
    await until("the second review", () => test.reviewed.length === 2);
    test.decide = () => APPROVED;
    test.approver.policiesChanged();
    await until("the decision", () => conditionsOf(server, "a").length > 0);
    assert.equal(test.reviewed.length, 3);
  });

  test("is left to itself while there are no policies that could decide", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    const test = await startApprover(context, server, () => undefined);
    await until("the review", () => test.reviewed.length === 1);
    test.clock.move(3_600_000);
    assert.deepEqual([test.reviewed.length, server.objects("events").length], [1, 0]);
  });
});

describe("policies that change during a review", () => {
  test("make it count for nothing", async (context) => {
    const server = await FakeApiServer.start(context);
    server.put(REQUESTS, certificateRequest("a"));
    let release: () => void = () => {};
    const test = await startApprover(context, server, async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return APPROVED;
    });
    await until("the review", () => test.reviewed.length === 1);
    test.decide = () => DENIED;
    test.approver.policiesChanged();
    release();
    await until("the decision", () => conditionsOf(server, "a").length > 0);
    assert.deepEqual(
      conditionsOf(server, "a").map(({ type }) => type),
      ["Denied"],
    );
    assert.equal(server.patches.length, 1);
  });
});
