import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import { rollout, type Versions } from "../../../src/config/from-cluster/rollout.js";
import { noteText } from "../../../src/config/from-cluster/rollout-annotations.js";
import { Rollouts } from "../../../src/config/from-cluster/rollouts.js";
import { noted, PREFIX, policyDocument, type WrittenPolicy, wordOf } from "./rollout-document.js";

const SHADOW = { rollout: "shadow" };

/** What is in force, what in shadow, and how that is known. */
const told = ({ active, rollout: how }: Versions) => [wordOf(active), wordOf(how?.shadow?.document), how?.basis];

function after(...steps: readonly WrittenPolicy[]): Versions {
  let versions: Versions | undefined;
  for (const step of steps) versions = rollout(policyDocument(step), versions);
  return versions ?? assert.fail("no steps");
}

describe("the versions of a policy", () => {
  const one = { generation: 1, word: "one" };
  for (const [what, steps, expected] of [
    ["that is not rolled out: what stands there is in force", [one], ["one", undefined, undefined]],
    ["that is not rolled out and changes", [one, { generation: 2, word: "two" }], ["two", undefined, undefined]],
    [
      "that is created with a rollout: in shadow alone",
      [{ ...one, annotations: SHADOW }],
      [undefined, "one", "guessed"],
    ],
    [
      "that had changed before anybody saw it: nothing that may have been in force ends",
      [{ generation: 3, word: "three", annotations: SHADOW }],
      ["three", undefined, "guessed"],
    ],
    [
      "that was in force: the annotation alone changes nothing",
      [one, { ...one, annotations: SHADOW }],
      ["one", undefined, "held"],
    ],
    [
      "that was in force and changes together with the annotation: the older stays",
      [one, { generation: 2, word: "two", annotations: SHADOW }],
      ["one", "two", "held"],
    ],
    [
      "of which the older is noted: it stays in force, also where nobody remembers it",
      [{ generation: 2, word: "two", annotations: { ...SHADOW, "active-spec": noted(1, "one") } }],
      ["one", "two", "noted"],
    ],
    [
      "that changes twice: the first to be in force stays",
      [
        { generation: 2, word: "two", annotations: { ...SHADOW, "active-spec": noted(1, "one") } },
        { generation: 3, word: "three", annotations: { ...SHADOW, "active-spec": noted(1, "one") } },
      ],
      ["one", "three", "noted"],
    ],
    [
      "that changes back: nothing is in shadow",
      [{ generation: 3, word: "one", annotations: { ...SHADOW, "active-spec": noted(1, "one") } }],
      ["one", undefined, "noted"],
    ],
    [
      "that was noted to be in shadow alone",
      [{ generation: 4, word: "four", annotations: { ...SHADOW, "active-spec": noted(0) } }],
      [undefined, "four", "noted"],
    ],
    [
      "whose notes somebody took away: what was in force stays",
      [
        { generation: 2, word: "two", annotations: { ...SHADOW, "active-spec": noted(1, "one") } },
        { generation: 2, word: "two", annotations: SHADOW },
      ],
      ["one", "two", "held"],
    ],
    [
      "whose notes nobody can read: what was in force stays",
      [one, { generation: 2, word: "two", annotations: { ...SHADOW, "active-spec": "{" } }],
      ["one", "two", "held"],
    ],
    [
      "whose rollout ends: what stands there is in force",
      [
        { generation: 2, word: "two", annotations: { ...SHADOW, "active-spec": noted(1, "one") } },
        { generation: 2, word: "two", annotations: { "active-spec": noted(1, "one") } },
      ],
      ["two", undefined, "noted"],
    ],
    [
      "that was made anew under its name: it was never in force",
      [one, { ...one, uid: "fedcba9876543210", annotations: SHADOW }],
      [undefined, "one", "guessed"],
    ],
    [
      "with another word for a rollout: nothing new is in force by mistake",
      [one, { generation: 2, word: "two", annotations: { rollout: "shadwo" } }],
      ["one", "two", "held"],
    ],
    [
      "of ValidatingAdmissionPolicies: the API server itself enforces what stands there",
      [one, { generation: 2, word: "two", annotations: SHADOW }].map((step) => ({
        ...step,
        key: "admissionregistration.k8s.io/ValidatingAdmissionPolicy//p",
      })),
      ["two", undefined, "noted"],
    ],
    [
      "of CertificateRequestPolicies: they are not rolled out",
      [one, { generation: 2, word: "two", annotations: SHADOW }].map((step) => ({
        ...step,
        key: "policy.cert-manager.io/CertificateRequestPolicy//p",
      })),
      ["two", undefined, "noted"],
    ],
  ] as const) {
    test(what, () => {
      const document = (step: WrittenPolicy): ClusterDocument => policyDocument(step);
      const rollouts = new Rollouts();
      // A new uid is another resource: as the rooms above see it.
      for (const step of steps) {
        const put = document(step);
        rollouts.update(new Map([[put.key, put]]));
      }
      const last = steps.at(-1) ?? assert.fail("no steps");
      const { key } = document(last);
      const shown = rollouts.rolledOut.get(key);
      const [active, shadow, basis] = expected;
      assert.deepEqual(
        [wordOf(rollouts.inForce.get(key)), wordOf(shown?.rollout.shadow?.document), shown?.rollout.basis],
        [active, shadow, basis],
      );
      assert.equal(wordOf(rollouts.inShadow.get(key)), shadow ?? active);
    });
  }

  test("have the generations under which they were written", () => {
    const versions = after({ generation: 1, word: "one" }, { generation: 2, word: "two", annotations: SHADOW });
    assert.equal(versions.active?.generation, 1);
    assert.equal(versions.rollout?.shadow?.document.generation, 2);
    assert.equal(versions.rollout?.shadow?.version, "2.1.01234567");
    assert.deepEqual(versions.rollout?.note, { generation: 1, spec: { word: "one" } });
  });

  test("read the same from what the leader notes as from what was in force", () => {
    const held = after({ generation: 1, word: "one" }, { generation: 2, word: "two", annotations: SHADOW });
    const note = noteText(held.rollout?.note ?? assert.fail("nothing to note"));
    const fromNote = after({ generation: 2, word: "two", annotations: { ...SHADOW, "active-spec": note } });
    assert.deepEqual(told(fromNote), ["one", "two", "noted"]);
    assert.equal(fromNote.rollout?.shadow?.version, held.rollout?.shadow?.version);
  });

  test("do not change with what the leader notes, and have their lines where people see them", () => {
    const annotations = { ...SHADOW, "active-spec": noted(1, "one"), "shadow-record": "{}" };
    const written = { generation: 2, word: "two", annotations };
    const before = after(written);
    const later = after({ ...written, annotations: { ...annotations, "shadow-record": '{"denied":3}' } });
    assert.equal(before.active?.text, later.active?.text);
    assert.equal(before.rollout?.shadow?.document.text, later.rollout?.shadow?.document.text);
    const lineOf = (text = "") => text.split("\n").findIndex((line) => line.includes('"word"'));
    assert.equal(lineOf(before.rollout?.shadow?.document.text), lineOf(policyDocument(written).text));
  });

  test("keep integers beyond 2^53", () => {
    const big = policyDocument({ generation: 2, word: "two", annotations: SHADOW });
    const text = big.text.replace('"two"', "9007199254740993");
    const first = rollout({ ...big, generation: 1, text: text.replace("993", "991") });
    const versions = rollout({ ...big, text }, { document: first.document, active: first.document });
    assert.ok(versions.active?.text.includes("9007199254740991"));
    assert.ok(noteText(versions.rollout?.note ?? assert.fail("no note")).includes("9007199254740991"));
  });
});

describe("annotations of a rollout", () => {
  const read = (annotations: Readonly<Record<string, string>>) => {
    const steps = {
      generation: 2,
      word: "two",
      annotations: { ...SHADOW, "active-spec": noted(1, "one"), ...annotations },
    };
    return after(steps).rollout ?? assert.fail("no rollout");
  };

  test("say when and where a version is promoted", () => {
    const { promotion, enforcedNamespaces, problems } = read({
      promote: "2",
      "promote-after": "24h",
      "promote-at-most": "5",
      "enforced-namespaces": "dev, test,dev",
    });
    assert.deepEqual(promotion, { byHand: 2, after: 86_400_000, atMost: 5 });
    assert.deepEqual(enforcedNamespaces, ["dev", "test"]);
    assert.deepEqual(problems, []);
  });

  for (const [name, value] of [
    ["promote", "two"],
    ["promote", "-2"],
    ["promote", "99999999999999999999"],
    ["promote-after", "1d"],
    ["promote-after", "-1h"],
    ["promote-after", "0s"],
    ["promote-after", "soon"],
    ["promote-at-most", "none"],
    ["enforced-namespaces", "dev,*"],
    ["enforced-namespaces", "dev,,test"],
    ["enforced-namespaces", Array.from({ length: 1001 }, (_, i) => `n${i}`).join(",")],
    ["active-spec", "[]"],
    ["active-spec", '{"generation":1}'],
    ["active-spec", '{"generation":1.5,"spec":{}}'],
  ] as const) {
    test(`with a mistake are told at their place, and put nothing in force: ${name}: ${value.slice(0, 30)}`, () => {
      const { promotion, enforcedNamespaces, problems } = read({ "promote-after": "1h", [name]: value });
      assert.deepEqual(
        problems.map(({ path }) => path),
        [["metadata", "annotations", `${PREFIX}${name}`]],
      );
      assert.equal(promotion.byHand, undefined);
      assert.deepEqual(enforcedNamespaces, []);
      const byItself = name === "promote-after" || name === "promote-at-most" ? undefined : 3_600_000;
      assert.equal(promotion.after, byItself);
    });
  }
});

test("documents that have not changed stay the same objects, and those that are gone are forgotten", () => {
  const rollouts = new Rollouts();
  const rolled = policyDocument({
    generation: 2,
    word: "two",
    annotations: { ...SHADOW, "active-spec": noted(1, "one") },
  });
  const plain = policyDocument({ generation: 1, word: "x", key: "policies.kyverno.io/ValidatingPolicy//q" });
  rollouts.update(new Map([rolled, plain].map((document) => [document.key, document])));
  const before = rollouts.inForce.get(rolled.key);
  const changed = { ...plain, resourceVersion: "999" };
  rollouts.update(new Map([rolled, changed].map((document) => [document.key, document])));
  assert.equal(rollouts.inForce.get(rolled.key), before);
  assert.equal(rollouts.inForce.get(plain.key), changed);
  rollouts.update(new Map());
  assert.equal(rollouts.rolledOut.size + rollouts.inForce.size + rollouts.inShadow.size, 0);
});
