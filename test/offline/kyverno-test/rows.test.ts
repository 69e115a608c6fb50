import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Answer, Answers, Evaluated } from "../../../src/offline/kyverno-test/answers.js";
import { compare } from "../../../src/offline/kyverno-test/rows.js";
import type { ExpectedResult } from "../../../src/offline/kyverno-test/test-file.js";

const answer = (policy: string, result?: string, message = "success", rule = ""): Answer => ({
  policy,
  result: result === undefined ? undefined : { result, message, rule },
});
const pod = (name: string, answers: readonly Answer[], namespace = "default"): Evaluated => ({
  subject: { apiVersion: "v1", kind: "Pod", namespace, name },
  answers,
});
const GOOD = pod("good", [answer("need-owner", "pass")], "team-a");
const BAD = pod("bad", [answer("need-owner", "fail", "set an owner")]);
const OTHER = pod("other", [answer("need-owner")]);

const answers = (usual: readonly Evaluated[], more: Partial<Answers> = {}): Answers => ({
  usual,
  byOperation: new Map(),
  notServed: new Map(),
  patched: new Map(),
  ...more,
});

/** Rows as `resource result reason counts`. */
function rowsOf(results: readonly ExpectedResult[], given: Answers, wanted?: (name: string) => boolean): string[] {
  return compare(results, given, wanted).rows.map(({ resource, result, reason, counts }) =>
    [resource, result, reason, counts].join(" "),
  );
}

describe("a row", () => {
  test("tells what was wanted and what came", () => {
    const results = [
      { policy: "need-owner", result: "pass", resources: ["team-a/good", "bad"] },
      { policy: "any/need-owner", result: "fail", resources: ["bad"] },
    ];
    const { rows } = compare(results, answers([GOOD, BAD]));
    assert.deepEqual(rows, [
      {
        id: 1,
        policy: "need-owner",
        rule: "",
        resource: "v1/Pod/team-a/good",
        result: "Pass",
        reason: "Ok",
        message: "success",
        counts: "pass",
        expected: 0,
      },
      {
        id: 2,
        policy: "need-owner",
        rule: "",
        resource: "v1/Pod/default/bad",
        result: "Fail",
        reason: "Want pass, got fail",
        message: "set an owner",
        counts: "fail",
        expected: 0,
      },
      {
        id: 3,
        policy: "any/need-owner",
        rule: "",
        resource: "v1/Pod/default/bad",
        result: "Pass",
        reason: "Ok",
        message: "set an owner",
        counts: "pass",
        expected: 1,
      },
    ]);
  });

  test("of an expected skip counts as one", () => {
    const skipped = pod("x", [answer("p", "skip", "skip")]);
    assert.deepEqual(rowsOf([{ policy: "p", result: "skip", resources: ["x"] }], answers([skipped])), [
      "v1/Pod/default/x Pass Ok skip",
    ]);
  });

  test("passes as excluded whatever was wanted, and only where no variant has a result", () => {
    const results = [{ policy: "need-owner", result: "fail", rule: "r", resources: ["other"] }];
    const { rows } = compare(results, answers([OTHER]));
    assert.deepEqual(rows, [
      {
        id: 1,
        policy: "need-owner",
        rule: "r",
        resource: "v1/Pod/default/other",
        result: "Pass",
        reason: "Excluded",
        message: "Excluded",
        counts: "skip",
        unjudged: "fail",
        expected: 0,
      },
    ]);
    const both = pod("other", [answer("need-owner"), answer("need-owner", "fail"), answer("need-owner")]);
    assert.deepEqual(rowsOf(results, answers([both])), ["v1/Pod/default/other Pass Ok pass"]);
  });

  test("fails as not found where the policy has nothing to say, or is not there", () => {
    assert.deepEqual(rowsOf([{ policy: "p", result: "skip", resources: ["other"] }], answers([OTHER])), [
      "v1/Pod/default/other Fail Not found fail",
    ]);
  });

  test("of a policy that is not evaluated fails, beside a namesake that is", () => {
    const notServed = new Map([["need-owner", "a ClusterPolicy is not evaluated here"]]);
    const { rows } = compare([{ policy: "need-owner", result: "pass", rule: "r" }], answers([GOOD], { notServed }));
    assert.deepEqual(
      rows.map(({ rule, result, reason, message, counts }) => [rule, result, reason, message, counts].join("|")),
      ["|Pass|Ok|success|pass", "r|Fail|Not served|a ClusterPolicy is not evaluated here|fail"],
    );
  });

  test("comes for every result of a policy that has several", () => {
    const twice = pod("x", [answer("p", "pass"), answer("p", "error", "error: no")]);
    assert.deepEqual(rowsOf([{ policy: "p", result: "pass", resources: ["x"] }], answers([twice])), [
      "v1/Pod/default/x Pass Ok pass",
      "v1/Pod/default/x Fail Want pass, got error fail",
    ]);
  });
});

describe("an expected result", () => {
  test("without resources is about all of them", () => {
    assert.equal(rowsOf([{ policy: "need-owner", result: "pass" }], answers([GOOD, BAD, OTHER])).length, 3);
  });

  test("whose resources do not exist is about all of them, with a warning", () => {
    const { rows, mistakes } = compare(
      [{ policy: "need-owner", result: "pass", resources: ["typo"] }],
      answers([GOOD, BAD]),
    );
    assert.equal(rows.length, 2);
    assert.deepEqual(mistakes, [
      "results[0]: there is no resource typo",
      "results[0]: checked for all resources, because none of those named exists",
    ]);
  });

  test("is about those of its resources that exist", () => {
    const results = [{ policy: "need-owner", result: "pass", resources: ["team-a/good", "a/b/c", "team-b/good"] }];
    const { rows, mistakes } = compare(results, answers([GOOD, BAD]));
    assert.equal(rows.length, 1);
    assert.deepEqual(mistakes, [
      "results[0]: there is no resource a/b/c",
      "results[0]: there is no resource team-b/good",
    ]);
  });

  test("may tell resources apart by version and namespace, beside names only", () => {
    const resourceSpecs = [{ version: "v1", namespace: "team-a", name: "good" }];
    const both = answers([GOOD, BAD]);
    assert.equal(
      rowsOf([{ policy: "need-owner", result: "pass", resources: ["typo"], resourceSpecs }], both).length,
      1,
    );
    assert.equal(rowsOf([{ policy: "need-owner", result: "pass", resourceSpecs }], both).length, 2);
    const grouped = [{ group: "apps", version: "v1", namespace: "team-a", name: "good" }];
    const all = rowsOf([{ policy: "need-owner", result: "pass", resources: ["x"], resourceSpecs: grouped }], both);
    assert.equal(all.length, 2);
  });

  test("with an operation is checked against the run with that operation", () => {
    const byOperation = new Map([["DELETE", [pod("bad", [answer("need-owner", "pass")])]]]);
    const results = [
      { policy: "need-owner", result: "pass", operation: "DELETE", resources: ["bad"] },
      { policy: "need-owner", result: "fail", resources: ["bad"] },
    ];
    assert.deepEqual(rowsOf(results, answers([BAD], { byOperation })), [
      "v1/Pod/default/bad Pass Ok pass",
      "v1/Pod/default/bad Pass Ok pass",
    ]);
  });

  test("names payloads by their paths; one with a folder is nobody's name", () => {
    const flat: Evaluated = { subject: { name: "plan.json" }, answers: [answer("p", "pass")] };
    const deep: Evaluated = { subject: { name: "plans/plan.json" }, answers: [answer("p", "pass")] };
    assert.deepEqual(rowsOf([{ policy: "p", result: "pass", resources: ["plan.json"] }], answers([flat, deep])), [
      "/plan.json Pass Ok pass",
    ]);
    const named = [{ policy: "p", result: "pass", resources: ["plans/plan.json"] }];
    assert.deepEqual(rowsOf(named, answers([flat, deep])), ["/plan.json Pass Ok pass", "plans/plan.json Pass Ok pass"]);
  });

  test("without anything to check says so", () => {
    const { rows, mistakes } = compare([{ policy: "p", result: "pass" }], answers([]));
    assert.deepEqual(rows, []);
    assert.deepEqual(mistakes, ["results[0]: nothing was checked, because there is no resource"]);
  });

  test("that names nothing follows the selector", () => {
    const wanted = (name: string) => name === "bad";
    assert.deepEqual(rowsOf([{ policy: "need-owner", result: "fail" }], answers([GOOD, BAD]), wanted), [
      "v1/Pod/default/bad Pass Ok pass",
    ]);
  });
});
