import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { creatorOf } from "../../src/kubernetes/creator.js";

const request = (spec: unknown, more: object = {}): unknown => ({
  apiVersion: "cert-manager.io/v1",
  kind: "CertificateRequest",
  metadata: { name: "x" },
  spec,
  ...more,
});

describe("who made an object", () => {
  test("a CertificateRequest says it in its spec", () =>
    assert.deepEqual(
      creatorOf(request({ username: "bob", uid: "u", groups: ["a"], extra: { k: ["v"] }, isCA: true })),
      {
        username: "bob",
        uid: "u",
        groups: ["a"],
        extra: { k: ["v"] },
      },
    ));

  test("what it does not say is absent", () =>
    assert.deepEqual(creatorOf(request({ username: "bob" })), { username: "bob" }));

  test("members of a wrong type are left out", () =>
    assert.deepEqual(creatorOf(request({ username: "bob", uid: 5, groups: [1], extra: { k: "v" } })), {
      username: "bob",
    }));

  const silent: Readonly<Record<string, unknown>> = {
    "without a username": request({ groups: ["a"] }),
    "with an empty one": request({ username: "" }),
    "with one that is no text": request({ username: 5 }),
    "without a spec": request(undefined),
    "of another API": request({ username: "bob" }, { apiVersion: "certificates.k8s.io/v1" }),
    "of another kind": request({ username: "bob" }, { kind: "CertificateSigningRequest" }),
    "that is no object": "CertificateRequest",
  };
  for (const [name, object] of Object.entries(silent))
    test(`one ${name} does not say it`, () => assert.equal(creatorOf(object), undefined));
});
