import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { type After, afterTimeout } from "../../../src/data/clock.js";
import { PolicyWebhook } from "../../../src/kinds/certificate-request-policy/policy-webhook.js";
import type { AdmissionRequest } from "../../../src/policy/index.js";

const request = (spec: object): AdmissionRequest => ({
  uid: "u",
  kind: { group: "policy.cert-manager.io", version: "v1alpha1", kind: "CertificateRequestPolicy" },
  resource: { group: "policy.cert-manager.io", version: "v1alpha1", resource: "certificaterequestpolicies" },
  operation: "CREATE",
  userInfo: {},
  object: {
    apiVersion: "policy.cert-manager.io/v1alpha1",
    kind: "CertificateRequestPolicy",
    metadata: { name: "p" },
    spec,
  },
});
const ruled = (...rules: readonly string[]): AdmissionRequest =>
  request({
    selector: { issuerRef: {} },
    allowed: { commonName: { validations: rules.map((rule) => ({ rule })) } },
  });
/** More than a request may have. */
const AMPLE = 60_000;
/** Milliseconds that a request may have: here they never pass, for a thread on a busy machine takes longer to begin. */
const MOST = 5000;
const patient: After = (milliseconds, call) => afterTimeout(milliseconds === MOST ? 600_000 : milliseconds, call);

/** A thread that does this with every message. */
const script = (does: string): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort } from "node:worker_threads"; parentPort.on("message", (request) => { ${does} });`)}`,
  );
const ALLOWS = script("parentPort.postMessage({ allowed: true, code: 200 })");
const HANGS = script("for (;;);");

describe("the webhook in its thread", () => {
  const webhooks: PolicyWebhook[] = [];
  const made = (url?: URL): PolicyWebhook => {
    const webhook = new PolicyWebhook(url, patient);
    webhooks.push(webhook);
    return webhook;
  };
  afterEach(() => {
    for (const webhook of webhooks.splice(0)) webhook.close();
  });

  test("answers one after the other, each with its own", async () => {
    const webhook = made();
    const answers = await Promise.all([
      webhook.answer(ruled("self == 'a'"), AMPLE),
      webhook.answer(ruled("true", "self.nope()"), AMPLE),
      webhook.answer({ ...ruled(), operation: "DELETE" }, AMPLE),
    ]);
    assert.deepEqual(
      answers.map(({ allowed, code }) => [allowed, code]),
      [
        [true, 200],
        [false, 403],
        [true, 200],
      ],
    );
    assert.match(
      answers[1]?.message ?? "",
      /^spec\.allowed\.commonName\.validations\[1\]: Invalid value: "self\.nope\(\)"/,
    );
  });

  test("reads numbers of every size", async () => {
    const constraints = { privateKey: { minSize: 9007199254740993n, maxSize: Object(2048) } };
    const answer = await made().answer(request({ selector: { issuerRef: {} }, constraints }), AMPLE);
    assert.deepEqual([answer.allowed, answer.code], [false, 400]);
    const { message } = await made().answer(
      request({ selector: { issuerRef: {} }, constraints: { privateKey: { minSize: 9007199254740993n } } }),
      AMPLE,
    );
    assert.match(message ?? "", /minSize: Invalid value: 9007199254740993: must be between 0 and 8192 inclusive$/);
  });

  test("cuts a message that nobody would read", async () => {
    const rules = Array.from({ length: 300 }, (_, i) => `${"x ".repeat(800)}${i}`);
    const { allowed, message = "" } = await made().answer(ruled(...rules), AMPLE);
    assert.equal(allowed, false);
    assert.equal(message.length, 256 * 1024 + 1);
  });

  test("refuses who has waited long enough, and answers the next one in a new thread", async () => {
    const webhook = made(HANGS);
    const [first, second] = await Promise.all([webhook.answer(ruled(), 50), webhook.answer(ruled(), 100)]);
    for (const { allowed, code } of [first, second]) assert.deepEqual([allowed, code], [false, 500]);
    const counted = made(
      script('if (request.operation === "CREATE") for (;;); parentPort.postMessage({ allowed: true, code: 200 })'),
    );
    const [hung, next] = await Promise.all([
      counted.answer(ruled(), 50),
      counted.answer({ ...ruled(), operation: "DELETE" }, AMPLE),
    ]);
    assert.deepEqual([hung.code, next.code], [500, 200]);
  });

  test("refuses when the thread fails, and only then", async () => {
    const webhook = made(
      script(
        'if (request.operation === "CREATE") throw new Error("a file: /etc/x"); parentPort.postMessage({ allowed: true, code: 200 })',
      ),
    );
    const [failed, next] = await Promise.all([
      webhook.answer(ruled(), AMPLE),
      webhook.answer({ ...ruled(), operation: "DELETE" }, AMPLE),
    ]);
    assert.deepEqual(failed, { allowed: false, code: 500, message: "the policy could not be checked" });
    assert.equal(next.code, 200);
  });

  test("refuses what has no place", async () => {
    const webhook = made(HANGS);
    const waiting = Array.from({ length: 65 }, () => webhook.answer(ruled(), AMPLE));
    assert.equal((await webhook.answer(ruled(), AMPLE)).code, 429);
    webhook.close();
    for (const { allowed, code } of await Promise.all(waiting)) assert.deepEqual([allowed, code], [false, 500]);
  });

  test("can be asked again after it was closed", async () => {
    const webhook = made(ALLOWS);
    assert.equal((await webhook.answer(ruled(), AMPLE)).code, 200);
    webhook.close();
    assert.equal((await webhook.answer(ruled(), AMPLE)).code, 200);
  });
});
