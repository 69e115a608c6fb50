import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { AdmissionRequest } from "../../src/policy/index.js";
import type { Webhook, WebhookAnswer } from "../../src/policy/webhook.js";
import { admissionReview, post, serve, type TestServer } from "./fake-policy.js";

/** Answers what a test says. */
class FakeWebhook implements Webhook {
  readonly path = "/check-things";
  readonly name = "things.example.com";
  readonly bodyLimit = 10_000;
  readonly asked: { readonly request: AdmissionRequest; readonly wait: number }[] = [];
  answers: () => Promise<WebhookAnswer> = async () => ({ allowed: true, code: 200 });

  answer(request: AdmissionRequest, wait: number): Promise<WebhookAnswer> {
    this.asked.push({ request, wait });
    return this.answers();
  }

  close(): void {}
}

describe("a webhook", () => {
  const webhook = new FakeWebhook();
  let server: TestServer;
  let url: string;
  before(async () => {
    server = await serve([], { webhooks: [webhook] });
    url = `${server.url}${webhook.path}`;
  });
  after(() => server.stop({ delay: 0, grace: 0 }));
  const says = (answer: WebhookAnswer): void => {
    webhook.answers = async () => answer;
  };
  const answered = async (review: object): Promise<unknown> => (await post(url, review)).json();

  test("answers in the version of the review, with its uid", async () => {
    says({ allowed: false, code: 403, reason: "Forbidden", message: "no" });
    const response = {
      uid: "0b3c",
      allowed: false,
      status: { message: "no", reason: "Forbidden", code: 403 },
      auditAnnotations: null,
      warnings: null,
    };
    for (const version of ["v1", "v1beta1"]) {
      const apiVersion = `admission.k8s.io/${version}`;
      const review = { ...admissionReview(), apiVersion };
      assert.deepEqual(await answered(review), { kind: "AdmissionReview", apiVersion, response });
    }
    const { apiVersion: _, ...bare } = admissionReview();
    assert.deepEqual(await answered(bare), {
      kind: "AdmissionReview",
      apiVersion: "admission.k8s.io/v1",
      response,
    });
  });

  test("is told how long its caller waits", async () => {
    says({ allowed: true, code: 200 });
    const response = await post(`${url}?timeout=3s`, admissionReview());
    assert.equal(response.status, 200);
    const { wait = 0, request } = webhook.asked.at(-1) ?? {};
    assert.ok(wait > 0 && wait < 3000, String(wait));
    assert.equal(request?.operation, "CREATE");
  });

  test("is asked with POST and JSON only, of its own size", async () => {
    const got = await fetch(url);
    assert.deepEqual([got.status, got.headers.get("allow")], [405, "POST"]);
    assert.equal((await post(url, "{}", { "Content-Type": "text/plain" })).status, 415);
    assert.equal((await post(url, "{")).status, 400);
    assert.equal((await post(url, "{}")).status, 422);
    assert.equal((await post(url, admissionReview({ object: "x".repeat(10_000) }))).status, 413);
    assert.equal((await post(`${url}/more`, admissionReview())).status, 404);
  });

  test("that fails allows nothing", async () => {
    webhook.answers = () => Promise.reject(new Error("broken"));
    const response = await post(url, admissionReview());
    assert.equal(response.status, 500);
    assert.doesNotMatch(await response.text(), /allowed|broken/);
  });

  test("is counted, and what it said is on record", async () => {
    says({ allowed: false, code: 400, message: "unreadable" });
    server.lines.length = 0;
    await post(url, admissionReview());
    const line = server.lines.find((each) => each.includes("things.example.com")) ?? "{}";
    const { fields: record } = JSON.parse(line) as { readonly fields: Record<string, unknown> };
    assert.deepEqual(
      [record.origin, record.policy_id, record.request_uid, record.allowed, record.response_code, record.outcome],
      ["webhook", "things.example.com", "0b3c", false, 400, "deny"],
    );
    assert.equal(record.response_message, "unreadable");
    const metrics = (await server.metrics.text()).join("");
    assert.match(metrics, /policy_server_http_request_seconds_count\{route="webhook",status="200"\} [1-9]/);
    assert.match(metrics, /policy_server_http_request_seconds_count\{route="webhook",status="413"\} 1/);
  });
});
