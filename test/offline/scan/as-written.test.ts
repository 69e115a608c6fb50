import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { asStruct, structOfObject } from "../../../src/kubernetes/go-types/as-struct.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { asWritten } from "../../../src/offline/scan/as-written.js";

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", labels: {}, creationTimestamp: "2026-01-01T02:00:00+02:00" },
  spec: { containers: [{ name: "a", image: "i", args: [] }], nodeSelector: { x: "y" } },
};

/** The struct of the Pod, after a change: what a policy leaves of it. */
function changed(
  change: (pod: { metadata: Record<string, unknown>; spec: Record<string, unknown> }) => void,
): JsonObject {
  const type = structOfObject(POD);
  assert.ok(type);
  const shaped = asStruct(POD, type);
  assert.ok(shaped.ok);
  const pod = structuredClone(shaped.object);
  change(pod as unknown as Parameters<typeof change>[0]);
  return pod;
}

describe("an object that a policy of the API server has changed", () => {
  test("differs from the written one in what was changed only", () => {
    assert.notDeepEqual(
      changed(() => {}),
      POD,
    );
    assert.deepEqual(
      asWritten(
        POD,
        changed(() => {}),
      ),
      POD,
    );
    const labelled = changed(({ metadata }) => {
      metadata.labels = { a: "1" };
    });
    assert.deepEqual(asWritten(POD, labelled), { ...POD, metadata: { ...POD.metadata, labels: { a: "1" } } });
  });

  test("has members that were set, also in what its struct has added, and lacks those that were removed", () => {
    const left = asWritten(
      POD,
      changed(({ spec }) => {
        const [container] = spec.containers as [Record<string, unknown>];
        container.resources = { limits: { cpu: "1" } };
        delete spec.nodeSelector;
      }),
    );
    const [container] = POD.spec.containers;
    assert.deepEqual(left.spec, { containers: [{ ...container, resources: { limits: { cpu: "1" } } }] });
  });

  test("has items that were appended as they are, and its list as the policy left it where some are gone", () => {
    const sidecar = { name: "s", image: "i", resources: {} };
    const more = changed(({ spec }) => {
      (spec.containers as unknown[]).push(sidecar);
    });
    assert.deepEqual((asWritten(POD, more).spec as JsonObject).containers, [...POD.spec.containers, sidecar]);
    const none = changed(({ spec }) => {
      spec.containers = [];
    });
    assert.deepEqual((asWritten(POD, none).spec as JsonObject).containers, []);
  });

  test("is left as it is where it has no struct", () => {
    const widget = { apiVersion: "acme.example/v1", kind: "Widget", spec: { a: {} } };
    assert.deepEqual(asWritten(widget, { ...widget, spec: {} }), { ...widget, spec: {} });
  });
});
