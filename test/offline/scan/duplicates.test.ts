import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReportedResource } from "../../../src/offline/reports/finding.js";
import { Duplicates } from "../../../src/offline/scan/duplicates.js";

const named = (name: string, namespace = "ns", apiVersion = "apps/v1"): ReportedResource => ({
  apiVersion,
  kind: "Deployment",
  namespace,
  name,
  uid: "",
  resourceVersion: "",
});

test("the first of two with the same group, kind, namespace and name counts, in whatever version", () => {
  const duplicates = new Duplicates();
  assert.equal(duplicates.seen(named("a")), false);
  assert.equal(duplicates.seen(named("a", "other")), false);
  assert.equal(duplicates.seen(named("a", "ns", "extensions/v1beta1")), false);
  assert.equal(duplicates.seen(named("a", "ns", "apps/v1beta2")), true);
  assert.equal(duplicates.seen(named("a")), true);
});

test("those without a name are never the same", () => {
  const duplicates = new Duplicates();
  assert.equal(duplicates.seen(named("")), false);
  assert.equal(duplicates.seen(named("")), false);
});

test("many are remembered", () => {
  const duplicates = new Duplicates();
  for (let i = 0; i < 20_000; i++) assert.equal(duplicates.seen(named(`d${i}`)), false);
  for (let i = 0; i < 20_000; i += 97) assert.equal(duplicates.seen(named(`d${i}`)), true);
});
