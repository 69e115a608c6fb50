import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  effectiveName,
  type Metadata,
  metadataWarnings,
  validateMetadata,
  validateNameSuffix,
  type Writing,
} from "../../../../src/kinds/shared/decode/validate-metadata.js";
import { formatFieldError } from "../../../../src/kubernetes/field-error.js";

const errors = (metadata: Metadata, writing?: Writing): string[] =>
  validateMetadata({ name: "p", ...metadata }, writing).map(formatFieldError);

const LIMIT = 256 * 1024;

describe("metadata", () => {
  test("has annotations of 256 KiB, keys included and in bytes", () => {
    assert.deepEqual(errors({ annotations: { k: "v".repeat(LIMIT - 1) } }), []);
    const tooLong = [`metadata.annotations: Too long: may not be more than ${LIMIT} bytes`];
    assert.deepEqual(errors({ annotations: { k: "v".repeat(LIMIT) } }), tooLong);
    assert.deepEqual(errors({ annotations: { k: "é".repeat(LIMIT / 2) } }), tooLong);
    assert.deepEqual(errors({ annotations: { a: "v".repeat(LIMIT / 2), b: "v".repeat(LIMIT / 2) } }), tooLong);
  });

  test("has keys of annotations in any case, by Go's rules for lower case", () => {
    assert.deepEqual(errors({ annotations: { "EXAMPLE.com/Key": "", "\u212a": "", "\u0130": "" } }), []);
    assert.equal(errors({ annotations: { é: "" } }).length, 1);
  });

  test("names owners, as 1.37 says it and as earlier servers do", () => {
    const ownerReferences = [{ apiVersion: "a/b/c", kind: "K", uid: "u" }];
    assert.deepEqual(errors({ ownerReferences }), [
      'metadata.ownerReferences[0].apiVersion: Invalid value: "a/b/c": must be <group>/<version> or <version>',
      "metadata.ownerReferences[0].name: Required value: must not be empty",
    ]);
    assert.deepEqual(errors({ ownerReferences }, { version: "1.36" }), [
      'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
      'metadata.ownerReferences.name: Invalid value: "": must not be empty',
    ]);
  });

  test("has no Event for an owner, and one controller", () => {
    const owner = { apiVersion: "v1", kind: "Event", name: "e", uid: "u" };
    assert.deepEqual(errors({ ownerReferences: [owner] }), [
      'metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
    ]);
    const controller = { ...owner, kind: "K", controller: true };
    const [found, ...more] = errors({ ownerReferences: [controller, { ...controller, uid: "v" }] });
    assert.match(
      found ?? "",
      /: Only one reference can have Controller set to true\. .* references for K\/e and K\/e$/,
    );
    assert.deepEqual(more, []);
  });

  test("repeats no owner: the server leaves the second out, and warns", () => {
    const owner = { apiVersion: "v1", kind: "K", name: "e", uid: "u", controller: true };
    const metadata = { ownerReferences: [owner, { ...owner }] };
    assert.deepEqual(errors(metadata), []);
    assert.match(metadataWarnings(metadata)[0]?.text ?? "", /duplicate UID\(s\) observed: u$/);
    assert.deepEqual(metadataWarnings({ ownerReferences: [owner] }), []);
  });

  test("has qualified names as finalizers, and one way of deleting", () => {
    assert.deepEqual(errors({ finalizers: ["orphan", "a.b/c"] }), []);
    assert.equal(errors({ finalizers: ["a b", "x", "/y"] }).length, 2);
    assert.match(errors({ finalizers: ["orphan", "foregroundDeletion"] })[0] ?? "", /cannot be both set$/);
  });

  test("has managers with short and printable names, where the server can read all entries", () => {
    const entry = { operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { "f:x": {} } };
    const long = { ...entry, manager: "m".repeat(129) };
    assert.deepEqual(errors({ managedFields: [{ ...entry, manager: "m".repeat(128) }] }), []);
    assert.deepEqual(errors({ managedFields: [long] }), [
      "metadata.managedFields[0].manager: Too long: may not be more than 128 bytes",
    ]);
    assert.deepEqual(errors({ managedFields: [{ ...entry, manager: "é\u0001" }] }), [
      'metadata.managedFields[0].manager: Invalid value: "é\\x01": invalid character U+0001 (at position 2)',
    ]);
    for (const unread of [{ operation: "Other" }, { apiVersion: "" }, { fieldsType: "" }, { fieldsV1: { x: {} } }]) {
      assert.deepEqual(errors({ managedFields: [long, { ...entry, ...unread }] }), [], JSON.stringify(unread));
    }
  });

  test("generates a name from 58 bytes at most", () => {
    assert.equal(effectiveName({ generateName: "p-" }), "p-xxxxx");
    assert.equal(effectiveName({ generateName: "a".repeat(250) }).length, 63);
    assert.equal(effectiveName({ name: "n", generateName: "p-" }), "n");
  });

  test("may have the suffix of static manifests before 1.37: 1.36 warns, and so do updates", () => {
    const metadata = { name: "x.static.k8s.io" };
    const found = (writing: Writing) => [
      validateNameSuffix(metadata, writing).length,
      metadataWarnings(metadata, writing).length,
    ];
    assert.deepEqual(found({ version: "1.37" }), [1, 0]);
    assert.deepEqual(found({ version: "1.36" }), [0, 1]);
    assert.deepEqual(found({ version: "1.35" }), [0, 0]);
    assert.deepEqual(found({ version: "1.37", update: true }), [0, 1]);
  });
});
