import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, ClusterUnreachable, publicReasonOf } from "../../../src/kubernetes/client/errors.js";

const USER = "system:serviceaccount:ns:name";

const WORDS: readonly [number, string, string, string][] = [
  [
    403,
    "Forbidden",
    `pods is forbidden: User "${USER}" cannot list resource "pods" in API group "" in the namespace "shop"`,
    'pods is forbidden: the policy server cannot list resource "pods" in API group "" in the namespace "shop"',
  ],
  [
    403,
    "Forbidden",
    `pods "a" is forbidden: User "with \\" quotes" cannot get resource "pods/status" in API group "" at the cluster scope: no role of ${USER}`,
    'pods "a" is forbidden: the policy server cannot get resource "pods/status" in API group "" at the cluster scope',
  ],
  [
    403,
    "Forbidden",
    `forbidden: User "${USER}" cannot get path "/apis"`,
    'forbidden: the policy server cannot get path "/apis"',
  ],
  [403, "Forbidden", `configmaps is forbidden: ${USER} has no role`, "configmaps is forbidden"],
  [403, "Forbidden", `${USER} may not`, "the API server answers 403 (Forbidden)"],
  [404, "NotFound", 'namespaces "a" not found', 'namespaces "a" not found'],
  [400, "BadRequest", 'field label not supported: "spec.x"', 'field label not supported: "spec.x"'],
  [400, "BadRequest", "see https://inside.example", "the API server answers 400 (BadRequest)"],
  [422, "Invalid", "dial tcp: lookup inside", "the API server answers 422 (Invalid)"],
  [409, "Conflict", "10.0.0.1 was faster", "the API server answers 409 (Conflict)"],
  [400, "BadRequest", "cannot open /var/run/secrets/token", "the API server answers 400 (BadRequest)"],
  [400, "BadRequest", "a".repeat(513), "the API server answers 400 (BadRequest)"],
  // Not the words of an API server: no Status came with them.
  [400, "", "nginx", "the API server answers 400"],
  [500, "InternalError", "quite harmless", "the API server answers 500 (InternalError)"],
  [503, "<b>", "down", "the API server answers 503"],
];

for (const [status, reason, message, shown] of WORDS) {
  test(`answers say of ${status} ${message.slice(0, 120)}: ${shown}`, () => {
    assert.equal(publicReasonOf(new ApiError(status, reason, message)), shown);
  });
}

test("words of ours are shown, those of a cause or of an unknown error are not", () => {
  assert.equal(publicReasonOf(new ClusterUnreachable("the list is too large")), "the list is too large");
  const cause = new Error("connect ECONNREFUSED 10.0.0.1:443");
  assert.equal(
    publicReasonOf(new ClusterUnreachable(`ask h: ${cause.message}`, { cause })),
    "the API server cannot be reached",
  );
  for (const thrown of [cause, "10.0.0.1:443", undefined, { shown: 1 }, Object.assign(new Error("h"), { shown: 1 })])
    assert.equal(publicReasonOf(thrown), "the policy server could not ask the cluster");
});
