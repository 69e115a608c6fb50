import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEWEST_VERSION } from "../../../src/cel/index.js";
import { createServer } from "../../../src/kinds/admission-policy/server.js";
import { createExpressionCompiler } from "../../../src/kinds/validating-admission-policy/index.js";
import { isObject, type JsonObject } from "../../../src/kubernetes/object.js";
import { decideCase } from "../../../src/offline/cases/validating-admission-policy/case.js";
import { validateCase } from "../../../src/offline/cases/validating-admission-policy/static-case.js";
import type { AdmissionQuestion } from "../../../src/policy/review.js";
import type { AuthorizerAttributes } from "../../../src/world/authorizer/authorizer.js";
import { answerOf } from "../../support/asking.js";
import { readVectors } from "../../support/vap-vectors.js";
import { asked as askedOf, inline, prepare } from "./prepared.js";
import { deployment, validations } from "./tricky.js";

/** Values that stand where others are expected. */
const JUNK: readonly unknown[] = [
  null,
  0,
  -1,
  1.5,
  "",
  "x",
  [],
  {},
  [null],
  { a: 1 },
  true,
  "*",
  ["*"],
  "é\u0000",
  [[]],
  JSON.parse('{"__proto__":1}'),
];

/** The same numbers every time. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

/** A copy with something in it replaced or left out. */
function mutated(value: unknown, next: (below: number) => number): unknown {
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (keys.length === 0 || next(12) === 0) return next(3) === 0 ? JUNK[next(JUNK.length)] : value;
  const key = keys[next(keys.length)] ?? "";
  const remove = next(10) === 0;
  if (Array.isArray(value)) {
    return remove ? value.toSpliced(Number(key), 1) : value.with(Number(key), mutated(value[Number(key)], next));
  }
  const { [key]: changed, ...rest } = value as JsonObject;
  return remove ? rest : { ...rest, [key]: mutated(changed, next) };
}

const compiler = createExpressionCompiler();
const server = createServer(NEWEST_VERSION, () => compiler);
const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

describe("documents that hold anything anywhere", () => {
  test("are decided, validated or refused, and nothing throws", () => {
    const next = random(20_261_121);
    for (const [name, answer] of [
      ["curated.jsonl", (written: JsonObject) => decideCase(written, compiler)],
      ["static.jsonl", (written: JsonObject) => validateCase(written, server)],
    ] as const) {
      for (const { written } of readVectors(name)) {
        for (let i = 0; i < 3; i++) {
          const changed = mutated(mutated(written, next), next);
          if (isObject(changed)) assert.equal(typeof answer(changed), "object");
        }
      }
    }
  });

  test("are loaded or refused, and answer every review", () => {
    const next = random(7);
    for (const { written } of readVectors("curated.jsonl")) {
      const documents = ["policies", "bindings", "params", "namespaces"].flatMap((key) =>
        Array.isArray(written[key]) ? (written[key] as unknown[]) : [],
      );
      const prepared = prepare(documents.map((document) => (next(3) === 0 ? mutated(document, next) : document)));
      const request = written.request as JsonObject;
      const review: AdmissionQuestion = {
        kind: "admission",
        request: { ...request, object: mutated(request.object, next) } as unknown as AdmissionQuestion["request"],
        requestBytes: () => new Uint8Array(),
      };
      const together = askedOf(prepared);
      for (const asked of [
        review,
        { ...review, targeted: true },
        { kind: "raw" as const, payload: 1, requestBytes: () => new Uint8Array() },
      ]) {
        assert.match(answerOf(together, asked, context)?.verdict ?? "", /^(?:allow|deny|skip|error)$/);
      }
    }
  });
});

describe("a selector of a check that is made of the request", () => {
  const asked: string[] = [];
  const authorizer = {
    authorize: ({ labelSelector, fieldSelector }: AuthorizerAttributes) => {
      asked.push(labelSelector || fieldSelector);
      return { decision: "noOpinion", reason: "" } as const;
    },
  };
  const verdictOf = (kind: string, selector: string) => {
    const check = `authorizer.group('').resource('pods').${kind}(object.data.x).check('list')`;
    const request = deployment({ object: { data: { x: selector } } });
    const review = { kind: "admission", request, requestBytes: () => new Uint8Array() } as unknown as AdmissionQuestion;
    return answerOf(inline(validations(`!${check}.allowed()`), { authorizer }), review, context);
  };

  test("is asked about as long as anybody's is, and longer is an error of the request, for which nothing is parsed", () => {
    for (const [kind, term] of [
      ["labelSelector", "k in (a,b),"],
      ["fieldSelector", "k=a,"],
    ] as const) {
      asked.length = 0;
      assert.equal(verdictOf(kind, `${term.repeat(100)}z=1`).verdict, "allow");
      assert.equal(asked.length, 1);
      assert.match(asked[0] ?? "", /z=1/);
      const began = process.cpuUsage();
      const outcome = verdictOf(kind, `${term.repeat(500_000)}z=1`);
      // Parsing it takes seconds.
      assert.ok(process.cpuUsage(began).user < 1_000_000);
      assert.equal(outcome.verdict, "error");
      assert.match(outcome.message, /selector of more than 8192 characters$/);
      assert.equal(asked.length, 1);
    }
  });
});
