import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { buildRequest } from "../../src/admission/build-request.js";
import type { EvaluateAnswer, EvaluateQuestion, PageSource } from "../../src/page/api.js";
import { kindOfDraft } from "../../src/page/browser/model/draft-kind.js";
import { linesOf, placesOf } from "../../src/page/browser/model/positions.js";
import { EXAMPLES } from "../../src/page/examples.js";
import { LocalPlayground } from "../../src/page/play/local-playground.js";

const POLICIES = `# what is served
latest:
  cel:
    validations:
      - expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))"
        message: "no latest"
# a group
workloads:
  expression: "latest()"
  message: "the workload is not allowed"
  policies:
    latest: { policy: latest }
watched:
  policyMode: monitor
  cel:
    validations: [{ expression: "false", message: "never" }]
documents:
  resource: vap.yaml
guest:
  module: registry://registry.example.com/policies/guest:v1
`;
const VAP = EXAMPLES[1]?.draft.text ?? "";
const POD = `apiVersion: v1
kind: Pod
metadata: { name: p }
spec:
  containers: [{ name: p, image: "p:latest" }]
`;
const entry = (text: string): PageSource => ({ kind: "entry", text });

describe("drafts beside what is served", () => {
  const top = mkdtempSync(join(tmpdir(), "play-"));
  const folder = join(top, "own");
  let playground: LocalPlayground;
  before(() => {
    mkdirSync(folder);
    writeFileSync(join(top, "outside.yaml"), VAP);
    writeFileSync(join(folder, "policies.yaml"), POLICIES);
    writeFileSync(join(folder, "vap.yaml"), `---\n${VAP}`);
    symlinkSync(join(top, "outside.yaml"), join(folder, "link.yaml"));
    playground = new LocalPlayground({ file: join(folder, "policies.yaml"), downloadDirectory: folder });
  });
  after(async () => {
    await playground.close();
    rmSync(top, { recursive: true });
  });

  async function answerTo(question: Partial<EvaluateQuestion>): Promise<NonNullable<EvaluateAnswer["answer"]>> {
    const { answer, problems, payloadProblem } = await playground.evaluate({ payload: POD, ...question }, 1);
    assert.ok(answer, JSON.stringify({ problems, payloadProblem }));
    return answer;
  }
  const problemsOf = async (text: string): Promise<string[]> =>
    (await playground.check({ draft: entry(text) }, 1)).problems.map(
      ({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`,
    );

  test("the examples have no mistakes, and something to say about their payloads", async () => {
    const said: (string | boolean)[] = [];
    for (const { draft, payload } of EXAMPLES) {
      assert.deepEqual((await playground.check({ draft }, 1)).problems, []);
      const { allowed, explained } = await answerTo({ draft, payload });
      said.push(allowed, explained.message ?? "");
    }
    assert.deepEqual(said, [
      false,
      "at most 3 replicas, not 5",
      false,
      "ValidatingAdmissionPolicy 'no-host-network' with binding 'no-host-network' denied request: the network of the node is not for Pods",
      true,
      "",
    ]);
  });

  test("a mistake stands at its place in the draft, in documents too", async () => {
    assert.match(
      (await problemsOf('a:\n  cel:\n    validations:\n      - expression: "object.x == nothing"\n'))[0] ?? "",
      /^4:34 a\.cel\.validations\[0\]\.expression: .*undeclared reference to 'nothing'/,
    );
    assert.match((await problemsOf("a:\n  sell: {}\n"))[0] ?? "", /^2:3 a: does not say what it is/);
    const draft: PageSource = { kind: "resource", text: VAP.replace("object.spec", "obj.spec") };
    const { problems, ids } = await playground.check({ draft }, 1);
    const line = VAP.split("\n").findIndex((each) => each.includes("expression:")) + 1;
    assert.deepEqual([problems[0]?.line, problems[0]?.path, ids], [line, "spec.validations[0].expression", ["draft"]]);
    const { answer, problems: told } = await playground.evaluate({ draft, payload: POD }, 1);
    assert.deepEqual([answer, told.length], [undefined, 1]);
  });

  test("what is underlined of a mistake is the whole name, wherever it stands", async () => {
    const cel = (expression: string) => `a:\n  cel:\n    validations:\n      - expression: ${expression}\n`;
    const drafts = [
      cel(`"object.x == ⟦no_thing_1⟧.b"`),
      cel(`"'😀' + ⟦no_thing⟧ == '😀'"`),
      cel(`'''a'' == ⟦no_thing⟧'`),
      cel(`"\\"a\\" == ⟦no_thing⟧"`),
      cel(`|\n          object.x == 1 &&\n          ⟦no_thing⟧ == 2`),
      cel(`>-\n          object.x == 1\n          && object.name.⟦startWith⟧('a')`),
      cel("object.x == 1 &&\n          ⟦no_thing⟧ == 2"),
      cel(`"'a' ⟦==⟧ 1"`),
      cel(`"object.x.matches(⟦'[a-'⟧)"`),
      cel(`|\n          ⟦'a' +⟧\n          ⟦'b'⟧`),
      "a:\n  ⟦cell_x.y⟧: {}\n",
      'a:\n  cel:\n    ⟦"valid ations"⟧: []\n',
      `a:\n  expression: "m_1() && ⟦no_thing⟧-b.c"\n  message: x\n  policies: { m_1: { policy: latest } }\n`,
      VAP.replace("object.spec", "⟦obj⟧.spec"),
      VAP.replace("spec.?hostNetwork", "spec.?⟦host_network⟧"),
    ];
    for (const marked of drafts) {
      const text = marked.replace(/[⟦⟧]/g, "");
      const { problems } = await playground.check({ draft: { kind: kindOfDraft(text), text } }, 1);
      const [first] = problems;
      assert.ok(first, marked);
      const lines = [...linesOf(text)];
      for (const { index, from, to } of placesOf(linesOf(text), first)) {
        const line = lines[index] ?? "";
        lines[index] = `${line.slice(0, from)}⟦${line.slice(from, to)}⟧${line.slice(to)}`;
      }
      assert.equal(lines.join("\n"), marked, first.message);
    }
  });

  test("a group of a draft may name what is served, and is explained with its members", async () => {
    const draft = entry(
      "g:\n  expression: 'w() && fine()'\n  message: refused\n  policies:\n    w: { policy: workloads }\n    fine: { policy: latest }\n",
    );
    const { allowed, explained } = await answerTo({ draft });
    assert.equal(allowed, false);
    assert.deepEqual(
      explained.members.map(({ name, outcome, members }) => [name, outcome, members.map((each) => each.name)]),
      [
        ["w", "deny", ["latest"]],
        ["fine", "not evaluated", []],
      ],
    );
  });

  test("a draft goes before what is served under its name, and must not contain itself by way of that", async () => {
    const { allowed } = await answerTo({ draft: entry("latest:\n  cel: { validations: [{ expression: 'true' }] }\n") });
    assert.equal(allowed, true);
    const around = "latest:\n  expression: 'w()'\n  message: refused\n  policies: { w: { policy: workloads } }\n";
    assert.match((await problemsOf(around))[0] ?? "", /groups must not contain themselves/);
  });

  test("what is served is asked by its id, and monitor mode's secret is told", async () => {
    const group = await answerTo({ id: "workloads" });
    assert.deepEqual([group.allowed, group.explained.members[0]?.outcome], [false, "deny"]);
    assert.equal((await answerTo({ id: "workloads/latest" })).allowed, false);
    const watched = await answerTo({ id: "watched" });
    assert.deepEqual([watched.allowed, watched.wouldDeny], [true, "never"]);
    await assert.rejects(playground.evaluate({ id: "nobody", payload: POD }, 1), { status: 404 });
  });

  test("the answer to a later question is explained as the first one was", async () => {
    const draft = entry(
      "g:\n  expression: 'object.all(n, m(n))'\n  message: refused\n  policies:\n    m: { cel: { validations: [{ expression: 'object < 1000' }] } }\n",
    );
    const payload = JSON.stringify(Array.from({ length: 90 }, (_, index) => index));
    // Of so many times together no Explainer keeps all.
    for (let times = 0; times < 13; times++) {
      const { explained } = await answerTo({ draft, payload, raw: true });
      assert.deepEqual([explained.members.length, explained.left], [90, 0]);
    }
  });

  test("payloads may be reviews, and raw values; a mistake stands at its place", async () => {
    const request = buildRequest({ object: { apiVersion: "v1", kind: "Pod", metadata: {}, spec: { containers: [] } } });
    assert.equal((await answerTo({ id: "latest", payload: JSON.stringify({ request }) })).allowed, true);
    const draft = entry(
      "g:\n  expression: 'object.size > 1 || l()'\n  message: refused\n  policies: { l: { policy: latest } }\n",
    );
    assert.equal((await answerTo({ draft, payload: "size: 2", raw: true })).allowed, true);
    const mistake = async (payload: string) => (await playground.evaluate({ draft, payload }, 1)).payloadProblem;
    assert.deepEqual([(await mistake("a:\n  - [1"))?.line, (await mistake("size: 2"))?.line], [2, 1]);
    assert.match((await mistake("size: 2"))?.message ?? "", /no apiVersion and kind/);
    assert.match((await mistake(`${POD}---\n${POD}`))?.message ?? "", /one document/);
    assert.match((await mistake(""))?.message ?? "", /nothing/);
    const former = entry("a:\n  cel: { validations: [{ expression: 'oldObject == object' }] }\n");
    assert.equal((await answerTo({ draft: former, operation: "UPDATE" })).allowed, true);
  });

  test("a patch is shown as what it makes of the object", async () => {
    const draft: PageSource = { kind: "entry", text: "m:\n  resource: map.yaml\n  allowedToMutate: true\n" };
    writeFileSync(join(folder, "map.yaml"), MAP);
    const { diff = [], response } = await answerTo({ draft });
    assert.ok((response as { patch?: string }).patch);
    const added = diff.filter(({ kind }) => kind === "added").map(({ text }) => text.trim());
    assert.ok(added.includes("team: platform"), added.join());
  });

  test("a draft reads nothing outside of its folder, and fetches no module that is not configured", async () => {
    const modules = [
      "file:///etc/passwd",
      "../outside.wasm",
      "registry://registry.example.com/other:v1",
      "https://example.com/a.wasm",
    ];
    for (const module of modules) {
      const inGroup = `g:\n  expression: 'm()'\n  message: refused\n  policies:\n    m: { module: "${module}" }\n`;
      for (const text of [`a:\n  module: ${module}\n`, inGroup])
        assert.match((await problemsOf(text)).join("\n"), /a draft in the page may use the modules/, module);
    }
    for (const resource of ["/etc/passwd", "../outside.yaml", "link.yaml", "..", "../nobody.yaml"]) {
      const [problem = "", ...more] = await problemsOf(`a:\n  resource: ${resource}\n`);
      assert.match(problem, /is not below the folder of the policies file/, resource);
      assert.deepEqual(more, []);
    }
    assert.deepEqual(await problemsOf("a:\n  resource: vap.yaml\n"), []);
    // Known, and allowed to be fetched: it is nowhere.
    assert.match(
      (await problemsOf("a:\n  module: registry://registry.example.com/policies/guest:v1\n")).join(),
      /Error while downloading/,
    );
  });

  test("a draft asks nobody outside", async () => {
    const policy = `apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: { name: curious }
spec:
  matchConstraints:
    resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] }]
  validations:
    - expression: "http.Get('http://127.0.0.1:1/') == null"
`;
    const { allowed, response } = await answerTo({ draft: { kind: "resource", text: policy } });
    assert.equal(allowed, false);
    assert.match(JSON.stringify(response), /nothing outside of the request may be asked here/);
  });

  test("entries and documents can be edited, modules can't", async () => {
    const sources = await playground.sources();
    assert.deepEqual([...sources.keys()], ["latest", "workloads", "watched", "documents", "guest"]);
    assert.equal(sources.get("guest"), undefined);
    assert.deepEqual(sources.get("documents"), { kind: "resource", text: VAP });
    assert.match(
      sources.get("workloads")?.text ?? "",
      /^workloads:\n {2}expression: "latest\(\)"\n[\s\S]*\{ policy: latest \}\n$/,
    );
    for (const draft of sources.values())
      if (draft !== undefined) assert.deepEqual((await playground.check({ draft }, 1)).problems, []);
  });

  test("another generation reads the files anew", async () => {
    writeFileSync(join(folder, "policies.yaml"), POLICIES.replace("!c.image", "c.image"));
    assert.equal((await answerTo({ id: "latest" })).allowed, false);
    const { answer } = await playground.evaluate({ id: "latest", payload: POD }, 2);
    assert.equal(answer?.allowed, true);
  });
});

const MAP = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: { name: labelled }
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] }]
  mutations:
    - patchType: ApplyConfiguration
      applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'team': 'platform'}}}" }
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: { name: labelled }
spec: { policyName: labelled }
`;
