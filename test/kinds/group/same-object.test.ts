/** Asked about a request or about its object, members see the same object, played against a server with members of several kinds. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type ExampleServer, startExample } from "../../support/example-server.js";
import { file } from "../../wasm/support.js";

type Json = Readonly<Record<string, unknown>>;

/** Each allows what it takes for a Pod of v1, or the absence of an object. */
const MEMBERS = {
  inline: `{ cel: { validations: [ { expression: "object == null || (has(object.kind) && object.kind == 'Pod' && object.apiVersion == 'v1')" } ] } }`,
  resource: "{ resource: pods.yaml }",
  kyverno: "{ resource: kyverno.yaml }",
  nested: `{ expression: "object == null || (has(object.kind) && object.kind == 'Pod' && x(object))", message: inner, policies: { x: { cel: { validations: [ { expression: "object.apiVersion == 'v1'" } ] } } } }`,
  guest: "{ module: opa.wasm, executionMode: opa }",
} as const;

const CALLS = { plain: "m()", about: "m(object)", not: "!m()", notAbout: "!m(object)" } as const;

const RULES = `
    resourceRules: [ { apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [pods] } ]`;
const FILES = {
  "pods.yaml": `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: pods }
spec:
  matchConstraints:${RULES}
  validations: [ { expression: "object == null || (object.kind == 'Pod' && object.apiVersion == 'v1')" } ]
`,
  "kyverno.yaml": `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: { name: pods }
spec:
  validationActions: [Deny]
  matchConstraints:${RULES}
  validations: [ { expression: "!has(object.metadata) || (object.kind == 'Pod' && object.apiVersion == 'v1')", message: unlike } ]
`,
};

const NAMED = { metadata: { name: "a", annotations: { "chaos/mode": "echo" } }, spec: { containers: [] } };
const OBJECTS: Readonly<Record<string, Json>> = {
  "both said": { kind: "Pod", apiVersion: "v1", ...NAMED },
  "both said, elsewhere": { ...NAMED, kind: "Pod", apiVersion: "v1" },
  "neither said": NAMED,
  "no kind": { apiVersion: "v1", ...NAMED },
  "no apiVersion": { ...NAMED, kind: "Pod" },
  "empty ones": { apiVersion: "", kind: null, ...NAMED },
  // So long that it is read in parts.
  "neither said, long": { ...NAMED, data: "x".repeat(10_000) },
  "both said, long": { kind: "Pod", apiVersion: "v1", ...NAMED, data: "x".repeat(10_000) },
  "both said, long, elsewhere": { ...NAMED, data: "x".repeat(10_000), kind: "Pod", apiVersion: "v1" },
};

const folder = mkdtempSync(join(tmpdir(), "same-object-"));
let server: ExampleServer;

before(async () => {
  const entries = Object.entries(MEMBERS).flatMap(([member, m]) =>
    Object.entries(CALLS).map(
      ([call, expression]) =>
        `${member}-${call}: { expression: "${expression}", message: group, policies: { m: ${m} } }\n`,
    ),
  );
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "opa.wasm"), file("test/vectors/rego/opa.wasm"));
  writeFileSync(join(folder, "policies.yaml"), `${entries.join("")}alone: ${MEMBERS.inline}\n`);
  server = await startExample("--policies", join(folder, "policies.yaml"));
});

after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly allowed: boolean;
  readonly code: number | undefined;
  /** What the first cause says. */
  readonly cause: string | undefined;
  readonly message: string | undefined;
}

async function ask(id: string, request: Json): Promise<Answer> {
  const kind = { group: "", version: "v1", kind: "Pod" };
  const resource = { group: "", version: "v1", resource: "pods" };
  const body = { request: { uid: "u", kind, resource, operation: "CREATE", userInfo: {}, ...request } };
  const answered = await fetch(`${server.url}/validate/${id}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { response } = (await answered.json()) as {
    response: {
      allowed: boolean;
      status?: { code?: number; message?: string; details?: { causes?: readonly { message: string }[] } };
    };
  };
  const { allowed, status } = response;
  return { allowed, code: status?.code, message: status?.message, cause: status?.details?.causes?.[0]?.message };
}

/** What the guest saw as the object. */
const seen = ({ cause }: Answer): unknown => JSON.parse(cause ?? "").request.object;

describe("members that are asked about the request, and about its object", () => {
  for (const [said, object] of Object.entries(OBJECTS)) {
    for (const member of Object.keys(MEMBERS).filter((name) => name !== "guest")) {
      test(`${member}: an object with ${said} is a v1 Pod both times`, async () => {
        for (const request of [{ object }, { object, oldObject: object, operation: "UPDATE" }]) {
          assert.equal((await ask(`${member}-plain`, request)).allowed, true);
          assert.equal((await ask(`${member}-about`, request)).allowed, true);
          assert.equal((await ask(`${member}-not`, request)).allowed, false);
          assert.equal((await ask(`${member}-notAbout`, request)).allowed, false);
        }
      });
    }

    test(`a guest gets an object with ${said} as a v1 Pod both times`, async () => {
      const whole = { ...object, apiVersion: "v1", kind: "Pod" };
      assert.deepEqual(seen(await ask("guest-plain", { object })), whole);
      assert.deepEqual(seen(await ask("guest-about", { object })), whole);
    });
  }

  for (const member of Object.keys(MEMBERS)) {
    test(`${member}: without an object both come to the same`, async () => {
      const request = { operation: "DELETE", oldObject: { kind: "Pod", apiVersion: "v1", ...NAMED } };
      assert.deepEqual(await ask(`${member}-about`, request), await ask(`${member}-plain`, request));
      assert.deepEqual(await ask(`${member}-notAbout`, request), await ask(`${member}-not`, request));
    });
  }
});

describe("an object that says that it is something else than the review says", () => {
  const others: Readonly<Record<string, Json>> = {
    "another version": { apiVersion: "v2", kind: "Pod", ...NAMED },
    "another kind": { kind: "Secret", apiVersion: "v1", ...NAMED },
    "another group": { apiVersion: "x.io/v1", kind: "Pod", ...NAMED },
    "no text": { apiVersion: "v1", kind: 5, ...NAMED },
    "another kind, long": { kind: "Secret", apiVersion: "v1", ...NAMED, data: "x".repeat(10_000) },
    "another kind behind a long part": { ...NAMED, data: "x".repeat(10_000), kind: "Secret", apiVersion: "v1" },
  };
  for (const [what, object] of Object.entries(others)) {
    test(`(${what}) is an error that says so, for an inline policy and for groups of any kind`, async () => {
      const good = { kind: "Pod", apiVersion: "v1", ...NAMED };
      for (const request of [{ object }, { object: good, oldObject: object, operation: "UPDATE" }]) {
        const name = "oldObject" in request ? "oldObject" : "object";
        for (const id of [
          "alone",
          ...Object.keys(MEMBERS).flatMap((m) => Object.keys(CALLS).map((c) => `${m}-${c}`)),
        ]) {
          const { allowed, code, message } = await ask(id, request);
          assert.deepEqual([allowed, code], [false, 400], id);
          assert.match(
            message ?? "",
            new RegExp(`^request\\.${name} says that it is "[^"]*" "[^"]*", but request\\.kind says "v1" "Pod"`),
          );
        }
      }
    });
  }

  test("is cut in the message", async () => {
    const { message } = await ask("alone", { object: { apiVersion: "v".repeat(5_000), kind: "Pod" } });
    assert.ok((message ?? "").length < 400, message);
  });
});
