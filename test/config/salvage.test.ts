import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ModuleEntry, PolicyEntry } from "../../src/config/entry.js";
import { parseConfig } from "../../src/config/load-config.js";
import { entryOf, folder } from "./helpers.js";

/** What is salvaged of the only entry of a text. */
function salvaged(text: string, file = "p.yaml"): PolicyEntry | undefined {
  const result = parseConfig(text, file);
  assert.ok(result.ok);
  const [entry] = result.config.entries;
  assert.equal(entry?.kind, "invalid");
  return entry.salvaged;
}

describe("an entry with mistakes", () => {
  test("is invalid whatever can be read of it, and says why", () => {
    const result = parseConfig("p: { module: ./a.wasm, polcyMode: monitor }\nq: { module: ./b.wasm }\n", "p.yaml");
    assert.ok(result.ok);
    const invalid = entryOf(result.config, "p", "invalid");
    assert.deepEqual(
      invalid.problems.map(({ code }) => code),
      ["CONFIG_UNKNOWN_KEY"],
    );
    assert.equal(entryOf(result.config, "q", "module").neverRun, undefined);
  });

  test("keeps what is right beside what is wrong", () => {
    const entry = salvaged("p: { module: ./a.wasm, settings: { a: 1 }, native: 5, timeoutEvalSeconds: 3 }\n");
    assert.equal(entry?.kind, "module");
    assert.deepEqual([entry.settings, entry.native, entry.timeoutEvalSeconds], [{ a: 1 }, true, 3]);
  });

  test("is nothing without what makes it a policy", () => {
    for (const text of [
      "p: { module: 5 }\n",
      "p: { cel: x }\n",
      "p: { resource: no-such.yaml }\n",
      "p: 5\n",
      "p: {}\n",
    ])
      assert.equal(salvaged(text), undefined, text);
  });

  test("has its rules at the places where they stand, with something harmless for those that are missing", () => {
    const text =
      'p: { cel: { failurPolicy: Fail, matchConstraints: { x: 1 }, variables: [{ name: v }], validations: [{ message: m }, { expression: "1" }] } }\n';
    const entry = salvaged(text);
    assert.equal(entry?.kind, "cel");
    assert.deepEqual(entry.cel, {
      variables: [{ name: "v", expression: "dyn(null)" }],
      validations: [{ expression: "true", message: "m" }, { expression: "1" }],
    });
  });

  test("that is a group keeps its members, and the names of those that can't be read", () => {
    const entry = salvaged(
      "g: { expression: a() && b(), mesage: m, policies: { a: { module: ./a.wasm }, b: { modul: 5 } } }\n",
    );
    assert.equal(entry?.kind, "group");
    assert.deepEqual(
      entry.members.map(({ name, policy }) => [name, policy.kind]),
      [
        ["a", "module"],
        ["b", "reference"],
      ],
    );
  });
});

describe("no guest is run", () => {
  const neverRun = (more: string): boolean | undefined => {
    const entry = salvaged(`p: { module: ./a.wasm, ${more} }\n`);
    return (entry as ModuleEntry).neverRun;
  };

  test("of an entry whose mistakes may be about what it tells or grants it", () => {
    for (const more of [
      "hostCapabilites: []",
      "hostCapabilities: [nope]",
      "hostCapabilities: [], hostCapabilities: ['*']",
      "settings: 5",
      "sha256: abc",
      "verification: {}",
      "memoryLimitMiB: 0",
      "executionMode: x",
      "contextAwareResources: [{ kind: Pod }]",
    ])
      assert.equal(neverRun(more), true, more);
  });

  test("but of one whose mistakes have nothing to do with it", () => {
    for (const more of ["policyMode: audit", "polcyMode: monitor", "messag: x", "allowedToMutate: 1", "timeout: 3"])
      assert.equal(neverRun(more), undefined, more);
  });

  test("of a Kubewarden policy whose entry has such a mistake: all would be granted to it", (context) => {
    const root = folder(context, {
      "k.yaml":
        "apiVersion: policies.kubewarden.io/v1\nkind: ClusterAdmissionPolicy\nmetadata: { name: k }\nspec: { module: ./a.wasm }\n",
      "g.yaml":
        "apiVersion: policies.kubewarden.io/v1\nkind: AdmissionPolicyGroup\nmetadata: { name: g }\nspec: { expression: a(), message: m, policies: { a: { module: ./a.wasm } } }\n",
    });
    const alone = salvaged("p: { resource: k.yaml, hostCapabilites: [] }\n", `${root}/p.yaml`);
    assert.equal((alone as ModuleEntry).neverRun, true);
    const group = salvaged("p: { resource: g.yaml, hostCapabilites: [] }\n", `${root}/p.yaml`);
    assert.equal(group?.kind, "group");
    assert.ok(group.members.every(({ policy }) => policy.kind === "module" && policy.neverRun));
  });

  test("when there are more mistakes than are kept", () => {
    const many = Array.from({ length: 250 }, (_, index) => `k${index}: 1`).join(", ");
    assert.equal(neverRun(`policyMode: x, settings: { a: 1 }, ${many}`), true);
  });
});

describe("a whole file that can't be used", () => {
  test("is read as far as it can be when that is asked for, and is as unusable as before", () => {
    const text = "a: { module: ./a.wasm\nb: { module: ./b.wasm }\n";
    const plain = parseConfig(text, "p.yaml");
    const result = parseConfig(text, "p.yaml", { salvage: true });
    assert.ok(!plain.ok && !result.ok);
    assert.equal(plain.salvaged, undefined);
    assert.deepEqual(
      result.salvaged?.config.entries.map(({ id }) => id),
      ["b"],
    );
  });

  test("is a Kubernetes resource: that is one mistake, and has what to do about it", () => {
    const text =
      "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nmetadata: { name: m }\nspec: {}\n";
    const { problems } = parseConfig(text, "dir/m.yaml", { salvage: true });
    assert.deepEqual(
      problems.map(({ code, line, hint }) => [code, line, hint]),
      [
        [
          "CONFIG_NOT_POLICIES",
          2,
          'name it by `resource:` in a policies.yaml beside it:\nm:\n  resource: "./m.yaml"\n  allowedToMutate: true',
        ],
      ],
    );
  });

  test("has a policy that happens to be called so", () => {
    const result = parseConfig('kind: { cel: { validations: [{ expression: "true" }] } }\n', "p.yaml", {
      salvage: true,
    });
    assert.ok(result.ok);
    assert.deepEqual(result.problems, []);
  });
});
