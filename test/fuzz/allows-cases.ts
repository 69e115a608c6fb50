/** One question to a group whose members fail, and its answer. */
import type { AdmissionRequest } from "../../src/admission/admission-request.js";
import { admissionQuestion, rawQuestion } from "../../src/admission/decode.js";
import type { Program } from "../../src/cel/index.js";
import { compileGroupExpression } from "../../src/kinds/group/expression.js";
import { createGroupPolicy } from "../../src/kinds/group/group-policy.js";
import type { Policy, PolicyMode, Review } from "../../src/policy/index.js";
import { createEvaluator } from "../../src/policy/served/evaluator.js";
import { createPolicySet, type ServedPolicy } from "../../src/policy/served/policy-set.js";
import type { RequestOrigin, Verdict } from "../../src/policy/served/verdict.js";
import {
  type Clock,
  GROUP_TIMEOUT_MS,
  MEMBER_TIMEOUT_MS,
  policyOf,
  subjectOf,
  together,
  type Way,
  waysToFail,
} from "./allows-members.js";
import { hash } from "./random.js";

/** Where a run takes place. */
export interface Surroundings {
  readonly ways: readonly Way[];
  /** The clock of one case. */
  readonly clock: () => Clock;
  /** Milliseconds that a member may take. */
  readonly memberTimeout: number;
  readonly groupTimeout: number;
  /** Cases that are under way together: those that wait for a time-out would hold up the others. */
  readonly together: number;
}

/** Members in this process, whose time goes only when they say so. */
export const IN_PROCESS = (): Surroundings => ({
  ...{ ways: waysToFail(), clock: () => ({ at: 0 }), memberTimeout: MEMBER_TIMEOUT_MS, groupTimeout: GROUP_TIMEOUT_MS },
  together: 4_000,
});

/** The names that expressions call. */
export const MEMBERS = ["m0", "m1", "m2"];

const OBJECT = {
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "default" } },
  ...{ items: ["a", "b"], part: { kind: "Part", apiVersion: "v1" }, flag: true },
};

/** Requests of every operation, with what they bring and what they lack. */
export const REVIEWS: readonly { readonly name: string; readonly review: Review }[] = [
  ...(["CREATE", "UPDATE", "DELETE", "CONNECT"] as const).flatMap((operation) =>
    [OBJECT, { items: [] }, null, undefined].flatMap((object) =>
      [OBJECT, null].map((oldObject) => ({
        name: `${operation} object ${JSON.stringify(object)} oldObject ${JSON.stringify(oldObject)}`,
        review: admissionQuestion(requestOf(operation, object, oldObject)),
      })),
    ),
  ),
  ...[OBJECT, null, [], true, "text", { items: [1] }].map((payload) => ({
    name: `raw ${JSON.stringify(payload)}`,
    review: rawQuestion(payload),
  })),
];

function requestOf(operation: string, object: unknown, oldObject: unknown): AdmissionRequest {
  return {
    ...{ uid: "u", operation, namespace: "default", userInfo: { username: "alice" } },
    ...{ kind: { group: "", version: "v1", kind: "Pod" }, resource: { group: "", version: "v1", resource: "pods" } },
    ...(object !== undefined && { object }),
    ...(oldObject !== null && { oldObject }),
  };
}

/** One policy at the bottom of a group, that decides or fails. */
export interface Leaf {
  readonly way: Way | undefined;
  readonly says: boolean;
  readonly waits: boolean;
  /** What one decides that does not fail. */
  readonly decides: "allow" | "deny" | "skip" | "by value";
}

/** What one member is made of. */
export interface Member {
  readonly leaves: readonly Leaf[];
  /** The expression of the group that the leaves are members of; one of several leaves without one is made of policies that are asked together. */
  readonly inner: Compiled | undefined;
}

/** An expression of a group. */
export interface Compiled {
  readonly text: string;
  readonly form: string;
  readonly program: Program;
}

/** A question to a group. */
export interface Case {
  readonly around: Surroundings;
  readonly compiled: Compiled;
  readonly members: readonly Member[];
  readonly asked: (typeof REVIEWS)[number];
  readonly mode: PolicyMode;
  readonly audit: boolean;
  readonly abandoned: boolean;
  readonly seed: number;
}

/** In the place of the failing leaf of a number: what it answers to a question. */
export type Substitute = (leaf: number, review: Review) => boolean;

/** What a group answers: with its failures, or with something in their place. */
export function answer(one: Case, substitute: Substitute | undefined): Verdict | Promise<Verdict> {
  const { memberTimeout, groupTimeout, clock: newClock } = one.around;
  const clock = newClock();
  let failing = 0;
  const policies = one.members.map((member, index) => {
    const leaves = member.leaves.map((leaf, number) => {
      const id = `m${index}/${number}`;
      if (leaf.way === undefined) return policyOf(id, decider(one, id, leaf.decides), leaf.waits);
      const nth = failing++;
      if (substitute === undefined) return policyOf(id, leaf.way.evaluate({ clock, says: leaf.says }), leaf.waits);
      return policyOf(
        id,
        (review) => (substitute(nth, review) ? { verdict: "allow" } : { verdict: "deny" }),
        leaf.waits,
      );
    });
    const [only] = leaves;
    if (leaves.length === 1 && only !== undefined) return only;
    return member.inner === undefined ? together(leaves, clock) : groupOf(member.inner, leaves, clock, memberTimeout);
  });
  const entry: ServedPolicy = {
    ...{
      id: "g",
      policy: groupOf(one.compiled, policies, clock, memberTimeout),
      mode: one.mode,
      allowedToMutate: false,
    },
    timeout: groupTimeout,
  };
  const evaluator = createEvaluator(NOTHING_SERVED, { policyTimeout: groupTimeout, now: () => clock.at });
  const { review } = one.asked;
  const whenGone = (abandon: () => void): void => queueMicrotask(abandon);
  return evaluator.evaluate(entry, {
    review,
    origin: originOf(one),
    ...(one.abandoned && substitute === undefined && { whenGone }),
  });
}

/** Evaluators are given what they evaluate. */
const NOTHING_SERVED = createPolicySet([]);

const originOf = ({ audit, asked }: Case): RequestOrigin =>
  audit ? "audit" : asked.review.kind === "raw" ? "validate_raw" : "validate";

function groupOf({ program }: Compiled, policies: readonly Policy[], clock: Clock, timeout: number): Policy {
  return createGroupPolicy({
    ...{ id: "g", program, message: "no", warnings: "none", now: () => clock.at },
    members: policies.map((policy, index) => ({ name: MEMBERS[index] ?? "", policy, timeout })),
  });
}

/** Decides the same of the same value. */
function decider({ seed }: Case, id: string, decides: Leaf["decides"]): Policy["evaluate"] {
  if (decides === "skip") return () => ({ verdict: "skip", reason: "no rule matches" });
  if (decides !== "by value") return () => ({ verdict: decides });
  return (review) => ({ verdict: hash(`${seed} ${id} ${subjectOf(review)}`) % 2 === 0 ? "allow" : "deny" });
}

/** What fails in a case. */
export const failuresOf = ({ members }: Case): readonly Way[] =>
  members.flatMap(({ leaves }) => leaves.flatMap(({ way }) => (way === undefined ? [] : [way])));

/** A case for people. */
export function told({ compiled: { text }, members, asked, mode, audit, abandoned }: Case): string {
  const parts = members.map(({ leaves, inner }, index) => {
    const each = leaves.map(
      ({ way, says, waits, decides }) =>
        `${way === undefined ? decides : `${way.name} (${says})`}${waits ? ", waiting" : ""}`,
    );
    return `  m${index}: ${inner === undefined ? "" : `${inner.text} of `}${each.join("; ")}`;
  });
  return `${text}\n${parts.join("\n")}\n  ${asked.name}, ${mode}${audit ? ", audit" : ""}${abandoned ? ", abandoned" : ""}`;
}

/** The expression with its program; undefined where it does not compile. */
export function programOf(text: string, form = text): Compiled | undefined {
  const result = compileGroupExpression(text, MEMBERS);
  return "program" in result ? { text, form, program: result.program } : undefined;
}
