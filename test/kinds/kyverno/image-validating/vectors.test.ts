/** The cases of test/vectors/image-validating: our answers are Kyverno's, or those that are right where Kyverno's are not. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { type Case, end, own, type RequestAnswer, type Result, readCases } from "./vectors.js";

/** Why an answer is not Kyverno's: the README of the vectors explains them. */
const REASONS = ["hangs", "refused", "unasked", "unverified", "weaker"];
/** Words of clients of registries, which are of the library that is used. */
const OF_REGISTRIES = /GET http|Get "http|could not parse reference/;

/** What is not yet as it should be here. A line goes when its case passes. */
const TO_DO: Readonly<Record<string, string>> = {
  "variable/count, null for an attestor": "words",
  "variable/count, nested lists": "words",
  "pin/condition fails": "words",
};
const toDo = (id: string): string | undefined => TO_DO[id];

/** Other cases, made by chance (scripts/image-verdicts). */
const { IMAGE_CASES } = process.env;
const cases = readCases(IMAGE_CASES);
after(end);

/** Log-ins are the business of test/fetch. */
const isPlayed = ({ id }: Case): boolean => !id.startsWith("registry/credentials/");

/** An answer without the words of registries. */
function comparable({ results, pinned, ...answer }: RequestAnswer): object {
  const said = (text = "") => (OF_REGISTRIES.test(text) ? "a registry's" : text);
  const each = (list: readonly Result[] | null | undefined) =>
    (list ?? []).map((result) => ({
      ...result,
      message: result.status === "error" ? said(result.message) : result.message,
    }));
  return {
    ...answer,
    message: said(answer.message),
    results: each(results),
    pinned: each(pinned?.filter(({ status }) => status === "error")),
  };
}

/** Ours, with Kyverno's words where both are about a registry. */
function withWordsOf(theirs: RequestAnswer, ours: RequestAnswer): RequestAnswer {
  const words = (wanted: readonly Result[] | null | undefined, found: readonly Result[] | null | undefined) =>
    (found ?? []).map((result, i) => {
      const message = wanted?.[i]?.status === "error" ? (wanted[i]?.message ?? "") : "";
      return result.status === "error" && OF_REGISTRIES.test(message) ? { ...result, message } : result;
    });
  const message = OF_REGISTRIES.test(theirs.message ?? "") ? theirs.message : ours.message;
  const warnings = theirs.warnings?.some((one) => OF_REGISTRIES.test(one)) ? theirs.warnings : ours.warnings;
  return {
    ...ours,
    ...(message !== undefined && { message }),
    ...(warnings && { warnings }),
    results: words(theirs.results, ours.results),
    pinned: words(theirs.pinned, ours.pinned),
  };
}

const statusOf = ({ results }: RequestAnswer): { status: string; message?: string } => ({
  status: results?.[0]?.status ?? "none",
  ...(results?.[0] && { message: results[0].message }),
});

/** Kyverno's answers; those to payloads have no verdict. */
const theirs = ({ kyverno: { requests = [], payload } }: Case): readonly RequestAnswer[] =>
  payload === undefined ? requests : [{ results: payload, allowed: true }];

const isRefusedThere = ({ kyverno: { checks = [] } }: Case): boolean =>
  checks.some(({ errors = [] }) => errors.length > 0);

/** Fails where our answer to a case is neither Kyverno's nor the right one. */
async function judge(one: Case): Promise<void> {
  const ours = await own(one);
  if ("refused" in ours) {
    // What does not compile is refused when it is loaded: Kyverno says it when the policy is created.
    assert.ok(one.refused === true || isRefusedThere(one), ours.refused);
    return;
  }
  assert.ok(one.refused !== true && !isRefusedThere(one), "it is not refused");
  const wanted = theirs(one);
  if (one.right === undefined) assert.equal(ours.answers.length, wanted.length, one.kyverno.failed);
  for (const [i, answer] of ours.answers.entries()) {
    const right = one.right?.[i];
    const kyverno = wanted[i];
    if (right) {
      const { status, message } = statusOf(answer);
      assert.deepEqual({ status, ...(right.message !== undefined && { message }) }, right, `answer ${i}`);
      // Where Kyverno says the same, it is no difference.
      assert.notDeepEqual(kyverno && statusOf(kyverno), { status, message }, `Kyverno's answer ${i} is right`);
      continue;
    }
    assert.ok(kyverno !== undefined, one.kyverno.failed);
    const found = comparable(withWordsOf(kyverno, answer));
    // A payload has no answer of a webhook.
    const asked = one.payload === undefined ? found : { ...found, allowed: true, message: "" };
    assert.deepEqual(asked, comparable(kyverno), `answer ${i}`);
  }
}

describe("what Kyverno says of ImageValidatingPolicies", () => {
  for (const one of cases.filter(isPlayed)) {
    test(`${one.id}${one.differs === undefined ? "" : `: differs, ${one.differs}`}`, async () => {
      const open = toDo(one.id);
      if (open === undefined) return judge(one);
      await assert.rejects(judge(one), `its line may go: ${open}`);
    });
  }

  const written = { skip: IMAGE_CASES !== undefined };
  test("there are as many cases as there should be, of all sorts", written, () => {
    assert.ok(cases.length >= 870, String(cases.length));
    const given = cases.flatMap(({ differs }) => differs?.split(", ") ?? []);
    assert.deepEqual([...new Set(given)].sort(), REASONS);
    assert.ok(given.length < 140, String(given.length));
  });

  test("cosign says the same of signatures, where Kyverno's answer is right", written, () => {
    let asked = 0;
    for (const { id, right, cosignVerdicts = [], refused, ...one } of cases.filter(
      ({ cosign }) => cosign !== undefined,
    ))
      for (const [i, { pass, error }] of cosignVerdicts.entries()) {
        if (right?.[i] || refused === true) continue;
        asked++;
        assert.equal(one.kyverno.requests?.[i]?.results?.[0]?.status === "pass", pass, `${id} ${i}: ${error}`);
      }
    assert.ok(asked > 1200, String(asked));
  });
});
