/** Evaluates requests again by a configuration. */

import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { createPolicySource, type PolicySource, problemLines } from "../../loader/policy-source.js";
import type { LoaderSettings } from "../../loader/settings.js";
import { createEvaluator, type Evaluator } from "../../policy/served/evaluator.js";
import type { ServedPolicy } from "../../policy/served/policy-set.js";
import type { Verdict } from "../../policy/served/verdict.js";
import type { Asked } from "./compare.js";
import { decodedPatch } from "./documents.js";
import type { Question } from "./question.js";

/** Failures that say nothing about the policy: its needs are missing here. */
const WITHOUT_WORLD: ReadonlySet<string> = new Set(["unavailable", "capability", "overload"]);

type Reading = NonNullable<Parameters<typeof createPolicySource>[1]>;

/** Answers questions by the policies of one file. */
export class Asker {
  readonly #source: PolicySource;
  readonly #evaluator: Evaluator;

  private constructor(source: PolicySource, evaluator: Evaluator) {
    this.#source = source;
    this.#evaluator = evaluator;
  }

  /** Loads the policies; reports their problems on standard error. @throws UsageError when nothing of the file can be used */
  static async load(settings: LoaderSettings, { stderr }: CommandIo, read?: Reading["read"]): Promise<Asker> {
    const source = createPolicySource(settings, { warnWithoutCluster: true, ...(read && { read }) });
    try {
      const loaded = await source.load();
      const { fatal } = loaded;
      // Each problem is printed once: a fatal error may contain it.
      for (const line of problemLines(loaded)) if (fatal?.includes(line) !== true) say(stderr, line);
      if (fatal !== undefined) throw new UsageError(fatal);
      return new Asker(source, createEvaluator(loaded.policies, { policyTimeout: source.policyTimeout }));
    } catch (error) {
      source.close();
      throw error;
    }
  }

  /** The loaded policies. */
  get policies() {
    return this.#evaluator.policies;
  }

  /** Evaluates one policy, within its time. Never rejects. */
  async ask(id: string, { review, origin }: Question): Promise<{ readonly asked: Asked; readonly applies: boolean }> {
    const entry = this.policies.entries.get(id);
    if (entry === undefined) return undecided("the configuration has no such policy");
    if (entry.unavailable !== undefined) return undecided(`the policy could not be loaded: ${entry.unavailable}`);
    return answerOf(await this.#verdict(entry, { review, origin }));
  }

  #verdict(entry: ServedPolicy, question: Pick<Question, "review" | "origin">): Verdict | Promise<Verdict> {
    return this.#evaluator.evaluate(entry, question);
  }

  /** Closes threads and connections. */
  close(): void {
    this.#source.close();
  }
}

const undecided = (why: string) => ({ asked: { undecided: why }, applies: true });

function answerOf({ response, outcome }: Verdict): { readonly asked: Asked; readonly applies: boolean } {
  if (outcome.verdict === "error" && WITHOUT_WORLD.has(outcome.cause)) return undecided(outcome.message);
  const { allowed, status, warnings, patch } = response;
  const asked = {
    allowed,
    message: status?.message,
    warnings,
    ...(patch !== undefined && { patch: decodedPatch(patch) }),
    ...(outcome.verdict === "error" && { failed: true }),
  };
  return { asked, applies: outcome.verdict !== "skip" };
}
