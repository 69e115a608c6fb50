/**
 * Parses text that is known to be broken, and goes on after each error the way the reference's parser does: it drops one surplus token, makes
 * up one missing token, or skips to a token that may follow one of the rules it is in (spec kubernetes-cel.md 1.1 and 1.9).
 */
import { EOF, tokenName } from "../../lexer/token-type.js";
import { MAX_DEPTH, MAX_RECOVERIES, MAX_SKIPPED_TOKENS } from "../limits.js";
import { type CallStack, EPSILON, Lookahead } from "./lookahead.js";
import type { Network, Rule, State, Step } from "./network.js";
import { NotViable, Predictor } from "./predictor.js";
import { TreeNode, type TreeToken } from "./syntax-tree.js";
import type { TokenStream } from "./token-stream.js";

/** Parsing stopped for good. `message` is a problem without a place, unless it was reported already. */
export class Abandoned extends Error {
  constructor(readonly problem: string | undefined) {
    super(problem);
  }
}

/** A rule can't go on; it is left after recovering. */
class SyntaxProblem extends Error {
  constructor(
    readonly offset: number,
    readonly problem: string,
  ) {
    super(problem);
  }
}

/** Steps of a rule being done; `loop` says what they are the body of. */
interface Cursor {
  readonly steps: readonly Step[];
  at: number;
  readonly loop: LoopStep | undefined;
}

type LoopStep = Step & { readonly kind: "loop" };

/** A rule being parsed. Activations are kept on a stack of their own: hostile nesting must not exhaust JavaScript's. */
interface Activation {
  readonly rule: Rule;
  readonly isRecursive: boolean;
  /** The label under which the caller keeps the node. */
  readonly label: string;
  readonly cursors: Cursor[];
  node: TreeNode;
}

/** Parses once. */
export class Recognizer {
  readonly #lookahead = new Lookahead();
  readonly #predictor = new Predictor();
  readonly #activations: Activation[] = [];
  /** Activations of each rule. */
  readonly #depth = new Map<string, number>();
  readonly #precedences = [0];
  /** Where the rules being parsed go on after their callees. */
  #stack: CallStack | undefined;
  #state: State;
  #isRecovering = false;
  #recoveries = 0;
  /** Where recovery last gave up skipping, and in which states: to make progress there. */
  #lastIndex = -1;
  readonly #lastStates = new Set<State>();

  constructor(
    readonly network: Network,
    readonly input: TokenStream,
    /** Gets syntax errors; may throw {@link Abandoned}. */
    readonly report: (offset: number, message: string) => void,
  ) {
    this.#state = network.states[0]!;
  }

  /** The tree of the whole text. */
  parse(): TreeNode {
    this.#enter("start", "", 0);
    const start = this.#activations[0]!;
    for (let current = this.#activations.at(-1); current !== undefined; current = this.#activations.at(-1)) {
      try {
        if (this.#advance(current)) continue;
      } catch (problem) {
        if (!(problem instanceof SyntaxProblem)) throw problem;
        this.#reportProblem(problem);
        this.#recover();
      }
      this.#leave(current);
    }
    return start.node;
  }

  #enter(name: string, label: string, precedence: number): void {
    const rule = this.network.rules.get(name)!;
    const { offset } = this.input.current;
    const depth = (this.#depth.get(name) ?? 0) + 1;
    this.#depth.set(name, depth);
    if (depth > MAX_DEPTH) throw new Abandoned(`expression recursion limit exceeded: ${MAX_DEPTH}`);
    const isRecursive = rule.steps.some((step) => step.kind === "loop" && step.recursive);
    if (isRecursive) this.#precedences.push(precedence);
    const node = new TreeNode(name, offset);
    const cursors = [{ steps: rule.steps, at: 0, loop: undefined }];
    this.#activations.push({ rule, isRecursive, label, cursors, node });
  }

  #leave({ rule, isRecursive, label, node }: Activation): void {
    if (isRecursive) this.#precedences.pop();
    this.#depth.set(rule.name, this.#depth.get(rule.name)! - 1);
    this.#activations.pop();
    this.#stack = this.#stack?.caller;
    this.#activations.at(-1)?.node.addNode(label, node);
  }

  /** Does the next thing of a rule; false when the rule is done. */
  #advance(current: Activation): boolean {
    const cursor = current.cursors.at(-1);
    if (cursor === undefined) return false;
    const step = cursor.steps[cursor.at];
    cursor.at += 1;
    if (step !== undefined) {
      this.#step(step, current);
      return true;
    }
    current.cursors.pop();
    if (cursor.loop !== undefined) {
      this.#state = cursor.loop.back;
      this.#sync();
      if (this.#goesOn(cursor.loop)) this.#iterate(cursor.loop, current);
    }
    return true;
  }

  #step(step: Step, current: Activation): void {
    switch (step.kind) {
      case "token":
        this.#state = step.state;
        current.node.addToken(step.label, this.#match(step.types));
        break;
      case "rule": {
        this.#state = step.state;
        const [edge] = step.state.edges;
        if (edge?.kind !== "rule") break;
        this.#stack = { follow: edge.follow, caller: this.#stack };
        this.#enter(step.rule, step.label, step.precedence);
        break;
      }
      case "optional":
        this.#state = step.start;
        this.#sync();
        if (this.#isNext(step.bodyStart)) current.cursors.push({ steps: step.body, at: 0, loop: undefined });
        break;
      case "loop":
        this.#state = step.start;
        this.#sync();
        if (step.plus || this.#goesOn(step)) this.#iterate(step, current);
        break;
      case "choice": {
        this.#state = step.state;
        this.#sync();
        const alternative = step.alternatives[this.#choose(step)]!;
        if (step.wraps) current.node = this.#wrap(current.node);
        current.node.name = alternative.name;
        current.cursors.push({ steps: alternative.steps, at: 0, loop: undefined });
      }
    }
  }

  /** Whether the next token may start what begins in this state. */
  #isNext(state: State): boolean {
    return this.#lookahead.within(state).has(this.input.peek());
  }

  #iterate(loop: LoopStep, current: Activation): void {
    current.cursors.push({ steps: loop.body, at: 0, loop });
  }

  /** A node of the same rule around what was parsed so far: the left operand of a suffix. */
  #wrap(node: TreeNode): TreeNode {
    const outer = new TreeNode(node.rule, node.offset);
    outer.addNode("left", node);
    return outer;
  }

  #goesOn(loop: LoopStep): boolean {
    return loop.oneToken ? this.#isNext(loop.bodyStart) : this.#predict(loop.decision) === 1;
  }

  /** The index of the alternative to take. */
  #choose(step: Step & { readonly kind: "choice" }): number {
    if (!step.oneToken) return this.#predict(step.state) - 1;
    const index = step.alternatives.findIndex(({ start }) => this.#isNext(start));
    if (index < 0) throw this.#notViable(this.input.index, this.input.index);
    return index;
  }

  #predict(decision: State): number {
    const { input } = this;
    const prediction = this.#predictor.predict(decision, {
      type: (index) => input.type(index),
      next: input.index,
      precedence: this.#precedences.at(-1)!,
      stack: this.#stack,
    });
    if (prediction instanceof NotViable) throw this.#notViable(input.index, prediction.token);
    return prediction;
  }

  #notViable(first: number, offending: number): SyntaxProblem {
    const text = this.input.type(first) === EOF ? "<EOF>" : this.input.text(first, offending);
    const message = `no viable alternative at input ${quoted(text)}`;
    const keyword = /no viable alternative at input '.(true|false|null)'/u;
    return new SyntaxProblem(
      this.input.at(offending).offset,
      message.replace(keyword, "mismatched input '$1' expecting IDENTIFIER"),
    );
  }

  #mismatch(): SyntaxProblem {
    const { current } = this.input;
    const expected = tokenSetText(this.#lookahead.expected(this.#state, this.#stack));
    return new SyntaxProblem(current.offset, `mismatched input ${quoted(current.text)} expecting ${expected}`);
  }

  #match(types: ReadonlySet<number>): TreeToken {
    const { current } = this.input;
    if (types.has(current.type)) {
      this.#endRecovery();
      this.input.consume();
      return current;
    }
    this.#countRecovery();
    if (this.#dropSurplus()) {
      const matched = this.input.current;
      this.input.consume();
      return matched;
    }
    if (this.#isMissing()) return { type: [...types][0]!, text: "<missing>", offset: current.offset, index: -1 };
    throw this.#mismatch();
  }

  /** Drops the next token if the one after it is expected here. */
  #dropSurplus(): boolean {
    const expected = this.#lookahead.expected(this.#state, this.#stack);
    if (!expected.has(this.input.peek(2))) return false;
    this.#reportSurplus();
    this.input.consume();
    this.#endRecovery();
    return true;
  }

  #reportSurplus(): void {
    if (this.#isRecovering) return;
    this.#isRecovering = true;
    const { current } = this.input;
    const expected = tokenSetText(this.#lookahead.expected(this.#state, this.#stack));
    this.report(current.offset, `extraneous input ${quoted(current.text)} expecting ${expected}`);
  }

  /** Whether the next token fits after the one that is expected here. */
  #isMissing(): boolean {
    const { current } = this.input;
    const after = this.#lookahead.after(this.#state.edges[0]!.target, this.#stack);
    if (!after.has(current.type)) return false;
    if (!this.#isRecovering) {
      this.#isRecovering = true;
      const expected = tokenSetText(this.#lookahead.expected(this.#state, this.#stack));
      this.report(current.offset, `missing ${expected} at ${quoted(current.text)}`);
    }
    return true;
  }

  /** Looks whether the next token fits before a choice or loop. */
  #sync(): void {
    if (this.#isRecovering) return;
    const next = this.#lookahead.within(this.#state);
    if (next.has(EPSILON) || next.has(this.input.peek())) return;
    switch (this.#state.kind) {
      case "blockStart":
      case "loopEntry":
        if (!this.#dropSurplus()) throw this.#mismatch();
        break;
      case "loopBack": {
        this.#reportSurplus();
        const expected = this.#lookahead.expected(this.#state, this.#stack);
        this.#skipTo(new Set([...expected, ...this.#followSet()]), Number.POSITIVE_INFINITY);
        break;
      }
      default:
    }
  }

  #reportProblem(problem: SyntaxProblem): void {
    if (this.#isRecovering) return;
    this.#isRecovering = true;
    this.report(problem.offset, problem.problem);
  }

  #recover(): void {
    this.#countRecovery();
    let limit = MAX_SKIPPED_TOKENS;
    if (this.#lastIndex === this.input.index && this.#lastStates.has(this.#state)) {
      this.input.consume();
      limit -= 1;
    }
    this.#lastIndex = this.input.index;
    this.#lastStates.add(this.#state);
    this.#skipTo(this.#followSet(), limit);
  }

  #endRecovery(): void {
    this.#isRecovering = false;
    this.#lastIndex = -1;
    this.#lastStates.clear();
  }

  #countRecovery(): void {
    if (this.#recoveries === MAX_RECOVERIES) {
      this.report(this.input.current.offset, `error recovery attempt limit exceeded: ${MAX_RECOVERIES}`);
      throw new Abandoned(undefined);
    }
    this.#recoveries += 1;
  }

  /** What may follow any of the rules being parsed. */
  #followSet(): ReadonlySet<number> {
    const tokens = new Set<number>();
    for (let at = this.#stack; at !== undefined; at = at.caller) {
      for (const type of this.#lookahead.within(at.follow)) tokens.add(type);
    }
    tokens.delete(EPSILON);
    return tokens;
  }

  #skipTo(tokens: ReadonlySet<number>, limit: number): void {
    for (let skipped = 0; ; skipped += 1) {
      const next = this.input.peek();
      if (next === EOF || tokens.has(next)) return;
      if (skipped >= limit) {
        throw new Abandoned(`error recovery token lookahead limit exceeded: ${MAX_SKIPPED_TOKENS}`);
      }
      this.input.consume();
    }
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("\t", "\\t").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}'`;
}

/** Token names in order of type: one alone, several in braces. */
function tokenSetText(types: ReadonlySet<number>): string {
  const names = [...types].sort((a, b) => a - b).map(tokenName);
  return names.length === 1 ? names[0]! : `{${names.join(", ")}}`;
}
