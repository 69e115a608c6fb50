import assert from "node:assert/strict";
import { test } from "node:test";
import { ClusterDocuments } from "../../../src/config/from-cluster/index.js";
import { admissionPolicy, delta } from "./support.js";

const [A, B] = [admissionPolicy("a"), admissionPolicy("b")];
const keys = (documents: ClusterDocuments): readonly string[] => [...documents.documents.keys()].sort();

test("documents are kept up by deltas that follow each other", () => {
  const documents = new ClusterDocuments();
  assert.ok(documents.apply(delta(1, [A])));
  const sets = [{ hash: "h", members: ["x"] }];
  assert.ok(documents.apply(delta(2, [B], { base: 1, removed: [A.key], sets })));
  assert.deepEqual([keys(documents), documents.version, documents.sets], [[B.key], 2, sets]);
  assert.ok(documents.apply(delta(2, [], { base: 2 })));
  assert.deepEqual(keys(documents), [B.key]);
});

test("a delta that begins elsewhere changes nothing", () => {
  const documents = new ClusterDocuments();
  documents.apply(delta(5, [A]));
  for (const base of [4, 6]) assert.equal(documents.apply(delta(7, [B], { base })), false);
  assert.deepEqual([keys(documents), documents.version], [[A.key], 5]);
});

test("a whole state replaces what was there, but what is the same stays the same object", () => {
  const documents = new ClusterDocuments();
  documents.apply(delta(1, [A, B]));
  documents.apply(delta(9, [{ ...A }, admissionPolicy("c")]));
  assert.equal(documents.documents.get(A.key), A);
  assert.deepEqual(keys(documents), [A.key, admissionPolicy("c").key]);
});
