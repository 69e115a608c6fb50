import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parseJson } from "../../../src/data/json.js";
import { compileCelModule } from "../../../src/kinds/cel-module/policy.js";
import { compileGroupExpression } from "../../../src/kinds/group/expression.js";
import { createGroupPolicy } from "../../../src/kinds/group/group-policy.js";
import { Doubles } from "../../../src/kinds/shared/doubles.js";
import type { AdmissionRequest, Outcome, Review } from "../../../src/policy/index.js";
import { answerOf } from "../../support/asking.js";
import { CountedTurns } from "../../support/counted-turns.js";

/** Settings and a request, with the module's answers. */
interface Recorded {
  readonly name: string;
  readonly settings: Record<string, unknown>;
  readonly request?: unknown;
  readonly settingsAnswer: { readonly valid?: boolean; readonly error?: string };
  readonly answer: { accepted?: boolean; message?: string; code?: number; error?: string };
}

const file = new URL("../../../../test/vectors/cel-module/cases.jsonl", import.meta.url);
const recorded = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => parseJson(line) as Recorded);

/** Left to the module: libraries that Kubernetes doesn't have. */
const LEFT = new Set(["library-encoders"]);

const options = { id: "p", timeoutMs: 60_000, now: () => performance.now() };
const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

function reviewOf({ name, request }: Recorded): Review {
  const requestBytes = () => new Uint8Array();
  if (name.startsWith("raw-")) return { kind: "raw", payload: request, requestBytes };
  // An absent object, as the wire's reader has it: null counts as absent.
  const known = Object.entries(request as object).filter(([, value]) => value !== null);
  return { kind: "admission", request: Object.fromEntries(known) as unknown as AdmissionRequest, requestBytes };
}

function asOutcome({ accepted, message, code, error }: Recorded["answer"]): Outcome {
  if (error !== undefined) return { verdict: "error", message: error, cause: "expression" };
  if (message?.startsWith("Error deserializing request")) return unreadable(message);
  return accepted ? { verdict: "allow" } : { verdict: "deny", message: message ?? "", code: code ?? 0 };
}

/** The module's words and code, but as a failure: it has no word for one. */
const unreadable = (message: string): Outcome => ({ verdict: "error", message, code: 400, cause: "protocol" });

describe("settings of Kubewarden's CEL module", () => {
  for (const each of recorded) {
    const policy = compileCelModule(each.settings, options);
    if (each.settingsAnswer.valid !== true || LEFT.has(each.name)) {
      test(`${each.name}: is left to the module`, () => assert.equal(policy, undefined));
    } else {
      test(`${each.name}: is answered as by the module`, () => {
        assert.ok(policy !== undefined, "is left to the module");
        assert.deepEqual(answerOf(policy, reviewOf(each), context), asOutcome(each.answer));
      });
    }
  }

  const left: Record<string, Record<string, unknown>> = {
    parameters: { validations: [{ expression: "params.x == 1" }], paramKind: { apiVersion: "v1", kind: "ConfigMap" } },
    "host capabilities": { validations: [{ expression: "kw.net.lookupHost('x') == []" }] },
    "the namespace": { validations: [{ expression: "namespaceObject.metadata.name == 'x'" }] },
    "keys in another letter case": { Validations: [{ expression: "true" }] },
    "functions that came later": {
      validations: [{ expression: "isIP('192.0.2.1') || cidr('192.0.2.0/24').isMasked()" }],
    },
    "names in backticks": { validations: [{ expression: "object.spec.`a-b` == 1" }] },
    "a variable named like a word of the language": {
      variables: [{ name: "in", expression: "1" }],
      validations: [{ expression: "true" }],
    },
    "unknown keys": { validations: [{ expression: "true", later: 1 }] },
    "variables named twice": {
      variables: [
        { name: "a", expression: "1" },
        { name: "a", expression: "2" },
      ],
      validations: [{ expression: "true" }],
    },
  };
  for (const [name, settings] of Object.entries(left)) {
    test(`${name}: left to the module`, () => assert.equal(compileCelModule(settings, options), undefined));
  }

  // Answers of the module to raw requests whose fields are not those of an admission request.
  const read: [Record<string, unknown>, string | undefined][] = [
    [{ uid: 5 }, "number into Go struct field KubernetesAdmissionRequest.uid of type string"],
    [{ uid: null, dryRun: null, userInfo: { groups: [null], extra: 5 }, resource: { resource: 5 } }, undefined],
    [{ UID: true }, "bool into Go struct field KubernetesAdmissionRequest.uid of type string"],
    [{ kind: "x" }, "string into Go struct field KubernetesAdmissionRequest.kind of type protocol.GroupVersionKind"],
    [{ requestKind: { group: 5 } }, "number into Go struct field GroupVersionKind.requestKind.group of type string"],
    [{ userInfo: { groups: "x" } }, "string into Go struct field UserInfo.userInfo.groups of type []string"],
    [{ userInfo: { groups: [1] } }, "number into Go struct field UserInfo.userInfo.groups of type string"],
    [{ dryRun: {} }, "object into Go struct field KubernetesAdmissionRequest.dryRun of type bool"],
  ];
  for (const [fields, mistake] of read) {
    test(`a raw request with ${JSON.stringify(fields)}`, () => {
      const policy = compileCelModule({ validations: [{ expression: "object.a == 1" }] }, options);
      const payload = { OBJECT: { a: 1 }, ...fields };
      const outcome = answerOf(policy, { kind: "raw", payload, requestBytes: () => new Uint8Array() }, context);
      const message = `Error deserializing request: json: cannot unmarshal ${mistake}`;
      assert.deepEqual(outcome, mistake === undefined ? { verdict: "allow" } : unreadable(message));
    });
  }

  test("a request that can't be read is no *no* that a group could turn into an accept", () => {
    const policy = compileCelModule({ validations: [{ expression: "object.banned == true" }] }, options);
    const compiled = compileGroupExpression("!c()", ["c"]);
    assert.ok(policy !== undefined && "program" in compiled);
    const group = createGroupPolicy({
      id: "g",
      program: compiled.program,
      message: "no",
      members: [{ name: "c", policy, timeout: Number.POSITIVE_INFINITY }],
      warnings: "none",
      now: options.now,
    });
    const verdictOf = (payload: unknown) =>
      answerOf(group, { kind: "raw", payload, requestBytes: () => new Uint8Array() }, context).verdict;
    assert.equal(verdictOf({ object: { banned: false } }), "allow");
    assert.equal(verdictOf({ object: { banned: true } }), "deny");
    assert.equal(verdictOf({ object: { banned: true }, uid: 5 }), "error");
  });

  test("an object is read once, in the time of the evaluation", () => {
    let time = 0;
    const object = {
      get list() {
        // Once to look for integers, once to copy.
        time += 30;
        return Array.from({ length: 200 }, (_, i) => i);
      },
    };
    const outcome = (timeoutMs: number) => {
      time = 0;
      const validations = [
        { expression: "object.list == request.object.list && object.list.all(x, object.list.all(y, x + y >= 0.0))" },
      ];
      const policy = compileCelModule({ validations }, { id: "p", timeoutMs, now: () => time });
      return answerOf(policy, { kind: "raw", payload: { object }, requestBytes: () => new Uint8Array() }, context)
        .verdict;
    };
    assert.deepEqual([outcome(100), time], ["allow", 60]);
    assert.equal(outcome(50), "error");
  });

  test("an evaluation ends at its deadline", () => {
    const list = "[0,1,2,3,4,5,6,7,8,9]";
    const expression = `${"abcdefgh".replace(/./g, (name) => `${list}.all(${name}, `)}true${")".repeat(8)}`;
    const policy = compileCelModule({ validations: [{ expression }] }, { ...options, timeoutMs: 50 });
    const outcome = answerOf(policy, reviewOf(recorded[0]!), context);
    assert.deepEqual(outcome, { verdict: "error", message: "the policy did not answer in time", cause: "timeout" });
  });
});

describe("rules that take long", () => {
  test("let others have their turn between them, and end with their deadline", async () => {
    let time = 0;
    const now = (): number => {
      time += 20;
      return time;
    };
    const turns = new CountedTurns();
    const validations = [..."abcd"].map((letter) => ({ expression: `object.a != '${letter}'`, message: letter }));
    const review: Review = { kind: "raw", payload: { object: { a: "d" } }, requestBytes: () => new Uint8Array() };
    const policy = compileCelModule({ validations }, { id: "p", timeoutMs: Number.POSITIVE_INFINITY, now });
    const outcome = await policy?.evaluate(review, { ...context, turns });
    assert.deepEqual([outcome?.verdict, turns.count], ["deny", 3]);
    const hurried = compileCelModule({ validations }, { id: "p", timeoutMs: 50, now });
    assert.deepEqual(await hurried?.evaluate(review, { ...context, turns }), {
      verdict: "error",
      message: "the policy did not answer in time",
      cause: "timeout",
    });
  });

  test("end at their next turn when nobody waits for them any more", async () => {
    let time = 0;
    const now = (): number => {
      time += 20;
      return time;
    };
    const gone = new AbortController();
    const turns = new CountedTurns(() => gone.abort());
    const validations = [..."abcd"].map((letter) => ({ expression: `object.a != '${letter}'`, message: letter }));
    const review: Review = { kind: "raw", payload: { object: { a: "d" } }, requestBytes: () => new Uint8Array() };
    const policy = compileCelModule({ validations }, { id: "p", timeoutMs: Number.POSITIVE_INFINITY, now });
    const outcome = await policy?.evaluate(review, { ...context, signal: gone.signal, turns });
    assert.deepEqual([outcome?.verdict, turns.count], ["error", 1]);
  });

  describe("by themselves", () => {
    const long = "object.list.all(x, object.list == object.other)";
    const list = Array.from({ length: 2_000 }, (_, index) => index);
    const object = { list, other: [...list] };
    const review: Review = { kind: "raw", payload: { object }, requestBytes: () => new Uint8Array() };
    const settings: Readonly<Record<string, object>> = {
      "a rule": { validations: [{ expression: `!(${long})`, message: "no" }] },
      "a variable": {
        variables: [{ name: "v", expression: long }],
        validations: [{ expression: "variables.v" }, { expression: "!variables.v", message: "no" }],
      },
      "a variable, and the rule that asks for it": {
        variables: [{ name: "v", expression: long }],
        validations: [{ expression: `${long} && !variables.v`, message: "no" }],
      },
      "a message": { validations: [{ expression: `!(${long})`, messageExpression: `${long} ? 'no' : ''` }] },
    };
    for (const [name, written] of Object.entries(settings)) {
      test(`come to their result in steps: ${name}`, async () => {
        let time = 0;
        const now = (): number => {
          time += 1;
          return time;
        };
        const options = { id: "p", timeoutMs: Number.POSITIVE_INFINITY, now };
        const policy = compileCelModule(written as Readonly<Record<string, unknown>>, options);
        const turns = new CountedTurns();
        const outcome = await policy?.evaluate(review, { ...context, turns });
        assert.deepEqual(outcome, { verdict: "deny", message: "no", code: 400 });
        assert.ok(turns.count > 5, `${turns.count} turns`);
        // Where nobody else has a turn nothing can be left off.
        const stopped = await policy?.evaluate(review, context);
        assert.match(stopped?.verdict === "error" ? stopped.message : "", /was stopped: it took longer/);
      });
    }
  });

  describe("on an object of which many doubles are made", () => {
    const object = { list: Array.from({ length: 1_000 }, (_, index) => index) };
    const review: Review = { kind: "raw", payload: { object }, requestBytes: () => new Uint8Array() };
    const validations = [{ expression: "object.list[3] == 4.0", message: "four" }];

    /** What a rule makes of it where making a part of the doubles takes 6 ms, and how many turns were taken. */
    async function outcomeWithin(timeoutMs: number, signal = context.signal) {
      let time = 0;
      const now = (): number => {
        time += 6;
        return time;
      };
      const turns = new CountedTurns();
      const policy = compileCelModule({ validations }, { id: "p", timeoutMs, now, doubles: new Doubles(now) });
      return { outcome: await policy?.evaluate(review, { ...context, signal, turns }), taken: turns.count };
    }

    test("let others have their turn while these are made", async () => {
      const { outcome, taken } = await outcomeWithin(Number.POSITIVE_INFINITY);
      assert.deepEqual(outcome, { verdict: "deny", message: "four", code: 400 });
      assert.ok(taken >= 3, `${taken}`);
    });

    test("end with their deadline, which counts that, and with their client", async () => {
      const late = { verdict: "error", message: "the policy did not answer in time", cause: "timeout" };
      assert.deepEqual((await outcomeWithin(40)).outcome, late);
      const gone = await outcomeWithin(Number.POSITIVE_INFINITY, AbortSignal.abort());
      assert.deepEqual(gone, { outcome: late, taken: 1 });
    });
  });
});
