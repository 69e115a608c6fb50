/**
 * Records the evaluations of policies, with the value of every part of their expressions: for an explanation on the command line. Values are parts of
 * requests, so they are never part of an answer.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Program, type Result, Waiting } from "../../../cel/index.js";
import type { Outcome } from "../../../policy/outcome.js";
import type { EvaluationContext, Policy } from "../../../policy/policy.js";
import type { Review } from "../../../policy/review.js";
import type { ExpressionProgram } from "../expressions/expression.js";
import type { Watcher } from "../watcher.js";

/** Most evaluations of one expression that are kept for each evaluation of its policy: more are not read, and each keeps its values. */
const MAX_EVALUATIONS = 16;

/** Most evaluations of policies kept for one answer: four groups whose members are asked about as many values as are allowed. */
const MAX_ASKINGS = 1_024;

/** One evaluation of an expression. */
export interface Evaluated {
  readonly program: Program;
  /** The value of every part that was evaluated, by its id; the last one inside a loop. */
  readonly values: ReadonlyMap<number, Result>;
  /** The value of the whole. */
  readonly result: Result;
  /** Its cost, in units of Kubernetes' cost model, and the limit. */
  readonly cost: number;
  readonly costLimit: number | undefined;
}

/** One evaluation of a policy. */
export class Asking {
  /** The policy's id, or a member's name in its group. */
  readonly name: string;
  readonly policy: Policy;
  readonly review: Review;
  /** The outcome; `undefined` until it exists: time may have been up before. */
  outcome: Outcome | undefined;
  /** Time from call to outcome; `undefined` as long as that is. */
  milliseconds: number | undefined;
  /** The evaluations of a group's members, in order. */
  readonly members: Asking[] = [];
  /** Number of further member evaluations that are not kept. */
  left = 0;
  /** The results of policies and variants. */
  readonly found = new Map<object, string>();
  readonly #evaluations = new Map<ExpressionProgram, Evaluated[]>();

  constructor(name: string, policy: Policy, review: Review) {
    this.name = name;
    this.policy = policy;
    this.review = review;
  }

  /** Keeps an evaluation, and drops the earliest where there are too many. */
  keep(program: ExpressionProgram, evaluated: Evaluated): void {
    const known = this.#evaluations.get(program) ?? [];
    if (known.push(evaluated) > MAX_EVALUATIONS) known.shift();
    this.#evaluations.set(program, known);
  }

  /** The evaluations of an expression, in order; attempts and groups of expressions may have repeated them. */
  evaluations(program: ExpressionProgram | undefined): readonly Evaluated[] {
    return (program && this.#evaluations.get(program)) ?? [];
  }

  /** The evaluations of all expressions: a group has only one. */
  get all(): readonly Evaluated[] {
    return [...this.#evaluations.values()].flat();
  }
}

/** Watches evaluations; one instance per command. */
export class Explainer implements Watcher {
  readonly #asking = new AsyncLocalStorage<Asking>();
  /** The names of the members of each group, by the group's id. */
  readonly #members = new Map<string, Map<string, Policy>>();
  readonly #now: () => number;
  #askings = 0;

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  watch(program: Program): ExpressionProgram {
    const { source, constant, checked, references } = program;
    const evaluate: Program["evaluate"] = (bindings, options = {}) => {
      const asking = this.#asking.getStore();
      if (asking === undefined) return program.evaluate(bindings, options);
      const values = new Map<number, Result>();
      const onValue = (id: number, value: Result): void => {
        values.set(id, value);
      };
      const evaluation = program.evaluate(bindings, { ...options, onValue });
      const { result, cost } = evaluation;
      // An evaluation that waits is repeated.
      if (!(result instanceof Waiting)) {
        const { costLimit } = options;
        asking.keep(watched, { program, values, result, cost, costLimit });
      }
      return evaluation;
    };
    const watched: ExpressionProgram = { source, constant, checked, references, evaluate };
    return watched;
  }

  member(group: string, name: string, policy: Policy): Policy {
    const members = this.#members.get(group) ?? new Map<string, Policy>();
    this.#members.set(group, members.set(name, policy));
    return this.#asked(name, policy, (asking) => {
      const parent = this.#asking.getStore();
      if (this.#askings < MAX_ASKINGS) parent?.members.push(asking);
      else if (parent !== undefined) parent.left += 1;
    });
  }

  found(part: object, text: string): void {
    this.#asking.getStore()?.found.set(part, text);
  }

  /**
   * A policy that does the same and is recorded.
   * @param told receives each evaluation before it answers
   */
  explained(policy: Policy, told: (asking: Asking) => void): Policy {
    return this.#asked(policy.id, policy, (asking) => {
      this.#askings = 0;
      told(asking);
    });
  }

  /** Must be called before each further answer: it resets the limits of what is kept. */
  begin(): void {
    this.#askings = 0;
  }

  /** A group's members by their names there, in order of definition. */
  membersOf({ id }: Policy): ReadonlyMap<string, Policy> {
    return this.#members.get(id) ?? new Map();
  }

  #asked(name: string, policy: Policy, told: (asking: Asking) => void): Policy {
    const evaluate = (review: Review, context: EvaluationContext): Outcome | Promise<Outcome> => {
      const asking = new Asking(name, policy, review);
      told(asking);
      this.#askings += 1;
      const started = this.#now();
      const keep = (outcome: Outcome): Outcome => {
        asking.outcome = outcome;
        asking.milliseconds = this.#now() - started;
        return outcome;
      };
      // All evaluations for it, now or when an answer has come, belong to it.
      const outcome = this.#asking.run(asking, () => policy.evaluate(review, context));
      return outcome instanceof Promise ? outcome.then(keep) : keep(outcome);
    };
    const { id, kind, implementation, immediate } = policy;
    return { id, kind, implementation, immediate, evaluate };
  }
}
