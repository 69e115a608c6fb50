import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { describeFailure, readPolicy } from "../../../src/kinds/certificate-request-policy/read.js";
import { formatPath } from "../../../src/kubernetes/field-error.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";

const SELECTOR = { issuerRef: {} };
const policy = (spec: object, rest: object = {}): JsonObject => ({
  apiVersion: "policy.cert-manager.io/v1alpha1",
  kind: "CertificateRequestPolicy",
  metadata: { name: "p" },
  spec: { selector: SELECTOR, ...spec },
  ...rest,
});

function read(value: JsonObject) {
  const { policy: found, failures } = readPolicy(value);
  assert.deepEqual(failures, []);
  assert.ok(found !== undefined);
  return found;
}

const failures = (value: JsonObject): readonly string[] =>
  readPolicy(value).failures.map((failure) => `${formatPath(failure.path)}: ${describeFailure(failure)}`);

describe("a policy", () => {
  test("is read with what is absent as absent", () => {
    assert.deepEqual(read(policy({})), { name: "p", selector: SELECTOR, plugins: [], ready: undefined });
    assert.deepEqual(read(policy({ allowed: { subject: {} } })).allowed, {
      subject: { otherAttributes: [] },
      otherNames: [],
    });
  });

  test("tells what is empty from what is absent", () => {
    const allowed = { dnsNames: { values: [] }, commonName: { value: "" }, usages: [], isCA: false };
    assert.deepEqual(read(policy({ allowed })).allowed, {
      dnsNames: { required: false, validations: [], values: [] },
      commonName: { required: false, validations: [], value: "" },
      usages: [],
      isCA: false,
      otherNames: [],
    });
    assert.deepEqual(read(policy({ selector: { namespace: { matchLabels: {} } } })).selector, {
      namespace: { matchNames: [], matchLabels: {} },
    });
  });

  test("is read with everything that it says", () => {
    const entry = { required: true, validations: [{ rule: "true", message: "" }, { rule: "false" }] };
    const lists = { ...entry, values: ["a"] };
    const names = ["organizations", "countries", "organizationalUnits", "localities", "provinces", "streetAddresses"];
    const subject = {
      ...Object.fromEntries([...names, "postalCodes"].map((name) => [name, lists])),
      serialNumber: { ...entry, value: "1" },
      otherAttributes: [{ ...lists, oid: "1.2" }],
    };
    const allowed = {
      ...Object.fromEntries(["dnsNames", "ipAddresses", "uris", "emailAddresses"].map((name) => [name, lists])),
      commonName: { ...entry, value: "c" },
      isCA: true,
      usages: ["any"],
      subject,
      otherNames: [{ ...lists, oid: "1.3" }],
    };
    const constraints = {
      minDuration: "1h",
      maxDuration: "24h",
      privateKey: { algorithm: "RSA", minSize: 1, maxSize: 2 },
    };
    const selector = {
      issuerRef: { name: "n", kind: "k", group: "g" },
      namespace: { matchNames: ["a"], matchLabels: { b: "c" } },
    };
    const status = { conditions: [condition("True")] };
    assert.deepEqual(
      read(policy({ allowed, constraints, selector, plugins: { z: {}, a: { values: { k: "v" } } } }, { status })),
      {
        name: "p",
        allowed,
        constraints: { ...constraints, minDuration: 3_600_000_000_000n, maxDuration: 86_400_000_000_000n },
        selector,
        plugins: ["a", "z"],
        ready: "True",
      },
    );
  });

  const condition = (status: string, type = "Ready"): object => ({
    type,
    status,
    reason: "R",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });

  test("is ready by its own condition", () => {
    const ready = (...conditions: readonly object[]) => read(policy({}, { status: { conditions } })).ready;
    assert.equal(ready(condition("False")), "False");
    assert.equal(ready(condition("True", "Other")), undefined);
  });
});

describe("a document is refused, not read as a wider policy,", () => {
  test("for every field that there is not", () => {
    const spec = {
      constraint: {},
      constraints: { maxDuratoin: "1h" },
      selector: { issuerRef: {}, namespaces: {} },
      allowed: { dnsNames: { require: true, validation: [], expressions: [], values: ["*"] }, zzz: 1 },
      expressions: [],
    };
    const proposed =
      "it was proposed and never shipped; rules stand in the `validations` of an attribute, each for its values alone";
    assert.deepEqual(failures(policy(spec, { sepc: {}, metadata: { name: "p", label: {} } })), [
      'spec.selector.namespaces: there is no field "namespaces" (did you mean "namespace"?)',
      'spec.constraint: there is no field "constraint" (did you mean "constraints"?)',
      'spec.constraints.maxDuratoin: there is no field "maxDuratoin" (did you mean "maxDuration"?)',
      'spec.allowed.dnsNames.require: there is no field "require" (did you mean "required"?)',
      'spec.allowed.dnsNames.validation: there is no field "validation" (did you mean "validations"?)',
      `spec.allowed.dnsNames.expressions: there is no field "expressions": ${proposed}`,
      'spec.allowed.zzz: there is no field "zzz"',
      `spec.expressions: there is no field "expressions": ${proposed}`,
      'sepc: there is no field "sepc" (did you mean "spec"?)',
      'metadata.label: there is no field "label" (did you mean "labels"?)',
    ]);
  });

  test("for a null, a wrong type and what stands twice, all in one run", () => {
    const spec = {
      allowed: {
        commonName: { value: null },
        isCA: "yes",
        dnsNames: { validations: [{ rule: "true" }, { rule: "true" }] },
        otherNames: [{ values: [] }],
      },
      constraints: { maxDuration: "1d", privateKey: { minSize: 1.5 } },
    };
    assert.deepEqual(
      failures(policy(spec, { metadata: { name: "P" } })).map((text) => text.replace(/(: [^:]*).*/, "$1")),
      [
        "spec.allowed.commonName.value: Invalid value",
        "spec.allowed.isCA: Invalid value",
        "spec.allowed.otherNames[0].oid: Required value",
        "spec.constraints.privateKey.minSize: Invalid value",
        ": Invalid value",
        "spec.allowed.dnsNames.validations[1]: Duplicate value",
        "spec.constraints.maxDuration: time",
      ],
    );
  });

  test("for a version that there is not", () => {
    assert.deepEqual(failures(policy({}, { apiVersion: "policy.cert-manager.io/v1" })), [
      'apiVersion: there is no version "policy.cert-manager.io/v1" of this kind: use policy.cert-manager.io/v1alpha1 instead',
    ]);
  });

  test("for a name that is none", () => {
    assert.match(
      failures(policy({}, { metadata: { name: "A" } })).join(),
      /^metadata\.name: Invalid value: "A": a lower/,
    );
    assert.deepEqual(failures(policy({}, { metadata: {} })), [
      "metadata.name: Required value: name or generateName is required",
    ]);
    assert.deepEqual(failures(policy({}, { metadata: { generateName: "a-" } })), [
      "metadata.generateName: a name cannot be generated here: set metadata.name",
    ]);
  });
});
