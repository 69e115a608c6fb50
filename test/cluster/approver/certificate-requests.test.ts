import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { boundedCounts, CertificateRequests } from "../../../src/cluster/approver/certificate-requests.js";
import { jsonWeight } from "../../../src/data/json-weight.js";
import { certificateRequest } from "./support.js";

const decided = (name: string, type: string, namespace?: string) =>
  certificateRequest(name, { status: { conditions: [{ type, status: "True" }] } }, namespace);

describe("the requests of a cluster", () => {
  test("are held while they are undecided, without what no policy reads", () => {
    const requests = new CertificateRequests();
    const { apiVersion: _, kind: __, ...listed } = certificateRequest("a");
    requests.put({ ...listed, metadata: { ...listed.metadata, resourceVersion: "7", managedFields: [{}] } });
    const { object, version } = requests.get("team/a") ?? {};
    assert.equal(version, "7");
    const metadata = { name: "a", namespace: "team", uid: "uid-a", resourceVersion: "7", managedFields: [] };
    assert.deepEqual(object, { ...certificateRequest("a"), metadata });
    requests.put(decided("a", "Approved"));
    assert.equal(requests.get("team/a"), undefined);
  });

  test("are held up to so many bytes, of the others their names are known", () => {
    const requests = new CertificateRequests({ maxHeldBytes: jsonWeight(certificateRequest("a")) * 2 });
    for (const name of ["a", "b", "c"]) requests.put(certificateRequest(name));
    const held = () => ["a", "b", "c"].map((name) => requests.get(`team/${name}`)?.object !== undefined);
    assert.deepEqual(held(), [true, true, false]);
    requests.delete(certificateRequest("a"));
    requests.put(certificateRequest("c"));
    assert.deepEqual(held(), [false, true, true]);
    assert.equal(Array.from(requests.undecided()).length, 2);
  });

  test("are counted by namespace and decision, also after they changed or went", () => {
    const requests = new CertificateRequests();
    for (const object of [certificateRequest("a"), decided("b", "Approved"), decided("c", "Denied", "other-team")]) {
      requests.put(object);
    }
    requests.put(decided("a", "Denied"));
    requests.delete(decided("c", "Denied", "other-team"));
    assert.deepEqual(Array.from(requests.counts()), [
      { namespace: "team", status: "approved", count: 1 },
      { namespace: "team", status: "denied", count: 1 },
    ]);
  });

  test("that are decided are counted up to a limit", () => {
    const requests = new CertificateRequests({ maxCounted: 2 });
    for (const name of ["a", "b", "c"]) requests.put(decided(name, "Approved"));
    requests.put(certificateRequest("d"));
    assert.deepEqual(
      Array.from(requests.counts(), ({ status, count }) => [status, count]),
      [
        ["approved", 2],
        ["unmatched", 1],
      ],
    );
  });

  test("of too many namespaces are counted together", () => {
    const requests = new CertificateRequests();
    for (const namespace of ["one", "two", "three", "other"]) {
      requests.put(decided("a", "Approved", namespace));
      requests.put(certificateRequest("b", {}, namespace));
    }
    assert.deepEqual(
      boundedCounts(requests.counts(), 2).map(({ namespace, status, count }) => `${namespace} ${status} ${count}`),
      [
        "one approved 1",
        "one unmatched 1",
        "two approved 1",
        "two unmatched 1",
        "other approved 2",
        "other unmatched 2",
      ],
    );
  });
});
