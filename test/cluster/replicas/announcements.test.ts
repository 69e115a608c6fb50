import assert from "node:assert/strict";
import { test } from "node:test";
import { announcementsOf } from "../../../src/cluster/replicas/announcements.js";
import { MAX_ANNOUNCED_BYTES, MAX_ANNOUNCED_POLICIES } from "../../../src/cluster/replicas/limits.js";
import { loadedVersion, policyRoute } from "../../../src/cluster/replicas/route-hash.js";
import { idOf } from "../../../src/cluster/webhooks/part.js";
import { byKey } from "../../config/from-cluster/support.js";
import { kubewarden } from "../webhooks/documents.js";

test("namespaces with most policies take nothing of what is told of the others", () => {
  const many = Array.from({ length: 2 * MAX_ANNOUNCED_POLICIES }, (_, i) => kubewarden(`p${i}`, {}, `big${i % 30}`));
  const others = [kubewarden("guard"), ...Array.from({ length: 50 }, (_, i) => kubewarden("guard", {}, `team${i}`))];
  const documents = byKey(...many, ...others);
  const { routes, loaded } = announcementsOf(
    { documents, sets: [] },
    { reports: (key) => [{ id: idOf(key) ?? "", key, generation: 1, state: "loaded", problems: [] }] },
  );
  for (const document of others) {
    assert.ok(routes.includes(policyRoute(idOf(document.key) ?? "")));
    assert.ok(loaded.includes(loadedVersion(document)));
  }
  assert.ok([...routes, ...loaded].join().length < 0.82 * MAX_ANNOUNCED_BYTES);
});
