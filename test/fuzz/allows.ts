import { CLIENT_GONE } from "../../src/policy/evaluate-in-time.js";
import type { Verdict } from "../../src/policy/served/verdict.js";
import {
  answer,
  type Case,
  type Compiled,
  failuresOf,
  IN_PROCESS,
  type Leaf,
  MEMBERS,
  type Member,
  programOf,
  REVIEWS,
  type Substitute,
  type Surroundings,
  told,
} from "./allows-cases.js";
import { BOOL_FORMS, expression } from "./allows-expressions.js";
import { subjectOf } from "./allows-members.js";
import { hash, pick, type Random, random } from "./random.js";

/** What a run found. */
export interface Findings {
  /** Questions to groups in which something failed. */
  readonly cases: number;
  /** Those in which the failures mattered, of those where that was looked at. */
  readonly decisive: number;
  /** Those that were allowed although something failed. */
  readonly allowed: number;
  /** How often each way to fail mattered. */
  readonly ways: ReadonlyMap<string, number>;
  /** How often each form stood at the root of an expression in which a failure mattered. */
  readonly forms: ReadonlyMap<string, number>;
  /** The first cases that break the property, for people; none when all is well. */
  readonly faults: readonly string[];
}

/** When a run ends: at whichever is reached first. */
export interface Bounds {
  readonly seconds: number;
  readonly cases?: number;
}

/** Enough to see what they have in common. */
const MOST_FAULTS = 5;
/** Questions to each expression: compiling one takes as long as a hundred of them. */
const CASES_PER_EXPRESSION = 200;
/** One in so many of the cases that were denied is asked again with verdicts in the place of the failures, which takes several times as long. */
const SAMPLED = 16;
/** More would make more combinations than cases. */
const MOST_FAILURES = 3;

/**
 * Looks for allows that must not be.
 * @param bounds seconds of wall clock, and cases
 * @param seed the same seed makes the same cases
 * @param around where; default fakes in this process
 */
export async function run(bounds: Bounds, seed: number, around = IN_PROCESS()): Promise<Findings> {
  const next = random(seed);
  const found = {
    cases: 0,
    decisive: 0,
    allowed: 0,
    ways: new Map<string, number>(),
    forms: new Map<string, number>(),
  };
  const faults: string[] = [];
  const inner = Array.from({ length: 20 }, () => compiled(next));
  const end = performance.now() + bounds.seconds * 1_000;
  const most = bounds.cases ?? Number.POSITIVE_INFINITY;
  let root = next(BOOL_FORMS.length);
  while (performance.now() < end && found.cases < most && faults.length < MOST_FAULTS) {
    const batch: (Promise<void> | undefined)[] = [];
    while (batch.length < around.together) {
      const program = compiled(next, root++);
      for (let i = 0; i < Math.min(CASES_PER_EXPRESSION, around.together); i++) {
        const one = caseOf(next, program, inner, around);
        if (failuresOf(one).length === 0) continue;
        batch.push(
          look(one, (failed) => {
            found.cases += 1;
            if (failed.allowed) found.allowed += 1;
            if (failed.decisive) {
              found.decisive += 1;
              count(found.forms, program.form);
              for (const way of failuresOf(one)) count(found.ways, way.name);
            }
            if (failed.fault !== undefined)
              faults.push(`case ${found.cases} of seed ${seed}: ${failed.fault}: ${told(one)}`);
          }),
        );
      }
    }
    await Promise.all(batch);
  }
  return { ...found, faults };
}

/**
 * Asks each way to fail alone, plainly and negated, in every request: neither may allow.
 * @returns the cases that were allowed, for people, and how many there were
 */
export async function eachWayAlone(
  around = IN_PROCESS(),
): Promise<{ readonly cases: number; readonly faults: readonly string[] }> {
  const faults: string[] = [];
  const pending: Promise<void>[] = [];
  let cases = 0;
  for (const text of ["m0()", "!m0()", "!m0(null)", "!m0(object)", "m0() == m0(object)", "m0() != m0(null)"]) {
    const compiled = programOf(text);
    if (compiled === undefined) throw new Error(`${text} does not compile`);
    for (const way of around.ways) {
      for (const asked of REVIEWS) {
        const says = cases++ % 2 === 0;
        const leaf: Leaf = { way, says, waits: cases % 3 === 0, decides: "allow" };
        const member: Member = { leaves: [leaf], inner: undefined };
        const one: Case = {
          ...{
            around,
            compiled,
            members: [member, member, member],
            asked,
            audit: false,
            abandoned: false,
            seed: cases,
          },
          mode: "protect",
        };
        const note = (verdict: Verdict): void => {
          if (verdict.response.allowed) faults.push(told(one));
        };
        const verdict = answer(one, undefined);
        if (verdict instanceof Promise) pending.push(verdict.then(note));
        else note(verdict);
      }
    }
  }
  await Promise.all(pending);
  return { cases, faults };
}

const count = (counts: Map<string, number>, key: string): unknown => counts.set(key, (counts.get(key) ?? 0) + 1);

function compiled(next: Random, root?: number): Compiled {
  for (let tries = 0; ; tries++) {
    // A form that is no bool, or none that the checker takes with these parts, is tried with others.
    const first = root === undefined ? next(BOOL_FORMS.length) : root + Math.floor(tries / 50);
    const made = programOf(expression(next, MEMBERS, first), BOOL_FORMS[first % BOOL_FORMS.length]);
    if (made !== undefined) return made;
  }
}

function caseOf(next: Random, program: Compiled, inner: readonly Compiled[], around: Surroundings): Case {
  let failures = 1 + next(MOST_FAILURES);
  const leaf = (): Leaf => {
    const fails = failures > 0 && next(2) === 0;
    if (fails) failures -= 1;
    return {
      way: fails ? pick(next, around.ways) : undefined,
      says: next(2) === 0,
      waits: next(8) === 0,
      decides: pick(next, ["allow", "deny", "allow", "deny", "skip", "by value"]),
    };
  };
  const members = MEMBERS.map((): Member => {
    const kind = next(16);
    if (kind > 1) return { leaves: [leaf()], inner: undefined };
    return { leaves: MEMBERS.map(leaf), inner: kind === 0 ? pick(next, inner) : undefined };
  });
  return {
    ...{
      around,
      compiled: program,
      members,
      asked: pick(next, REVIEWS),
      audit: next(8) === 0,
      abandoned: next(64) === 0,
    },
    ...{ mode: next(4) === 0 ? "monitor" : "protect", seed: next(2 ** 31) },
  };
}

interface Look {
  readonly allowed: boolean;
  /** Whether the failures mattered; undefined where that was not looked at. */
  readonly decisive: boolean | undefined;
  readonly fault: string | undefined;
}

/** Asks a case with its failures. Calls back now, or before the promise is settled. */
function look(one: Case, done: (look: Look) => void): Promise<void> | undefined {
  const failed = answer(one, undefined);
  if (failed instanceof Promise) return failed.then((verdict) => compare(one, verdict, done));
  return compare(one, failed, done);
}

/** What was denied is as it should be, whatever verdicts in the place of the failures lead to: they are looked at now and then. */
function compare(one: Case, verdict: Verdict, done: (look: Look) => void): Promise<void> | undefined {
  const { allowed } = verdict.vanilla;
  const fault = misreported(one, verdict);
  if (!allowed && one.seed % SAMPLED !== 0) {
    done({ allowed, decisive: undefined, fault });
    return undefined;
  }
  const conclude = (others: readonly Verdict[]): void => {
    const denied = others.some(({ vanilla }) => !vanilla.allowed);
    const decisive = denied && others.some(({ vanilla }) => vanilla.allowed);
    done({ allowed, decisive, fault: allowed && denied ? "allowed" : fault });
  };
  const others = substitutes(one).map((substitute) => answer(one, substitute));
  if (others.some((other) => other instanceof Promise)) return Promise.all(others).then(conclude);
  conclude(others as Verdict[]);
  return undefined;
}

/** Verdicts for all questions to a failing policy alike, in every combination, and some that differ from value to value. */
function substitutes(one: Case): Substitute[] {
  const combinations = Array.from(
    { length: 2 ** failuresOf(one).length },
    (_, bits): Substitute =>
      (leaf) =>
        ((bits >> leaf) & 1) === 1,
  );
  const byValue = [1, 2].map(
    (salt): Substitute =>
      (leaf, review) =>
        hash(`${one.seed} ${salt} ${leaf} ${subjectOf(review)}`) % 2 === 0,
  );
  return [...combinations, ...byValue];
}

/** What the answer for the client must be, given the policy's own (spec kubewarden.md 4.2, 4.5). */
function misreported(one: Case, { vanilla, response, outcome }: Verdict): string | undefined {
  // A member may say "abandoned" of itself, which is a failure as any other: the code is the evaluator's alone.
  if (one.abandoned && outcome.verdict === "error" && outcome.code === CLIENT_GONE && response.allowed)
    return "allowed for nobody";
  const final = outcome.verdict === "error" && outcome.final === true;
  const reports = one.mode === "monitor" && !one.audit && !final;
  if (response.allowed !== (reports || vanilla.allowed)) return "another answer than the policy's";
  if (vanilla.allowed !== (outcome.verdict === "allow")) return "another answer than the outcome";
  return undefined;
}
