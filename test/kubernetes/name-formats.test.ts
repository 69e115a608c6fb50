import assert from "node:assert/strict";
import { test } from "node:test";
import {
  dns1035LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from "../../src/kubernetes/name-formats.js";

test("names of objects that are too long are told in characters, keys and values of labels in bytes, as the API server does", () => {
  assert.deepEqual(dns1123SubdomainErrors("a".repeat(254)), ["must be no more than 253 characters"]);
  assert.deepEqual(dns1035LabelErrors("a".repeat(64)), ["must be no more than 63 characters"]);
  assert.deepEqual(labelValueErrors("a".repeat(64)), ["must be no more than 63 bytes"]);
  assert.deepEqual(qualifiedNameErrors(`${"a".repeat(254)}/${"b".repeat(64)}`), [
    "prefix part must be no more than 253 bytes",
    "name part must be no more than 63 bytes",
  ]);
  assert.deepEqual(dns1123SubdomainErrors("a".repeat(253)), []);
});
