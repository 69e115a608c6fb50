/** One mistake must not hide another: every pair of some mistakes in one document, for every kind of documents. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Origin } from "../../src/config/documents/origin.js";
import { formatProblem, type Problem } from "../../src/config/documents/problem.js";
import { parseResources } from "../../src/config/documents/source-document.js";
import { parseConfig } from "../../src/config/index.js";
import type { DocumentKind, InlineKind, Warn } from "../../src/kinds/kind.js";
import { LoadError } from "../../src/kinds/load-error.js";
import { createKinds } from "../../src/kinds/registry.js";
import type { WasmRuntime } from "../../src/wasm/index.js";

/** A change to a document of JSON, and what must be said of it. */
interface Mistake {
  readonly name: string;
  readonly make: (document: Json) => void;
  readonly said: RegExp;
}
// biome-ignore lint/suspicious/noExplicitAny: documents that are broken on purpose have no type
type Json = any;

const set =
  (path: string, value: unknown) =>
  (document: Json): void => {
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    const at = keys.reduce((each: Json, key) => each[key], document);
    at[last] = value;
  };
const mistake = (name: string, path: string, value: unknown, said: RegExp): Mistake => ({
  name,
  make: set(path, value),
  said,
});

const rule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const spec = () => ({
  matchConstraints: { resourceRules: [{ ...rule }] },
  matchConditions: [{ name: "a", expression: "true" }],
  variables: [
    { name: "a", expression: "1" },
    { name: "b", expression: "2" },
  ],
  validations: [
    { expression: "object.a == 1", message: "x" },
    { expression: "object.b == 1", message: "y" },
  ],
  auditAnnotations: [{ key: "a", valueExpression: "'x'" }],
});

/** Mistakes in what these kinds have in common. */
const COMMON: readonly Mistake[] = [
  mistake(
    "a condition that does not compile",
    "spec.matchConditions.0.expression",
    "object.a ===",
    /matchConditions\[0\]/,
  ),
  mistake("a variable that does not compile", "spec.variables.0.expression", "nothing1", /nothing1/),
  mistake("a selector that is none", "spec.matchConstraints.namespaceSelector", 5, /namespaceSelector/),
  mistake("a key that there is not", "spec.failurePolicies", "Fail", /failurePolicies/),
];
const VALIDATIONS: readonly Mistake[] = [
  mistake("a validation that does not compile", "spec.validations.0.expression", "nothing2", /nothing2/),
  mistake("another one that does not", "spec.validations.1.expression", "'a' + 1 == 2", /validations\[1\]\.expression/),
  mistake("a message that does not", "spec.validations.1.messageExpression", "nothing3", /nothing3/),
  mistake("an annotation that does not", "spec.auditAnnotations.0.valueExpression", "nothing4", /nothing4/),
  mistake("a key that a validation has not", "spec.validations.0.mesage", "x", /mesage/),
  mistake("a message that is no text", "spec.validations.1.message", 5, /validations\[1\]\.message/),
];

const KINDS: readonly {
  readonly kind: string;
  readonly document: () => Json;
  readonly mistakes: readonly Mistake[];
}[] = [
  {
    kind: "ValidatingAdmissionPolicy",
    document: () => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: "p" },
      spec: spec(),
    }),
    mistakes: [
      ...COMMON,
      ...VALIDATIONS,
      mistake("a failure policy that is none", "spec.failurePolicy", "Never", /failurePolicy/),
    ],
  },
  {
    kind: "MutatingAdmissionPolicy",
    document: () => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingAdmissionPolicy",
      metadata: { name: "p" },
      spec: {
        ...spec(),
        validations: undefined,
        auditAnnotations: undefined,
        reinvocationPolicy: "Never",
        mutations: [
          { patchType: "JSONPatch", jsonPatch: { expression: "[JSONPatch{op: 'remove', path: '/a'}]" } },
          { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } },
        ],
      },
    }),
    mistakes: [
      ...COMMON,
      mistake("a patch that does not compile", "spec.mutations.0.jsonPatch.expression", "nothing5", /nothing5/),
      mistake("another one", "spec.mutations.1.applyConfiguration.expression", "nothing6", /nothing6/),
      mistake("a reinvocation that is none", "spec.reinvocationPolicy", "Often", /reinvocationPolicy/),
    ],
  },
  {
    kind: "ValidatingPolicy",
    document: () => ({
      apiVersion: "policies.kyverno.io/v1",
      kind: "ValidatingPolicy",
      metadata: { name: "p" },
      spec: spec(),
    }),
    mistakes: [
      ...COMMON,
      ...VALIDATIONS,
      mistake("an action that is none", "spec.validationActions", ["Never"], /validationActions/),
    ],
  },
  {
    kind: "CertificateRequestPolicy",
    document: () => ({
      apiVersion: "policy.cert-manager.io/v1alpha1",
      kind: "CertificateRequestPolicy",
      metadata: { name: "p" },
      spec: {
        selector: { issuerRef: {} },
        allowed: {
          commonName: { value: "a", validations: [{ rule: "true" }] },
          dnsNames: { values: ["a"], validations: [{ rule: "true" }] },
        },
        constraints: { privateKey: { algorithm: "RSA" } },
      },
    }),
    mistakes: [
      mistake("a rule that does not compile", "spec.allowed.commonName.validations.0.rule", "nothing7", /nothing7/),
      mistake("another one", "spec.allowed.dnsNames.validations.0.rule", "nothing8", /nothing8/),
      mistake("an algorithm that is none", "spec.constraints.privateKey.algorithm", "DES", /algorithm/),
      mistake("a duration that is none", "spec.constraints.minDuration", "long", /minDuration/),
      mistake("a key that there is not", "spec.allowed.dnsName", {}, /dnsName/),
      mistake("a value that is no text", "spec.allowed.commonName.value", 5, /commonName/),
      mistake("no selector", "spec.selector", {}, /selector/),
    ],
  },
];

const kinds = createKinds({
  runtime: undefined as unknown as WasmRuntime,
  policyTimeout: 60_000,
  now: () => 0,
  typeCheck: true,
});
const holder = parseConfig("p: { cel: { validations: [ { expression: 'true' } ] } }", "p.yaml");
assert.ok(holder.ok);
const inline = holder.config.entries[0];
assert.ok(inline?.kind === "cel");

function saidOf(act: (warn: Warn) => unknown): readonly Problem[] {
  const warnings: Problem[] = [];
  try {
    act((problem) => warnings.push(problem));
  } catch (error) {
    if (error instanceof LoadError) return [...error.problems, ...warnings];
    throw error;
  }
  return assert.fail("nothing was refused");
}

/** Every pair once, and each mistake alone. */
function* pairsOf(mistakes: readonly Mistake[]): Iterable<readonly Mistake[]> {
  for (const [i, first] of mistakes.entries()) {
    yield [first];
    for (const second of mistakes.slice(i + 1)) yield [first, second];
  }
}

function assertAllSaid(
  mistakes: readonly Mistake[],
  document: () => Json,
  problemsOf: (document: Json) => readonly Problem[],
): void {
  for (const pair of pairsOf(mistakes)) {
    const broken = document();
    for (const { make } of pair) make(broken);
    const errors = problemsOf(broken).filter(({ severity }) => severity === "error");
    const texts = errors.map(formatProblem);
    const names = pair.map(({ name }) => name).join(", ");
    for (const { name, said } of pair)
      assert.ok(
        texts.some((text) => said.test(text)),
        `${name} of: ${names}\n${texts.join("\n")}`,
      );
    // What only follows from a mistake is not said beside it.
    for (const text of texts)
      assert.ok(
        pair.some(({ said }) => said.test(text)),
        `follows from: ${names}\n${text}`,
      );
  }
}

describe("every mistake of a document is told in one run", async () => {
  for (const { kind, document, mistakes } of KINDS) {
    test(kind, async () => {
      const source = parseResources(JSON.stringify(document()), "p.json");
      const entry = { ...inline, kind: "resource", documents: source.documents, allowedToMutate: false } as const;
      const { documents } = await kinds.for([entry as never]);
      const own = documents.find(({ policies }) => policies.some((each) => each.kind === kind)) as DocumentKind;
      own.prepare({ id: "p", own: source.documents, others: [] }, () => {});
      assertAllSaid(mistakes, document, (broken) => {
        const read = parseResources(JSON.stringify(broken), "p.json");
        return saidOf((warn) => own.prepare({ id: "p", own: read.documents, others: [] }, warn));
      });
    });
  }

  test("cel:", async () => {
    const kind: InlineKind = (await kinds.for([inline])).inline;
    const document = () => ({ spec: spec() });
    const mistakes = [...COMMON, ...VALIDATIONS];
    assertAllSaid(mistakes, document, (broken) => {
      const text = JSON.stringify({ p: { cel: broken.spec } });
      const { documents } = parseResources(text, "p.yaml");
      const [file] = documents;
      assert.ok(file !== undefined);
      return saidOf((warn) => kind.prepare({ ...inline, cel: broken.spec, origin: new Origin(file, ["p"]) }, warn));
    });
  });

  test("a broken binding hides no other one, and no mistake of a policy", async () => {
    const policy = (name: string, expression: string) => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name },
      spec: { ...spec(), validations: [{ expression }] },
    });
    const binding = (name: string, more: object) => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name },
      spec: { policyName: "a", validationActions: ["Deny"], ...more },
    });
    const items = [
      policy("a", "nothing1"),
      policy("b", "nothing2"),
      binding("c", { validationActions: ["Never"] }),
      binding("d", { paramref: {}, validationActions: ["Always"] }),
    ];
    const read = parseResources(items.map((item) => JSON.stringify(item)).join("\n---\n"), "p.yaml");
    const { documents } = await kinds.for([{ ...inline, kind: "resource", documents: read.documents } as never]);
    const [own] = documents;
    assert.ok(own !== undefined);
    const said = saidOf((warn) => own.prepare({ id: "p", own: read.documents, others: [] }, warn)).map(formatProblem);
    for (const pattern of [/nothing1/, /nothing2/, /Never/, /paramref/, /Always/]) {
      assert.ok(
        said.some((text) => pattern.test(text)),
        `${pattern}\n${said.join("\n")}`,
      );
    }
  });
});
