import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Origin } from "../../src/config/documents/origin.js";
import { formatProblem, type Problem } from "../../src/config/documents/problem.js";
import { parseResources, type SourceDocument } from "../../src/config/documents/source-document.js";
import type { ResourceEntry } from "../../src/config/entry.js";
import { parseConfig } from "../../src/config/index.js";
import type { DocumentKind, DocumentSet } from "../../src/kinds/kind.js";
import { LoadError } from "../../src/kinds/load-error.js";
import { prepareDocuments } from "../../src/kinds/resource-entry.js";
import type { Outcome } from "../../src/policy/index.js";
import { NO_NEEDS } from "../../src/world/needs.js";

const NOW = { authorizer: { authorize: () => ({ decision: "noOpinion", reason: "" }) as const }, now: () => 0 };

/** A kind that notes what it is given; its policies answer as told. */
function fakeKind(name: string, outcome: Outcome, given: DocumentSet[] = []): DocumentKind {
  return {
    policies: [{ group: `${name}.io`, kind: "Rule" }],
    companions: [{ group: `${name}.io`, kind: "Binding" }],
    prepare(documents) {
      given.push(documents);
      const broken = documents.own.find(({ value }) => (value as { broken?: unknown }).broken === true);
      if (broken !== undefined) throw new LoadError("broken", [broken.problem("error", ["broken"], "is broken")]);
      return {
        needs: { ...NO_NEEDS, asks: name === "a" },
        policy: () => ({
          id: documents.id,
          kind: "cel",
          implementation: name,
          immediate: true,
          evaluate: () => outcome,
        }),
      };
    },
  };
}

function entryOf(text: string): ResourceEntry {
  const read = parseResources(text, "rules.yaml");
  assert.deepEqual(read.problems, []);
  const holder = parseConfig("p: { cel: { validations: [ { expression: 'true' } ] } }", "p.yaml");
  assert.ok(holder.ok);
  const [entry] = holder.config.entries;
  assert.ok(entry?.kind === "cel");
  const origin = new Origin((entry.origin as Origin).document, ["p"]);
  return {
    kind: "resource",
    id: "p",
    origin,
    documents: read.documents,
    policyMode: "protect",
    allowedToMutate: false,
  };
}

const rule = (group: string, name: string, more = "") =>
  `{apiVersion: ${group}.io/v1, kind: Rule, metadata: {name: ${name}}${more}}\n---\n`;
const silent = (problem: Problem): void => assert.fail(formatProblem(problem));
const ALLOW: Outcome = { verdict: "allow" };
const names = (documents: readonly SourceDocument[]) =>
  documents.map(({ value }) => (value as { metadata: { name: string } }).metadata.name);

describe("documents of a resource entry", () => {
  test("go to their kinds, bindings with them, and all others to every kind", async () => {
    const given: DocumentSet[] = [];
    const text = `${rule("a", "a1")}${rule("b", "b1")}{apiVersion: a.io/v1, kind: Binding, metadata: {name: a2}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n`;
    const prepared = prepareDocuments(
      entryOf(text),
      [fakeKind("a", ALLOW, given), fakeKind("b", { verdict: "deny" }, given)],
      silent,
    );
    assert.deepEqual(
      given.map(({ own, others }) => [names(own), names(others)]),
      [
        [["a1", "a2"], ["ns"]],
        [["b1"], ["ns"]],
      ],
    );
    assert.equal(prepared.needs.asks, true);
    const policy = await prepared.policy(NOW);
    const outcome = await policy.evaluate(
      { kind: "raw", payload: {}, requestBytes: () => new Uint8Array() },
      { deadline: 1, signal: new AbortController().signal },
    );
    assert.deepEqual([policy.id, policy.implementation, outcome.verdict], ["p", "a, b", "deny"]);
  });

  test("go with what their entry says of them", () => {
    const given: DocumentSet[] = [];
    const certificateRequests = { binding: "assume-bound", readiness: "status" } as const;
    const entry = { ...entryOf(rule("a", "a1")), certificateRequests };
    prepareDocuments(entry, [fakeKind("a", ALLOW, given)], silent);
    prepareDocuments(
      { ...entryOf(rule("a", "a1")), validationActions: ["Audit"] },
      [fakeKind("a", ALLOW, given)],
      silent,
    );
    assert.deepEqual(
      given.map((set) => [set.certificateRequests, set.validationActions]),
      [
        [certificateRequests, undefined],
        [undefined, ["Audit"]],
      ],
    );
  });

  test("that mutate are told to be refused wherever their entry or group does not allow it", () => {
    const judging = fakeKind("a", ALLOW);
    const kind: DocumentKind = {
      ...judging,
      prepare: (documents, warn) => ({ ...judging.prepare(documents, warn), mutates: ["Rule"] }),
    };
    const said = (more: Partial<ResourceEntry>): readonly string[] => {
      const problems: Problem[] = [];
      prepareDocuments({ ...entryOf(rule("a", "a1")), ...more }, [kind], (problem) => problems.push(problem));
      return problems.map(({ severity, message }) => `${severity} ${message}`);
    };
    const refused = "warning every request that a Rule would change is refused: ";
    assert.deepEqual(said({}), [`${refused}to let it change objects, write allowedToMutate: true`]);
    assert.deepEqual(said({ id: "g/p" }), [
      `${refused}members of a group never mutate; to let it change objects, make it an entry of its own with allowedToMutate: true`,
    ]);
    assert.deepEqual(said({ allowedToMutate: true }), []);
    assert.deepEqual(said({ policyMode: "monitor" }), []);
  });

  test("of RBAC go to every kind, and are not called without effect", () => {
    const given: DocumentSet[] = [];
    const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}\n";
    prepareDocuments(entryOf(rule("a", "a1") + role), [fakeKind("a", ALLOW, given)], silent);
    assert.deepEqual(
      given.map(({ others }) => names(others)),
      [["r"]],
    );
  });

  test("may stand in lists, also in lists of lists, with the place of every mistake", () => {
    const given: DocumentSet[] = [];
    const list = `apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: RuleList
    items:
      - {apiVersion: a.io/v1, kind: Rule, metadata: {name: a1}}
      - apiVersion: a.io/v1
        kind: Rule
        metadata: {name: a2}
        broken: true
`;
    const problems = problemsOf(() => prepareDocuments(entryOf(list), [fakeKind("a", ALLOW, given)], silent));
    assert.deepEqual(
      given.map(({ own }) => names(own)),
      [["a1", "a2"]],
    );
    assert.deepEqual(problems, ["rules.yaml:11:17: broken: is broken"]);
  });

  test("have the kind and apiVersion of their list when they say neither, as the API server's lists do", () => {
    const given: DocumentSet[] = [];
    const list = `apiVersion: a.io/v1
kind: RuleList
items:
  - metadata: {name: a1}
  - metadata: {name: a2}
    broken: true
  - {apiVersion: v1, kind: Namespace, metadata: {name: ns}}
`;
    const problems = problemsOf(() => prepareDocuments(entryOf(list), [fakeKind("a", ALLOW, given)], silent));
    assert.deepEqual(
      given.map(({ own, others }) => [names(own), names(others)]),
      [[["a1", "a2"], ["ns"]]],
    );
    assert.deepEqual(problems, ["rules.yaml:6:13: broken: is broken"]);
  });

  for (const [what, document, problem] of [
    ["a group without a version", "{apiVersion: a.io, kind: Rule}", "apiVersion: Rule of a.io is not known here"],
    ["another group", "{apiVersion: c.io/v1, kind: Binding}", "apiVersion: Binding of c.io/v1 is not known here"],
    ["no apiVersion", "{kind: Rule}", "apiVersion: missing"],
    ["no kind", "{apiVersion: a.io/v1, metadata: {name: x}}", "kind: missing"],
    ["half a name in a list", "{apiVersion: a.io/v1, kind: RuleList, items: [{kind: Rule}]}", "apiVersion: missing"],
    ["no name in a list of anything", "{apiVersion: v1, kind: List, items: [{spec: {}}]}", "apiVersion: missing"],
    ["no map", "text", "apiVersion: missing"],
    ["a spec and no name", "{spec: {}}", "apiVersion: missing"],
    ["a list of a policy's kind without items", "{apiVersion: a.io/v1, kind: RuleList}", "items: must be a list"],
    ["one whose items are none", "{apiVersion: a.io/v1, kind: RuleList, items: {}}", "items: must be a list"],
  ] as const) {
    test(`with ${what} are refused beside one that is served: nobody would miss it`, () => {
      const text = `${rule("a", "a1")}${document}\n`;
      const [first = ""] = problemsOf(() => prepareDocuments(entryOf(text), [fakeKind("a", ALLOW)], silent));
      assert.match(first, /^rules\.yaml:3:/);
      assert.ok(first.includes(`: ${problem}`), first);
    });
  }

  test("of a tool beside them, and empty lists, keep nothing from being served", () => {
    const said: string[] = [];
    const text = `${rule("a", "a1")}{resources: [a.yaml]}\n---\n{apiVersion: a.io/v1, kind: RuleList, items: null}\n`;
    prepareDocuments(entryOf(text), [fakeKind("a", ALLOW)], (problem) => said.push(problem.message));
    assert.deepEqual(said, ["a document without a kind has no effect here"]);
  });

  test("with one name twice are refused, whatever version they are of", () => {
    const text = `${rule("a", "same")}{apiVersion: a.io/v2, kind: Rule, metadata: {name: same}}\n`;
    assert.deepEqual(
      problemsOf(() => prepareDocuments(entryOf(text), [fakeKind("a", ALLOW)], silent)),
      ['rules.yaml:3:52: metadata.name: duplicate name "same" of a Rule (previously seen in "rules.yaml")'],
    );
  });

  test("of every kind have their mistakes told in one run", () => {
    const text = `${rule("a", "a1", ", broken: true")}${rule("b", "b1", ", broken: true")}`;
    const kinds = [fakeKind("a", ALLOW), fakeKind("b", ALLOW)];
    assert.equal(problemsOf(() => prepareDocuments(entryOf(text), kinds, silent)).length, 2);
  });

  test("without a policy of a known kind are refused by the names of what was found and what is known", () => {
    const text = "{apiVersion: other.io/v1, kind: OtherPolicy}\n---\n{apiVersion: v1, kind: ConfigMap}\n";
    assert.deepEqual(
      problemsOf(() => prepareDocuments(entryOf(text), [fakeKind("a", ALLOW), fakeKind("b", ALLOW)], () => {})),
      [
        "p.yaml:1:4: p.resource: the files hold no policy: found OtherPolicy of other.io/v1, ConfigMap of v1; expected a Rule of a.io, or a Rule of b.io",
      ],
    );
  });

  test("of kinds that are known, and not evaluated here, are told each at its place, with what to do", () => {
    const text =
      "{apiVersion: kyverno.io/v2, kind: CleanupPolicy}\n---\n{apiVersion: constraints.gatekeeper.sh/v1beta1, kind: K8sRequired}\n---\n{apiVersion: v1, kind: ConfigMap}\n";
    assert.throws(
      () => prepareDocuments(entryOf(text), [fakeKind("a", ALLOW)], () => {}),
      ({ problems }: LoadError) => {
        assert.deepEqual(problems.map(formatProblem), [
          "rules.yaml:1:35: kind: this is Kyverno's CleanupPolicy, which acts on a cluster beside its requests: it is not evaluated here",
          "rules.yaml:3:55: kind: this is a constraint of Gatekeeper, the parameters and the match of its template: it is not evaluated here",
        ]);
        assert.match(problems[0]?.hint ?? "", /^leave it to Kyverno: .*docs\/kyverno\.md\)$/);
        return true;
      },
    );
  });

  test("that are policies elsewhere, beside one that is served, have a word said about them", () => {
    const warnings: Problem[] = [];
    const text = `${rule("a", "a1")}{apiVersion: kyverno.io/v2, kind: CleanupPolicy}\n---\n{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy}\n`;
    prepareDocuments(entryOf(text), [fakeKind("a", ALLOW)], (problem) => warnings.push(problem));
    assert.deepEqual(warnings.map(formatProblem), [
      "rules.yaml:3:35: warning: kind: CleanupPolicy of kyverno.io/v2 has no effect here",
    ]);
  });

  test("are not served without a kind that fails, whatever it says of that", () => {
    const silentlyBroken: DocumentKind = {
      ...fakeKind("b", ALLOW),
      prepare: () => {
        throw new LoadError("no problem named", []);
      },
    };
    const entry = entryOf(rule("a", "one") + rule("b", "two"));
    assert.throws(() => prepareDocuments(entry, [fakeKind("a", ALLOW), silentlyBroken], silent), /no problem named/);
  });
});

function problemsOf(act: () => unknown): readonly string[] {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof LoadError, String(error));
    return error.problems.map(formatProblem);
  }
  return assert.fail("nothing was refused");
}
