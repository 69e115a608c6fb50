import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bundledSchemas } from "../../../src/kinds/shared/index.js";
import type { PreparedDocuments } from "../../../src/kinds/validating-admission-policy/index.js";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import type { AdmissionQuestion } from "../../../src/policy/review.js";
import { answerOf } from "../../support/asking.js";
import { asked, prepare } from "./prepared.js";
import { binding, deployment, policy, ref, validations } from "./tricky.js";

const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
const review: AdmissionQuestion = {
  kind: "admission",
  request: deployment() as unknown as AdmissionQuestion["request"],
  requestBytes: () => new Uint8Array(),
};
/** Prepares documents whose positions are the lengths of the paths asked for. */
const load = (...documents: readonly JsonObject[]) => prepare(documents);

const said = ({ problems }: PreparedDocuments): string[] =>
  problems.map(
    ({ severity, file, line, path, message }) =>
      `${severity} ${file}:${line} ${path.join(".")} ${message.split("\n")[0]}`,
  );

describe("preparing documents", () => {
  test("every mistake is said at its place, and broken policies are left out", () => {
    const loaded = load(
      policy({ ...validations("nope", "true"), failurePolicy: "Maybe" }),
      binding({ validationActions: ["Deny", "Warn"] }),
      policy({}, "q.acme.example"),
    );
    assert.deepEqual(
      said(loaded).map((line) => line.split(" ").slice(0, 5).join(" ")),
      [
        "error 1.yaml:2 spec.validationActions Invalid value:",
        "error 0.yaml:2 spec.failurePolicy Unsupported value:",
        "error 0.yaml:4 spec.validations.0.expression Invalid value:",
      ],
    );
    const outcome = answerOf(asked(loaded), review, context);
    assert.ok(outcome.verdict === "deny");
    assert.deepEqual(
      outcome.causes?.map(({ message }) => message),
      ["ValidatingAdmissionPolicy 'q.acme.example' denied request: matched"],
    );
  });

  test("unknown members and wrong types are mistakes", () => {
    const loaded = load(policy({ validation: [] }), policy({ validations: {} }, "q"));
    const prefix = 'ValidatingAdmissionPolicy in version "v1" cannot be handled as a ValidatingAdmissionPolicy: ';
    assert.deepEqual(said(loaded), [
      `error 0.yaml:2 spec.validation ${prefix}strict decoding error: unknown field "spec.validation"`,
      `error 1.yaml:2 spec.validations ${prefix}json: cannot unmarshal object into Go struct field ValidatingAdmissionPolicySpec.spec.validations of type []v1.Validation`,
    ]);
  });

  test("bindings name policies, repeated variables are refused", () => {
    const variables = [
      { name: "v", expression: "1" },
      { name: "v", expression: "variables.v + 1" },
    ];
    const loaded = load(
      policy(),
      binding({ policyName: "none.acme.example" }),
      policy({ variables }, "v.acme.example"),
      policy({ variables: [{ name: "a__b__c", expression: "1" }] }, "w.acme.example"),
    );
    assert.deepEqual(said(loaded), [
      'warning 1.yaml:2 spec.policyName the binding has no effect: there is no policy "none.acme.example"',
      'error 2.yaml:4 spec.variables.1.name Duplicate value: "v"',
      'warning 3.yaml:4 spec.variables.0.name the name looks escaped, so that variables.a__b__c is never found: choose one without "__"',
    ]);
  });

  test("a broken binding is not as good as none", () => {
    const loaded = load(policy(), binding({ validationActions: [] }));
    assert.deepEqual(said(loaded), ["error 1.yaml:2 spec.validationActions Required value"]);
    assert.deepEqual(answerOf(asked(loaded), review, context), {
      verdict: "skip",
      reason: "no binding names the policy",
    });
  });

  test("the entry's actions replace those of every binding, and of a policy without one", () => {
    const documents = [policy(validations("false")), binding({ validationActions: ["Audit"] })];
    const verdict = (validationActions: readonly string[] | undefined, ...written: readonly JsonObject[]) => {
      const outcome = answerOf(asked(prepare(written, validationActions && { validationActions })), review, context);
      return [outcome.verdict, outcome.warnings?.length ?? 0];
    };
    assert.deepEqual(verdict(undefined, ...documents), ["allow", 0]);
    assert.deepEqual(verdict(["Deny"], ...documents), ["deny", 0]);
    assert.deepEqual(verdict(["Warn"], ...documents), ["allow", 1]);
    assert.deepEqual(verdict(["Warn"], policy(validations("false"))), ["allow", 1]);
    assert.deepEqual(verdict(undefined, policy(validations("false"))), ["deny", 0]);
  });

  test("older versions have their own defaults", () => {
    const kind = { paramKind: { apiVersion: "v1", kind: "ConfigMap" } };
    const alpha = { ...binding({ paramRef: { name: "none" } }), apiVersion: "admissionregistration.k8s.io/v1alpha1" };
    const outcome = answerOf(asked(load(policy(kind), alpha)), review, context);
    assert.match(outcome?.verdict === "error" ? outcome.message : "", /no params found/);
    assert.deepEqual(said(load(policy(kind), binding({ paramRef: { name: "none" } }))), [
      "error 1.yaml:3 spec.paramRef.parameterNotFoundAction Required value",
    ]);
    assert.match(said(load({ ...policy(), apiVersion: "admissionregistration.k8s.io/v2" }))[0] ?? "", /no kind/);
  });

  test("parameters and Namespaces come from the documents, custom ones too", () => {
    const crd = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "limits.acme.example" },
      spec: {
        group: "acme.example",
        scope: "Cluster",
        names: { kind: "Limit", plural: "limits" },
        versions: [
          {
            name: "v1",
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: { spec: { type: "object", properties: { max: { type: "integer" } } } },
              },
            },
          },
        ],
      },
    };
    const limit = { apiVersion: "acme.example/v1", kind: "Limit", metadata: { name: "l" }, spec: { max: 2 } };
    const spec = {
      paramKind: { apiVersion: "acme.example/v1", kind: "Limit" },
      ...validations("object.spec.replicas <= params.spec.max && namespaceObject.metadata.labels.env == 'prod'"),
    };
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "ns", labels: { env: "prod" } } };
    const documents = [policy(spec), binding(ref({ name: "l" })), crd, limit, namespace];
    const loaded = load(...documents);
    assert.deepEqual(said(loaded), []);
    assert.equal(answerOf(asked(loaded), review, context)?.verdict, "deny");

    const doubtful = { ...spec, ...validations("object.spec.replicas <= params.spec.maximum") };
    const apps = {
      resourceRules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["*"], resources: ["deployments"] }],
    };
    const checked = prepare([policy({ ...doubtful, matchConstraints: apps }), ...documents.slice(1)], {
      schemas: bundledSchemas(),
    });
    assert.match(
      checked.problems[0]?.message ?? "",
      /^apps\/v1, Kind=Deployment: ERROR: <input>:1:36: undefined field 'maximum'/,
    );
    assert.equal(checked.problems[0]?.severity, "warning");
  });

  test("all policies together answer in the order of their names", () => {
    const loaded = load(
      policy(validations("false"), "z"),
      policy(validations({ expression: "false", message: "m" }), "a"),
    );
    const outcome = answerOf(asked(loaded), review, context);
    assert.equal(outcome?.verdict === "deny" && outcome.message, "ValidatingAdmissionPolicy 'a' denied request: m");
    assert.equal(outcome?.verdict === "deny" && outcome.causes?.length, 2);
  });
});
