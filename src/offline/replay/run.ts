/** Evaluates all requests again, in order, some at a time. */

import type { AdmissionRequest } from "../../admission/admission-request.js";
import type { Policy, PolicyRule } from "../../policy/policy.js";
import type { PolicySet } from "../../policy/served/policy-set.js";
import type { Asker } from "./asker.js";
import type { Changed } from "./changed.js";
import { type Asked, changeOf } from "./compare.js";
import type { Output, Summary } from "./output.js";
import type { Answer, Found, Question } from "./question.js";
import { isChange, Tally } from "./tally.js";

/** Policies, not members of groups, that may match the request; a policy without rules may match any. */
function policiesFor(policies: PolicySet, request: AdmissionRequest): string[] {
  return Array.from(policies.entries.values())
    .filter(({ id, policy }) => !id.includes("/") && isAbout(policy, request))
    .map(({ id }) => id);
}

function isAbout({ rules }: Policy, request: AdmissionRequest): boolean {
  return rules === undefined || rules.length === 0 || rules.some((rule) => ruleIsAbout(rule, request));
}

function ruleIsAbout(rule: PolicyRule, request: AdmissionRequest): boolean {
  const { group, version, resource } = request.resource;
  return (
    names(rule.operations, request.operation) &&
    names(rule.apiGroups, group) &&
    names(rule.apiVersions, version) &&
    namesResource(rule.resources, resource, request.subResource ?? "")
  );
}

const names = (words: readonly string[] | undefined, word: string): boolean =>
  words === undefined || words.includes("*") || words.includes(word);

function namesResource(resources: readonly string[] | undefined, resource: string, subresource: string): boolean {
  return (
    resources === undefined ||
    resources.some((entry) => {
      const [main = "", sub = ""] = entry.split("/", 2);
      return (main === "*" || main === resource) && (sub === "*" || sub === subresource);
    })
  );
}

/** Evaluations under way: enough for guests on all threads, few enough to take no noticeable memory. */
const UNDER_WAY = 32;
/** Most unreadable documents that are named. */
const NAMED = 10;
/** Most reasons that are counted separately; some contain a word of the document, which its author chose. */
const REASONS = 100;
/** Characters of a reason. */
const REASON_LENGTH = 200;
/** The reason under which the rest is counted. */
const OTHER_REASONS = "for other reasons";

/** Options of a replay. */
export interface Replay {
  /** The configuration under trial. */
  readonly after: Asker;
  /** The configuration to compare with; absent: the recorded answers. */
  readonly before?: Asker | undefined;
  /** Recorded ids to replay; empty: all. */
  readonly only: ReadonlySet<string>;
  /** Recorded ids to those of `after`. */
  readonly renamed: ReadonlyMap<string, string>;
  readonly output: Output;
}

interface Pair {
  /** The recorded id. */
  readonly recorded: string;
  readonly former: Answer | undefined;
  readonly question: Question;
  /** Whether the request names this policy. */
  readonly isNamed: boolean;
}

/** Replays requests. @returns the summary */
export async function replay(
  found: AsyncIterable<Found>,
  { after, before, only, renamed, output }: Replay,
): Promise<Summary> {
  const tally = new Tally();
  const unreadable = { count: 0, first: [] as { place: string; why: string }[] };
  const skipped = new Map<string, number>();
  const doubts = new Map<string, number>();
  const underWay: Promise<Changed | undefined>[] = [];

  const put = async ({ recorded, former, question, isNamed }: Pair): Promise<Changed | undefined> => {
    const id = renamed.get(recorded) ?? recorded;
    const [then, answered] = await Promise.all([before?.ask(recorded, question), after.ask(id, question)]);
    const now = { ...answered, asked: doubted(answered.asked, question) };
    // The request does not name the policy: it counts only if it applies.
    if (!isNamed && !now.applies && then?.applies !== true) return undefined;
    const earlier: Asked | undefined = then === undefined ? former : then.asked;
    const known = earlier === undefined || !("undecided" in earlier) ? earlier : undefined;
    const change = changeOf(known, now.asked);
    return { policy: id, change, question, before: known, after: now.asked };
  };
  const take = async (): Promise<void> => {
    const changed = await underWay.shift();
    if (changed === undefined) return;
    const { policy, change, question } = changed;
    tally.count(policy, change, question.redacted);
    if (isChange(change) || change === "denies") await output.change(changed);
  };

  for await (const one of found) {
    if (one.kind === "unreadable") {
      unreadable.count += 1;
      if (unreadable.first.length < NAMED) unreadable.first.push({ place: one.place, why: one.why });
    } else if (one.kind === "skipped") add(skipped, one.why);
    else {
      const pairs = pairsOf(one.question, only, after);
      if (pairs.length > 0) for (const doubt of one.question.doubts) add(doubts, doubt);
      for (const pair of pairs) {
        underWay.push(put(pair));
        if (underWay.length >= UNDER_WAY) await take();
      }
    }
  }
  while (underWay.length > 0) await take();
  return { tally, unreadable, skipped: [...skipped], doubts: [...doubts] };
}

/** An answer with doubts: a policy that fails with an incomplete request may not have failed with the complete one. */
function doubted(asked: Asked, { doubts }: Question): Asked {
  if ("undecided" in asked || asked.failed !== true || doubts.length === 0) return asked;
  return { undecided: asked.message ?? "the policy failed" };
}

function pairsOf(question: Question, only: ReadonlySet<string>, after: Asker): Pair[] {
  const { recorded, review, former } = question;
  if (recorded.length > 0) {
    return recorded
      .filter(({ policy }) => only.size === 0 || only.has(policy))
      .map(({ policy, answer }) => ({ recorded: policy, former: answer, question, isNamed: true }));
  }
  const ids = only.size > 0 ? [...only] : review.kind === "raw" ? [] : policiesFor(after.policies, review.request);
  return ids.map((id) => ({ recorded: id, former, question, isNamed: only.size > 0 }));
}

function add(counts: Map<string, number>, reason: string): void {
  const short = reason.slice(0, REASON_LENGTH);
  const key = counts.has(short) || counts.size < REASONS ? short : OTHER_REASONS;
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
