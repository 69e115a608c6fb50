/** All that reads a request: guests of every protocol, written with the kit and without, CEL, and Kyverno's policies. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { decodeAdmissionReview } from "../../src/admission/decode.js";
import { parseConfig } from "../../src/config/index.js";
import { createLoader } from "../../src/loader/index.js";
import type { Outcome } from "../../src/policy/outcome.js";
import type { Review } from "../../src/policy/review.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** Time for an answer, whatever else this machine does. */
const PATIENCE_MS = 60_000;

/** What the readers look at: all deny it for what is in it, and `add-label` lets it be as it is. */
export const REVIEW = {
  kind: "AdmissionReview",
  apiVersion: "admission.k8s.io/v1",
  request: {
    uid: "705ab4f5-6393-11e8-b7cc-42010a800002",
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    operation: "UPDATE",
    namespace: "shop",
    userInfo: { username: "alice", groups: ["system:authenticated"], extra: { "example.com/team": ["shop"] } },
    object: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", labels: { "example.com/team": "shop" }, annotations: { "chaos/mode": "reject-code" } },
      spec: { containers: [{ name: "web", image: "bad.example.com/web:1", securityContext: { privileged: true } }] },
    },
    oldObject: { apiVersion: "v1", kind: "Pod", metadata: { name: "web", annotations: { "chaos/mode": "old\n" } } },
    options: { kind: "UpdateOptions", apiVersion: "meta.k8s.io/v1" },
  },
};

const SEES = [
  "object.metadata.annotations['chaos/mode'] == 'reject-code'",
  "object.spec.containers[0].securityContext.privileged",
  "oldObject.metadata.annotations['chaos/mode'] == 'old\\n'",
  "request.userInfo.extra['example.com/team'] == ['shop']",
].join(" && ");

/** Of any key that a request names. */
const NAMED = "request.name in object.spec";

const KYVERNO = `
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: { name: sees }
spec:
  validationActions: [Deny]
  matchConstraints:
    resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [pods] }]
  validations:
    - message: the named one is seen
      expression: "!(${NAMED})"
    - message: it is seen
      expression: >-
        !(${SEES})
`;

const policiesOf = (kyverno: string): string => `
extism: { module: test/fixtures/chaos/extism.wasm }
wapc: { module: test/fixtures/chaos/wapc.wasm }
wasi: { module: test/fixtures/chaos/wasi.wasm }
privileged-pods: { module: policies/privileged-pods/policy.wasm }
trusted-registries: { module: policies/trusted-registries/policy.wasm, settings: { registries: [example.com] } }
add-label: { module: policies/add-label/policy.wasm, settings: { label: example.com/team, value: none }, allowedToMutate: true }
opa: { module: test/vectors/rego/opa.wasm, executionMode: opa }
gatekeeper: { module: test/vectors/rego/gatekeeper.wasm, executionMode: gatekeeper, settings: { exempt: [] } }
cel:
  cel:
    validations:
      - message: it is seen
        expression: >-
          !(${SEES})
      - message: the named one is seen
        expression: "!(${NAMED})"
kyverno: { resource: ${JSON.stringify(kyverno)} }
`;

/** Those that are written with the kit, which must read keys by themselves: other servers hand requests on as they came. */
export const WITH_KIT: readonly string[] = [
  ...["extism", "wapc", "wasi", "privileged-pods", "trusted-registries", "add-label"],
];

/** Readers, to be asked. */
export interface KeyReaders {
  readonly names: readonly string[];
  /** What one of them answers to a body. */
  ask(name: string, body: Buffer): Promise<Outcome>;
  /** What it answers when its module gets the request's own text. */
  askRaw(name: string, request: string): Promise<Outcome>;
  close(): Promise<void>;
}

/** Loads them. */
export async function keyReaders(): Promise<KeyReaders> {
  const folder = mkdtempSync(join(tmpdir(), "key-readers-"));
  const kyverno = join(folder, "kyverno.yaml");
  writeFileSync(kyverno, KYVERNO);
  const loader = createLoader({
    ...{ policyTimeout: PATIENCE_MS, workers: 1 },
    downloadDirectory: folder,
  });
  const read = parseConfig(policiesOf(kyverno), join(ROOT, "readers.yaml"));
  assert.ok(read.ok, JSON.stringify(read));
  const { policies, problems } = await loader.load(read.config);
  assert.deepEqual(problems, []);
  const ask = async (name: string, review: Review): Promise<Outcome> => {
    const policy = policies.entries.get(name)?.policy;
    assert.ok(policy, name);
    return policy.evaluate(review, {
      deadline: performance.now() + PATIENCE_MS,
      signal: new AbortController().signal,
    });
  };
  return {
    names: [...policies.entries.keys()],
    ask: (name, body) => {
      const review = decodeAdmissionReview(body);
      assert.ok(review.kind === "admission", JSON.stringify(review));
      return ask(name, review);
    },
    askRaw: (name, request) => {
      const review = decodeAdmissionReview(Buffer.from(JSON.stringify(REVIEW)));
      assert.ok(review.kind === "admission");
      return ask(name, { kind: "admission", request: review.request, requestBytes: () => Buffer.from(request) });
    },
    close: async () => {
      await loader.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
