/**
 * Predicts which alternative a parser should take, by looking as many tokens ahead as it needs (the ALL(*) method: first without the
 * callers, and if that leaves alternatives that can't be told apart, again with them).
 */
import { EOF } from "../../lexer/token-type.js";
import { type Config, ConfigSet } from "./config-set.js";
import type { CallStack } from "./lookahead.js";
import type { Edge, State } from "./network.js";
import { type PredictionContext, PredictionContexts } from "./prediction-context.js";

/** What the predictor needs to know of the parser. */
export interface PredictionInput {
  /** The type of a token by index; the last one is the end of file. */
  type(token: number): number;
  /** The index of the next token. */
  readonly next: number;
  /** The current precedence of rules that call themselves. */
  readonly precedence: number;
  readonly stack: CallStack | undefined;
}

/** No alternative is viable: the input broke off at this token. */
export class NotViable {
  constructor(readonly token: number) {}
}

/** Prediction took more steps than any sensible expression needs. */
export class TooMuchWork extends Error {}

/** Closures computed for one expression: enough for any error a person makes, and bounds what hostile text can cost. */
const MAX_CLOSURES = 50_000;

/** What is known after some tokens of a decision, without the callers. */
interface Known {
  readonly configs: ConfigSet;
  readonly next: Map<number, Known | undefined>;
  /** The decision, when it is made; `stuck` when the callers must be looked at. */
  readonly verdict: number | "stuck" | undefined;
}

/** Predicts for one network; remembers what it found. */
export class Predictor {
  readonly #contexts = new PredictionContexts();
  readonly #starts = new Map<string, Known>();
  /** What is known by its configs: after a loop one is where one was before. */
  readonly #known = new Map<string, Known>();
  readonly #translated = new WeakMap<CallStack, PredictionContext>();
  #closures = 0;

  /** The number (from 1) of the edge of `decision` to take. */
  predict(decision: State, input: PredictionInput): number | NotViable {
    const { isPrecedenceLoop } = decision;
    const key = `${decision.id}:${input.precedence}`;
    let known = this.#starts.get(key);
    if (known === undefined) {
      const start = new Closure(this.#contexts, decision, input.precedence, false).start(this.#contexts.empty);
      known = { configs: isPrecedenceLoop ? filtered(start) : start, next: new Map(), verdict: undefined };
      this.#starts.set(key, known);
    }
    for (let token = input.next; ; token += 1) {
      const type = input.type(token);
      const next = this.#step(known, type, decision, input.precedence);
      if (next === undefined) return known.configs.firstFinished() ?? new NotViable(token);
      if (next.verdict === "stuck") return this.#predictWithCallers(decision, input);
      if (next.verdict !== undefined) return next.verdict;
      known = next;
      if (type === EOF) token -= 1;
    }
  }

  #step(known: Known, type: number, decision: State, precedence: number): Known | undefined {
    if (known.next.has(type)) return known.next.get(type);
    const configs = this.#reach(known.configs, type, decision, precedence);
    let next: Known | undefined;
    if (configs !== undefined) {
      const { key } = configs;
      next = this.#known.get(key);
      if (next === undefined) {
        const verdict = configs.uniqueAlternative() ?? (configs.isStuck() ? "stuck" : undefined);
        next = { configs, next: new Map(), verdict };
        this.#known.set(key, next);
      }
    }
    known.next.set(type, next);
    return next;
  }

  #predictWithCallers(decision: State, input: PredictionInput): number | NotViable {
    const context = this.#contextOf(input.stack);
    let configs = new Closure(this.#contexts, decision, input.precedence, true).start(context);
    for (let token = input.next; ; token += 1) {
      const type = input.type(token);
      const next = this.#reach(configs, type, decision, input.precedence);
      if (next === undefined) return configs.firstFinished() ?? new NotViable(token);
      const alternative = next.uniqueAlternative() ?? next.winner();
      if (alternative !== undefined) return alternative;
      configs = next;
      if (type === EOF) token -= 1;
    }
  }

  /** The parser's stack as a context. Frames are shared between stacks, so each is translated once. */
  #contextOf(stack: CallStack | undefined): PredictionContext {
    const untranslated: CallStack[] = [];
    let at = stack;
    let context: PredictionContext | undefined;
    while (at !== undefined && context === undefined) {
      context = this.#translated.get(at);
      if (context === undefined) {
        untranslated.push(at);
        at = at.caller;
      }
    }
    return untranslated.reduceRight((parent, frame) => {
      const translated = this.#contexts.push(frame.follow, parent);
      this.#translated.set(frame, translated);
      return translated;
    }, context ?? this.#contexts.empty);
  }

  /** The configs after one more token; `undefined` when there are none. */
  #reach(from: ConfigSet, type: number, decision: State, precedence: number): ConfigSet | undefined {
    this.#closures += 1;
    if (this.#closures > MAX_CLOSURES) throw new TooMuchWork();
    const { fullContext } = from;
    const moved = new ConfigSet(this.#contexts, fullContext);
    const stopped: Config[] = [];
    for (const config of from.configs) {
      if (config.state.kind === "ruleStop") {
        if (fullContext || type === EOF) stopped.push(config);
        continue;
      }
      for (const edge of config.state.edges) {
        if (edge.kind === "tokens" && edge.types.has(type)) moved.add({ ...config, state: edge.target });
      }
    }
    let reached = moved;
    if (stopped.length > 0 || type === EOF || moved.uniqueAlternative() === undefined) {
      const closure = new Closure(this.#contexts, decision, precedence, fullContext, type === EOF);
      for (const config of moved.configs) closure.add(config);
      reached = type === EOF ? this.#atEnd(closure.configs) : closure.configs;
    }
    if (stopped.length > 0 && (!fullContext || !reached.configs.some(({ state }) => state.kind === "ruleStop"))) {
      for (const config of stopped) reached.add(config);
    }
    return reached.configs.length === 0 ? undefined : reached;
  }

  /** After the last token only configs at the end of a rule are left. */
  #atEnd(configs: ConfigSet): ConfigSet {
    if (configs.allStopped()) return configs;
    const stopped = new ConfigSet(this.#contexts, configs.fullContext);
    for (const config of configs.configs) if (config.state.kind === "ruleStop") stopped.add(config);
    return stopped;
  }
}

/** Without those that precedence rules out: leaving the loop where staying in it leads to the same place. */
function filtered(start: ConfigSet): ConfigSet {
  const result = new ConfigSet(start.contexts, start.fullContext);
  const staying = new Map<number, PredictionContext>();
  for (const config of start.configs) {
    if (config.alternative !== 1) continue;
    staying.set(config.state.id, config.context);
    result.add(config);
  }
  for (const config of start.configs) {
    if (config.alternative === 1) continue;
    if (!config.filterSuppressed && staying.get(config.state.id) === config.context) continue;
    result.add(config);
  }
  return result;
}

/** Follows edges that consume nothing. */
class Closure {
  readonly configs: ConfigSet;
  readonly #left = new Set<string>();

  constructor(
    readonly contexts: PredictionContexts,
    readonly decision: State,
    readonly precedence: number,
    readonly fullContext: boolean,
    readonly endIsEpsilon = false,
  ) {
    this.configs = new ConfigSet(contexts, fullContext);
  }

  /** From the decision's alternatives on; precedence is looked at while in the rule of the decision. */
  start(context: PredictionContext): ConfigSet {
    for (const [index, edge] of this.decision.edges.entries()) {
      this.#left.clear();
      this.#visit(
        { state: edge.target, alternative: index + 1, context, leftRule: false, filterSuppressed: false },
        0,
        true,
      );
    }
    return this.configs;
  }

  add(config: Config): void {
    this.#visit(config, 0, false);
  }

  #visit(config: Config, depth: number, checkPrecedence: boolean): void {
    const { state, context } = config;
    if (state.kind !== "ruleStop" || context === this.contexts.empty) {
      if (state.kind === "ruleStop" && this.fullContext) this.configs.add(config);
      else this.#follow(config, depth, checkPrecedence);
      return;
    }
    for (const { state: target, parent } of context.returns) {
      if (target === undefined) {
        if (this.fullContext) this.configs.add({ ...config, context: this.contexts.empty });
        else this.#follow(config, depth, checkPrecedence);
      } else {
        const returned = { ...config, state: target, context: parent!, filterSuppressed: false };
        this.#visit(returned, depth, checkPrecedence);
      }
    }
  }

  #follow(config: Config, depth: number, checkPrecedence: boolean): void {
    const { state, context } = config;
    // Where a token is consumed, or where the whole grammar ends.
    if (state.edges.length === 0 || state.edges[0]!.kind === "tokens") this.configs.add(config);
    for (const [index, edge] of state.edges.entries()) {
      if (index === 0 && this.#isRedundantLoop(config)) continue;
      const target = this.#cross(config, edge, checkPrecedence && depth === 0);
      if (target === undefined) continue;
      let newDepth = depth;
      if (state.kind === "ruleStop") {
        if (edge.kind === "epsilon" && this.decision.isPrecedenceLoop && edge.returnsFrom === this.decision.rule) {
          target.filterSuppressed = true;
        }
        target.leftRule = true;
        const key = `${target.state.id}:${target.alternative}:${context.id}:${target.filterSuppressed}`;
        if (this.#left.has(key)) continue;
        this.#left.add(key);
        newDepth -= 1;
      } else if (edge.kind === "rule" && newDepth >= 0) {
        newDepth += 1;
      }
      this.#visit(target, newDepth, checkPrecedence);
    }
  }

  /** In a right operand, going on with the loop is left to the outer one: it leads to the same places. */
  #isRedundantLoop({ state, context }: Config): boolean {
    if (!state.isPrecedenceLoop || context === this.contexts.empty) return false;
    return context.returns.every(({ state: target }) => target?.isSelfReturn === true && target.rule === state.rule);
  }

  #cross(config: Config, edge: Edge, inRule: boolean): Config | undefined {
    switch (edge.kind) {
      case "epsilon":
        return { ...config, state: edge.target };
      case "rule":
        return { ...config, state: edge.target, context: this.contexts.push(edge.follow, config.context) };
      case "predicate":
        if (inRule && edge.precedence < this.precedence) return undefined;
        return { ...config, state: edge.target };
      case "tokens":
        return this.endIsEpsilon && edge.types.has(EOF) ? { ...config, state: edge.target } : undefined;
    }
  }
}
