/** The states that prediction may be in after some tokens. */
import type { State } from "./network.js";
import type { PredictionContext, PredictionContexts } from "./prediction-context.js";

/** One of them: which alternative led here, and with what stack. */
export interface Config {
  readonly state: State;
  readonly alternative: number;
  context: PredictionContext;
  /** It left the rule of the decision, into callers that are not known. */
  leftRule: boolean;
  /** It came back to a caller that is not the rule itself: precedence doesn't rule it out. */
  filterSuppressed: boolean;
}

/** A set of them. Those of one state and alternative are merged. */
export class ConfigSet {
  readonly configs: Config[] = [];
  readonly #byKey = new Map<number, Config>();

  constructor(
    readonly contexts: PredictionContexts,
    /** Whether the stacks are complete; else an empty one stands for any. */
    readonly fullContext: boolean,
  ) {}

  add(config: Config): void {
    const key = config.state.id * 16 + config.alternative;
    const known = this.#byKey.get(key);
    if (known === undefined) {
      const added = { ...config };
      this.#byKey.set(key, added);
      this.configs.push(added);
      return;
    }
    known.context = this.contexts.merge(known.context, config.context, !this.fullContext);
    known.leftRule ||= config.leftRule;
    known.filterSuppressed ||= config.filterSuppressed;
  }

  /** The same text for sets with the same configs. */
  get key(): string {
    const parts = this.configs.map(
      ({ state, alternative, context, leftRule, filterSuppressed }) =>
        `${state.id},${alternative},${context.id},${leftRule},${filterSuppressed}`,
    );
    return parts.sort().join(";");
  }

  /** The alternative that all share, if they do. */
  uniqueAlternative(): number | undefined {
    const first = this.configs[0]?.alternative;
    return this.configs.every(({ alternative }) => alternative === first) ? first : undefined;
  }

  /** Whether all are at the end of a rule. */
  allStopped(): boolean {
    return this.configs.every(({ state }) => state.kind === "ruleStop");
  }

  /** The sets of alternatives that can't be told apart any more: same state, same stack. */
  #conflicts(): ReadonlySet<number>[] {
    const byPlace = new Map<string, Set<number>>();
    for (const { state, context, alternative } of this.configs) {
      const key = `${state.id}:${context.id}`;
      byPlace.set(key, (byPlace.get(key) ?? new Set()).add(alternative));
    }
    return [...byPlace.values()];
  }

  /** Whether more tokens won't help, as far as one can tell without complete stacks. */
  isStuck(): boolean {
    if (this.allStopped()) return true;
    if (!this.#conflicts().some(({ size }) => size > 1)) return false;
    const byState = new Map<number, Set<number>>();
    for (const { state, alternative } of this.configs) {
      byState.set(state.id, (byState.get(state.id) ?? new Set()).add(alternative));
    }
    return [...byState.values()].every(({ size }) => size > 1);
  }

  /** With complete stacks: the alternative that wins every conflict, the first of each; `undefined` while several are viable. */
  winner(): number | undefined {
    const winners = new Set(this.#conflicts().map((alternatives) => Math.min(...alternatives)));
    return winners.size === 1 ? [...winners][0] : undefined;
  }

  /** The first alternative that has reached the end of the decision's rule. */
  firstFinished(): number | undefined {
    const finished = this.configs
      .filter(
        ({ state, context, leftRule }) => leftRule || (state.kind === "ruleStop" && this.contexts.mayEnd(context)),
      )
      .map(({ alternative }) => alternative);
    return finished.length === 0 ? undefined : Math.min(...finished);
  }
}
