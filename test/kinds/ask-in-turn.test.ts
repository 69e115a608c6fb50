/** Entries of policies that mutate and policies that judge: in a cluster validation sees what mutation has left (spec mutating-admission-policy.md). */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { runCommandLine } from "../../src/cli/command-line.js";
import { formatProblem } from "../../src/config/documents/problem.js";
import { parseConfig } from "../../src/config/index.js";
import { askInTurn } from "../../src/kinds/resource-entry.js";
import { createLoader } from "../../src/loader/index.js";
import type { EvaluationContext, Outcome, Policy, Review } from "../../src/policy/index.js";
import { createEvaluator } from "../../src/policy/served/evaluator.js";
import type { RequestOrigin } from "../../src/policy/served/verdict.js";
import { ask } from "../support/asking.js";

const CONTEXT: EvaluationContext = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
const REVIEW: Review = { kind: "raw", payload: { a: 1 }, requestBytes: () => Buffer.from('{"a":1}') };
const ALLOW: Outcome = { verdict: "allow" };
const patch = (object: unknown): Outcome => ({
  verdict: "allow",
  mutation: { kind: "patch", patch: "W10=", changed: { object } },
});

/** A policy that notes what it is asked. */
function fake(outcome: Outcome | Promise<Outcome>, asked: Review[] = []): Policy {
  return {
    id: "f",
    kind: "cel",
    implementation: "f",
    immediate: true,
    evaluate(review) {
      asked.push(review);
      return outcome;
    },
  };
}

const texts = (reviews: readonly Review[]): string[] =>
  reviews.map(({ requestBytes }) => Buffer.from(requestBytes()).toString());

describe("policies asked in turn", () => {
  for (const [when, delayed] of [
    ["at once", (outcome: Outcome) => outcome],
    ["later", (outcome: Outcome) => Promise.resolve(outcome)],
  ] as const) {
    test(`are asked about what the first have left, which answer ${when}`, async () => {
      const [first, then]: [Review[], Review[]] = [[], []];
      const mutation = patch({ a: 2 });
      const both = askInTurn("p", [fake(delayed(mutation), first)], [fake(delayed(ALLOW), then)], () => 0);
      assert.deepEqual(await both.evaluate(REVIEW, CONTEXT), mutation);
      assert.deepEqual([texts(first), texts(then)], [['{"a":1}'], ['{"a":2}']]);
      const denying = askInTurn("p", [fake(delayed(mutation))], [fake({ verdict: "deny", message: "no" })], () => 0);
      const denied = await denying.evaluate(REVIEW, CONTEXT);
      assert.ok(denied.verdict === "deny" && denied.message === "no", JSON.stringify(denied));
    });

    test(`change further what the first have changed, which answer ${when}`, async () => {
      const steps = (path: string, object: unknown, value: unknown): Outcome => {
        const patch = Buffer.from(JSON.stringify([{ op: "add", path, value }])).toString("base64");
        return { verdict: "allow", mutation: { kind: "patch", patch, changed: { object } } };
      };
      const [second, judging]: [Review[], Review[]] = [[], []];
      const inner = askInTurn(
        "p",
        [fake(delayed(steps("/c", { a: 1, b: "],[", c: 3 }, 3)), second)],
        [fake(delayed(ALLOW), judging)],
        () => 0,
      );
      const both = askInTurn("p", [fake(delayed(steps("/b", { a: 1, b: "],[" }, "],[")))], [inner], () => 0);
      const outcome = await both.evaluate(REVIEW, CONTEXT);
      assert.ok(outcome.verdict === "allow" && outcome.mutation?.kind === "patch", JSON.stringify(outcome));
      assert.deepEqual(JSON.parse(Buffer.from(outcome.mutation.patch, "base64").toString()), [
        { op: "add", path: "/b", value: "],[" },
        { op: "add", path: "/c", value: 3 },
      ]);
      assert.deepEqual(outcome.mutation.changed, { object: { a: 1, b: "],[", c: 3 } });
      assert.deepEqual([texts(second), texts(judging)], [['{"a":1,"b":"],["}'], ['{"a":1,"b":"],[","c":3}']]);
      assert.equal(both.together?.length, 3);
      const denied = await askInTurn(
        "p",
        [fake(delayed(steps("/b", { b: 1 }, 1)))],
        [fake({ verdict: "deny", message: "no" })],
        () => 0,
      ).evaluate(REVIEW, CONTEXT);
      assert.equal(denied.verdict, "deny");
    });

    test(`are not asked where the first say anything but yes, which answer ${when}`, async () => {
      const asked: Review[] = [];
      const failure: Outcome = { verdict: "error", message: "boom", cause: "expression" };
      const both = askInTurn("p", [fake(delayed(failure))], [fake(ALLOW, asked)], () => 0);
      assert.deepEqual(await both.evaluate(REVIEW, CONTEXT), failure);
      assert.deepEqual(asked, []);
    });
  }

  test("are asked about the object as it came where it is not changed", async () => {
    for (const outcome of [ALLOW, { verdict: "skip", reason: "no rule" }] as const) {
      const asked: Review[] = [];
      const both = askInTurn("p", [fake(outcome)], [fake(ALLOW, asked)], () => 0);
      assert.equal((await both.evaluate(REVIEW, CONTEXT)).verdict, "allow");
      assert.deepEqual(asked, [REVIEW]);
    }
  });

  test("fail where nobody knows what has become of the object, or when the time is over", async () => {
    const unknown = fake({ verdict: "allow", mutation: { kind: "patch", patch: "W10=" } });
    const both = askInTurn("p", [unknown], [fake(ALLOW)], () => 0);
    assert.equal((await both.evaluate(REVIEW, CONTEXT)).verdict, "error");
    let now = 0;
    const slow: Policy = {
      ...fake(ALLOW),
      evaluate: () => {
        now = 11;
        return ALLOW;
      },
    };
    const late = await askInTurn("p", [slow], [fake(ALLOW)], () => now).evaluate(REVIEW, { ...CONTEXT, deadline: 10 });
    assert.ok(late.verdict === "error" && late.cause === "timeout");
  });
});

const folder = mkdtempSync(join(tmpdir(), "ask-in-turn-"));
after(() => rmSync(folder, { recursive: true }));

const rules = "[{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }]";
/** A policy that writes a label, and one of each kind that judges it. */
const DOCUMENTS = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: { name: writes }
spec:
  matchConstraints: { resourceRules: ${rules} }
  reinvocationPolicy: Never
  mutations:
    - patchType: ApplyConfiguration
      applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'team': object.data.team}}}" }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: judges }
spec:
  matchConstraints: { resourceRules: ${rules} }
  validations: [{ expression: "object.metadata.labels.team != 'none'", message: "team none" }]
---
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: { name: judges-too }
spec:
  matchConstraints: { resourceRules: ${rules} }
  validations: [{ expression: "object.metadata.labels.team != 'nobody'", message: "team nobody" }]
`;
writeFileSync(join(folder, "rules.yaml"), DOCUMENTS);
const CONFIG = "p: { resource: rules.yaml, allowedToMutate: true }\nq: { resource: rules.yaml }\n";
const configFile = join(folder, "policies.yaml");
writeFileSync(configFile, CONFIG);

const map = (team: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "m" },
  data: { team },
});
const review = (team: string): Review => ({
  kind: "admission",
  request: {
    uid: "u",
    kind: { group: "", version: "v1", kind: "ConfigMap" },
    resource: { group: "", version: "v1", resource: "configmaps" },
    name: "m",
    namespace: "default",
    operation: "CREATE",
    userInfo: {},
    object: map(team),
  },
  requestBytes: () => new Uint8Array(),
});

describe("an entry that mutates and validates", () => {
  const STEPS = [{ op: "add", path: "/metadata/labels", value: { team: "core" } }];
  const stepsOf = (encoded: string | undefined): unknown =>
    encoded === undefined ? undefined : JSON.parse(Buffer.from(encoded, "base64").toString());

  test("is served so that validation sees the mutated object", async () => {
    const loader = createLoader({
      policyTimeout: 60_000,
      workers: 1,
      downloadDirectory: "/nonexistent",
    });
    try {
      const read = parseConfig(CONFIG, configFile);
      assert.ok(read.ok, JSON.stringify(read));
      const { policies, problems } = await loader.load(read.config);
      assert.deepEqual(
        problems.map((problem) => formatProblem(problem).replace(/^.*(?=policies\.yaml)/, "")),
        [
          "policies.yaml:2:16: warning: q.resource: every request that a MutatingAdmissionPolicy would change is refused: to let it change objects, write allowedToMutate: true",
        ],
      );
      const evaluator = createEvaluator(policies, { policyTimeout: 60_000 });
      const answered = async (id: string, team: string, origin: RequestOrigin = "validate") =>
        (await ask(evaluator, id, review(team), origin)).response;
      const core = await answered("p", "core");
      assert.deepEqual([core.allowed, stepsOf(core.patch)], [true, STEPS]);
      for (const team of ["none", "nobody"]) {
        const { allowed, status } = await answered("p", team);
        assert.equal(allowed, false);
        assert.match(status?.message ?? "", new RegExp(`team ${team}`));
      }
      const forbidden = await answered("q", "core");
      assert.equal(forbidden.allowed, false);
      assert.match(forbidden.status?.message ?? "", /configured to not allow mutations/);
    } finally {
      loader.close();
    }
  });

  test("is evaluated by `eval` in the same way", async () => {
    const answers: { allowed: boolean; patch?: string }[] = [];
    for (const team of ["core", "none"]) {
      const object = join(folder, `${team}.json`);
      writeFileSync(object, JSON.stringify(map(team)));
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const args = ["eval", "p", "--policies", configFile, "--object", object];
      await runCommandLine(args, { env: {}, stdin: Readable.from([]), stdout, stderr });
      stdout.end();
      const { response } = JSON.parse(await text(stdout)) as { response: { allowed: boolean; patch?: string } };
      answers.push(response);
    }
    assert.deepEqual(
      answers.map(({ allowed, patch }) => [allowed, allowed ? stepsOf(patch) : undefined]),
      [
        [true, STEPS],
        [false, undefined],
      ],
    );
  });
});
