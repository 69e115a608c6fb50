import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, type TestContext, test } from "node:test";
import { runCommandLine } from "../../../src/cli/command-line.js";
import { parseJson } from "../../../src/data/json.js";
import { emptyModule } from "../../support/empty-module.js";
import { LOOKALIKES } from "../../support/lookalikes.js";

const matchConstraints = {
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
};
const admission = (kind: string, name: string, spec: object) => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind,
  metadata: { name },
  spec,
});
const policy = (name: string, spec: object) =>
  admission("ValidatingAdmissionPolicy", name, { matchConstraints, ...spec });
const binding = (name: string, policyName: string) =>
  admission("ValidatingAdmissionPolicyBinding", name, { policyName, validationActions: ["Deny"] });
const kyverno = (name: string, spec: object) => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "ValidatingPolicy",
  metadata: { name },
  spec: { matchConstraints, ...spec },
});

/** It fails with a message that looks like another policy's. */
const MUTATING = {
  apiVersion: "admissionregistration.k8s.io/v1beta1",
  kind: "MutatingAdmissionPolicy",
  metadata: { name: "map" },
  spec: {
    matchConstraints,
    reinvocationPolicy: "Never",
    mutations: [
      {
        patchType: "JSONPatch",
        jsonPatch: {
          expression:
            '[JSONPatch{op: "add", path: "/a", value: {"b": 1}["Policy web failed: " + object.metadata.name]}]',
        },
      },
    ],
  },
};

/** What `apply` reports of a Pod: for policies of these documents, and for those of a policies.yaml. */
async function reported(context: TestContext, documents: readonly object[], entries: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), "messages-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, ...contents: readonly object[]) => {
    writeFileSync(join(folder, name), contents.map((each) => JSON.stringify(each)).join("\n---\n"));
    return join(folder, name);
  };
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  const ids = Object.keys(entries);
  writeFileSync(join(folder, "cel.wasm"), emptyModule("cel-policy"));
  file("vap.yaml", policy("vap", { validations: [{ expression: "false", message: LOOKALIKES[0] }] }));
  file("map.yaml", MUTATING);
  await runCommandLine(
    [
      "apply",
      ...(documents.length === 0 ? [] : [file("documents.yaml", ...documents)]),
      ...ids,
      ...(ids.length === 0 ? [] : ["--policies", file("policies.yaml", entries)]),
      "--resource",
      file("pod.yaml", { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "shop" } }),
      "--policy-report",
      "--output-format",
      "json",
    ],
    { env: {}, stdin: Readable.from([]), stdout, stderr },
  );
  stdout.end();
  stderr.end();
  assert.equal(await err, "");
  const printed = await out;
  const { results } = parseJson(printed.slice(printed.indexOf("{"))) as {
    readonly results: readonly Record<string, unknown>[];
  };
  return results.map(({ policy: name, rule, result, message, properties }) => [
    name,
    rule,
    result,
    message,
    properties,
  ]);
}

describe("what apply reports", () => {
  for (const message of LOOKALIKES) {
    test(`is what the author wrote: ${message}`, async (context) => {
      const never = { validations: [{ expression: "false", message }] };
      const found = await reported(context, [
        policy("free", { validations: [{ expression: "false", messageExpression: JSON.stringify(message) }] }),
        policy("bound", never),
        binding("b1", "bound"),
        binding("b2", "bound"),
        kyverno("p", { validations: [{ expression: "false", message: `${message}\nand more` }] }),
      ]);
      const process = "background scan";
      assert.deepEqual(found, [
        ["p", undefined, "fail", `${message}\nand more`, { "cel.validationIndex": "0", process }],
        ["free", "free", "fail", message, { process }],
        ["bound", "bound", "fail", message, { binding: "b1", process }],
      ]);
    });

    test(`is what policies of policies.yaml say: ${message}`, async (context) => {
      const validations = [{ expression: "false", message }];
      const found = await reported(context, [], {
        inline: { cel: { validations } },
        module: { module: "cel.wasm", settings: { validations } },
        group: { expression: "a()", message, policies: { a: { policy: "inline" } } },
      });
      assert.deepEqual(
        found.map(([, , result, said]) => [result, said]),
        ["inline", "module", "group"].map(() => ["fail", message]),
      );
    });
  }

  test("names policies of documents where an entry may have several", async (context) => {
    const found = await reported(context, [], {
      vap: { resource: "vap.yaml" },
      map: { resource: "map.yaml", allowedToMutate: true },
    });
    assert.deepEqual(
      found.map(([name, , result, said]) => [name, result, said]),
      [
        ["vap", "fail", `ValidatingAdmissionPolicy 'vap' denied request: ${LOOKALIKES[0]}`],
        [
          "map",
          "error",
          `policy "map" denied request: expression '${MUTATING.spec.mutations[0]?.jsonPatch.expression}' resulted in error: no such key: Policy web failed: a`,
        ],
      ],
    );
  });

  test("is a skip where a match condition is false or ignored, whatever its name says", async (context) => {
    const validations = [{ expression: "false", message: "no" }];
    const conditions = (expression: string) => ({
      failurePolicy: "Ignore",
      matchConditions: [{ name: "c", expression }],
      validations,
    });
    const found = await reported(context, [
      policy("unmet", conditions('object.metadata.name == "is false"')),
      policy("ignored", conditions("object.metadata.labels['x'] == 'y'")),
      policy("elsewhere", {
        matchConstraints: { resourceRules: [{ ...matchConstraints.resourceRules[0], resources: ["services"] }] },
        validations,
      }),
      policy("never", { validations }),
    ]);
    assert.deepEqual(
      found.map(([name, , result, said]) => [name, result, said]),
      [
        ["unmet", "skip", "match conditions aren't met"],
        ["ignored", "skip", "match conditions aren't met"],
        ["never", "fail", "no"],
      ],
    );
  });
});
