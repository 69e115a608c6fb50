import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../src/kubernetes/object.js";
import { prepare } from "./prepared.js";
import {
  CONFIG,
  denial,
  denied,
  deployment,
  IGNORE,
  map,
  namespaceObject,
  ref,
  request,
  validations,
  WARN,
} from "./tricky.js";

/** Why a Deployment is denied: an expression about a ConfigMap must be true. */
const about = (expression: string, data: JsonObject, more: JsonObject = {}): string | undefined =>
  denial({
    spec: { paramKind: CONFIG, ...validations(expression), ...(more.spec as JsonObject | undefined) },
    binding: { ...ref({ name: "c" }), ...(more.binding as JsonObject | undefined) },
    params: [{ ...map("c"), ...data }],
  });

describe("what the API server holds as Go structs (spec validating-admission-policy.md 4.4)", () => {
  test("parameters of built-in kinds: null in a map of texts is an empty text", () => {
    assert.equal(about("params.data.k == ''", { data: { k: null } }), undefined);
  });

  test("a pointer to what is empty is there, an empty optional member is not, nor is one in another case", () => {
    const written = { immutable: false, data: {}, binaryData: null, Immutable: true };
    assert.equal(about("params.immutable == false && !has(params.data) && size(params) == 4", written), undefined);
  });

  test("a parameter that does not fit its struct denies, whatever the actions are", () => {
    const text = "json: cannot unmarshal number into Go struct field ConfigMap.data of type string";
    const failure = denied(`failed to configure binding: ConfigMap 'ns/c' does not fit its type: ${text}`);
    assert.equal(about("true", { data: { k: 3 } }), failure);
    assert.equal(about("true", { data: { k: 3 } }, { binding: WARN }), failure);
    assert.equal(about("true", { data: { k: 3 } }, { binding: ref({ name: "", selector: {} }) }), failure);
    assert.equal(about("true", { data: { k: 3 } }, { spec: IGNORE }), undefined, "failures are ignored");
  });

  test("it is said when documents are read, at its place", () => {
    const { problems } = prepare([{ ...map("c"), data: { k: 3 } }]);
    assert.deepEqual(
      problems.map(({ severity, message, line }) => [severity, message.split(": ")[0], line]),
      [["warning", "the API server does not take this, and a policy that asks for it fails", 2]],
    );
  });

  test("Namespaces", () => {
    const namespace = { ...namespaceObject("ns", { k: null }), spec: { finalizers: [] }, status: { Phase: "Active" } };
    const expression = "namespaceObject.metadata.labels.k == '' && dyn(namespaceObject.spec) == {}";
    const status = "dyn(namespaceObject.status) == {} && size(dyn(namespaceObject)) == 3";
    assert.equal(denial({ spec: validations(expression, status), namespaces: [namespace] }), undefined);
  });

  test("operation options", () => {
    const options = {
      apiVersion: "meta.k8s.io/v1",
      kind: "CreateOptions",
      dryRun: [],
      fieldManager: "",
      DryRun: ["All"],
    };
    const spec = validations("request.options == {'apiVersion': 'meta.k8s.io/v1', 'kind': 'CreateOptions'}");
    assert.equal(denial({ spec, request: deployment({ options }) }), undefined);
    const wrong = { ...options, dryRun: "All" };
    assert.match(
      String(denial({ spec: validations("true"), request: deployment({ options: wrong }) })),
      /request\.options: json: cannot unmarshal string into Go struct field CreateOptions\.dryRun of type \[\]string$/,
    );
  });

  test("what is connected with", () => {
    const exec = request(["", "v1", "pods", "PodExecOptions"], {
      namespace: "ns",
      operation: "CONNECT",
      subResource: "exec",
      options: null,
      object: { metadata: undefined, stdin: false, command: [null] },
    });
    const spec = validations("!has(object.stdin) && object.command == [''] && size(object) == 3");
    assert.equal(denial({ spec, request: exec }), undefined);
  });
});
