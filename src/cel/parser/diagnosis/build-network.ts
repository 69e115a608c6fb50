/** Makes the network of a grammar. */
import type { Alternative, Edge, Network, Rule, State, StateKind, Step } from "./network.js";
import type { NamedParts, Part } from "./notation.js";

interface Fragment {
  readonly left: State;
  readonly right: State;
  readonly steps: readonly Step[];
}

/** The network of these rules. */
export function buildNetwork(grammar: ReadonlyMap<string, readonly Part[]>): Network {
  return new Builder(grammar).build();
}

class Builder {
  readonly #states: State[] = [];
  readonly #starts = new Map<string, State>();
  readonly #stops = new Map<string, State>();
  /** The rule being built. */
  #rule = "";

  constructor(readonly grammar: ReadonlyMap<string, readonly Part[]>) {}

  build(): Network {
    for (const name of this.grammar.keys()) {
      this.#rule = name;
      this.#starts.set(name, this.#state("ruleStart"));
      this.#stops.set(name, this.#state("ruleStop"));
    }
    const rules = new Map<string, Rule>();
    for (const [name, parts] of this.grammar) {
      this.#rule = name;
      const start = this.#starts.get(name)!;
      const stop = this.#stops.get(name)!;
      const { left, right, steps } = this.#sequence(parts);
      this.#epsilon(start, left);
      this.#epsilon(right, stop);
      rules.set(name, { name, start, stop, steps });
    }
    this.#linkReturns(rules);
    return { rules, states: this.#states };
  }

  /** From the end of each rule to wherever it may have been called. */
  #linkReturns(rules: ReadonlyMap<string, Rule>): void {
    for (const state of [...this.#states]) {
      for (const edge of [...state.edges]) {
        if (edge.kind !== "rule") continue;
        const isOutermost = edge.precedence === 0 && isRecursive(rules.get(edge.rule)!);
        const returns: Edge = {
          kind: "epsilon",
          target: edge.follow,
          returnsFrom: isOutermost ? edge.rule : undefined,
        };
        this.#stops.get(edge.rule)!.edges.push(returns);
      }
    }
  }

  #state(kind: StateKind, flags: { isPrecedenceLoop?: boolean; isSelfReturn?: boolean } = {}): State {
    const state: State = {
      id: this.#states.length,
      kind,
      rule: this.#rule,
      edges: [],
      isPrecedenceLoop: flags.isPrecedenceLoop === true,
      isSelfReturn: flags.isSelfReturn === true,
    };
    this.#states.push(state);
    return state;
  }

  #epsilon(from: State, to: State): void {
    from.edges.push({ kind: "epsilon", target: to, returnsFrom: undefined });
  }

  /** Parts in a row. With `end`, a last part that is a token or rule leads there directly: alternatives that end alike meet in one state. */
  #sequence(parts: readonly Part[], end?: State): Fragment {
    const fragments = parts.map((part, index) => this.#part(part, index === parts.length - 1 ? end : undefined));
    for (let index = 1; index < fragments.length; index += 1) {
      this.#epsilon(fragments[index - 1]!.right, fragments[index]!.left);
    }
    return {
      left: fragments[0]!.left,
      right: fragments.at(-1)!.right,
      steps: fragments.flatMap(({ steps }) => steps),
    };
  }

  #part(part: Part, end: State | undefined): Fragment {
    switch (part.kind) {
      case "token": {
        const [left, right] = [this.#state("basic"), end ?? this.#state("basic")];
        const types = new Set(part.types);
        left.edges.push({ kind: "tokens", target: right, types });
        return { left, right, steps: [{ kind: "token", state: left, types, label: part.label }] };
      }
      case "rule": {
        const left = this.#state("basic");
        const right = end ?? this.#state("basic");
        const { rule, precedence, label } = part;
        left.edges.push({ kind: "rule", target: this.#starts.get(rule)!, rule, precedence, follow: right });
        return { left, right, steps: [{ kind: "rule", state: left, rule, precedence, label }] };
      }
      case "predicate": {
        const [left, right] = [this.#state("basic"), this.#state("basic")];
        left.edges.push({ kind: "predicate", target: right, precedence: part.precedence });
        return { left, right, steps: [] };
      }
      case "optional": {
        const { start, end: blockEnd, alternatives } = this.#alternatives([{ name: undefined, parts: part.parts }]);
        this.#epsilon(start, blockEnd);
        const [body] = alternatives;
        const step: Step = { kind: "optional", start, body: body!.steps, bodyStart: body!.start };
        return { left: start, right: blockEnd, steps: [step] };
      }
      case "loop":
        return this.#loop(part);
      case "choice": {
        const { start, end: blockEnd, alternatives } = this.#alternatives(part.alternatives);
        const step: Step = { kind: "choice", state: start, oneToken: part.oneToken, wraps: false, alternatives };
        return { left: start, right: blockEnd, steps: [step] };
      }
    }
  }

  #alternatives(
    parts: readonly NamedParts[],
    isSelfReturn = false,
  ): { readonly start: State; readonly end: State; readonly alternatives: readonly Alternative[] } {
    const start = this.#state("blockStart");
    const end = this.#state("blockEnd", { isSelfReturn });
    const alternatives = parts.map(({ name, parts: sequence }) => {
      const { left, right, steps } = this.#sequence(sequence, end);
      this.#epsilon(start, left);
      if (right !== end) this.#epsilon(right, end);
      return { name, start: left, steps };
    });
    return { start, end, alternatives };
  }

  #loop(part: Part & { readonly kind: "loop" }): Fragment {
    const { start, end, alternatives } = this.#alternatives(part.alternatives, part.recursive);
    const body: readonly Step[] =
      alternatives.length === 1 && !part.recursive
        ? alternatives[0]!.steps
        : [{ kind: "choice", state: start, oneToken: false, wraps: part.recursive, alternatives }];
    const back = this.#state("loopBack");
    const exit = this.#state("basic");
    this.#epsilon(end, back);
    const common = {
      kind: "loop",
      oneToken: part.oneToken,
      body,
      bodyStart: start,
      recursive: part.recursive,
    } as const;
    if (part.plus) {
      this.#epsilon(back, start);
      this.#epsilon(back, exit);
      const step: Step = { ...common, plus: true, start, back, decision: back };
      return { left: start, right: exit, steps: [step] };
    }
    const entry = this.#state("loopEntry", { isPrecedenceLoop: part.recursive });
    this.#epsilon(entry, start);
    this.#epsilon(entry, exit);
    this.#epsilon(back, entry);
    const step: Step = { ...common, plus: false, start: entry, back, decision: entry };
    return { left: entry, right: exit, steps: [step] };
  }
}

function isRecursive(rule: Rule): boolean {
  return rule.steps.some((step) => step.kind === "loop" && step.recursive);
}
