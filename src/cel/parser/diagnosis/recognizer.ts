/**
 * Parses text that is known to be broken, and continues after each error as the reference's parser does: it drops one surplus token, inserts one
 * missing token, or skips to a token that may follow one of the rules it is in (spec kubernetes-cel.md 1.1 and 1.9).
 */
import { EOF, tokenName } from "../../lexer/token-type.js";
import { MAX_DEPTH, MAX_RECOVERIES, MAX_SKIPPED_TOKENS } from "../limits.js";
import { EPSILON, Lookahead } from "./lookahead.js";
import { type Decision, NotViable, type Part } from "./notation.js";
import { TreeNode, type TreeToken } from "./syntax-tree.js";
import type { TokenStream } from "./token-stream.js";

/** Thrown when parsing stops for good, for a problem without a place or for one that was reported. */
export class Abandoned extends Error {
  constructor(readonly problem: string | undefined) {
    super(problem);
  }
}

/** Thrown when a rule can't continue; the rule is left after recovering. */
class SyntaxProblem extends Error {
  constructor(
    readonly offset: number,
    readonly problem: string,
  ) {
    super(problem);
  }
}

/** Stands for the end of a rule among the tokens that may come. */
const RULE_END: ReadonlySet<number> = new Set();

type Loop = Part & { readonly kind: "loop" };
type Choice = Part & { readonly kind: "choice" };

/** The parts of a rule that are being parsed. */
interface Cursor {
  readonly parts: readonly Part[];
  /** The index after the current part; after a turn of a loop, one more than there are parts. */
  at: number;
  /** The loop whose body the parts are. */
  readonly loop: Loop | undefined;
}

/** A rule being parsed. Activations are kept on a stack of their own: hostile nesting must not exhaust JavaScript's. */
interface Activation {
  readonly rule: string;
  readonly precedence: number;
  /** The label under which the caller keeps the node. */
  readonly label: string;
  readonly cursors: Cursor[];
  node: TreeNode;
}

/** Parses one text; an instance serves for one. */
export class Recognizer {
  readonly #lookahead: Lookahead;
  readonly #activations: Activation[] = [];
  /** Activations of each rule. */
  readonly #depth = new Map<string, number>();
  #isRecovering = false;
  #recoveries = 0;
  /** The token at which recovery last stopped skipping, and the places of the grammar: to make progress there. */
  #lastIndex = -1;
  readonly #lastPlaces = new Set<Part | Cursor["parts"]>();

  constructor(
    readonly grammar: ReadonlyMap<string, readonly Part[]>,
    readonly input: TokenStream,
    /** Gets syntax errors; may throw {@link Abandoned}. */
    readonly report: (offset: number, message: string) => void,
  ) {
    this.#lookahead = new Lookahead(grammar);
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
        this.#reportOnce(problem.offset, problem.problem);
        this.#recover();
      }
      this.#leave(current);
    }
    return start.node;
  }

  #enter(rule: string, label: string, precedence: number): void {
    const { offset } = this.input.current;
    const depth = (this.#depth.get(rule) ?? 0) + 1;
    this.#depth.set(rule, depth);
    if (depth > MAX_DEPTH) throw new Abandoned(`expression recursion limit exceeded: ${MAX_DEPTH}`);
    const cursors = [{ parts: this.grammar.get(rule)!, at: 0, loop: undefined }];
    this.#activations.push({ rule, precedence, label, cursors, node: new TreeNode(rule, offset) });
  }

  #leave({ rule, label, node }: Activation): void {
    this.#depth.set(rule, this.#depth.get(rule)! - 1);
    this.#activations.pop();
    this.#activations.at(-1)?.node.addNode(label, node);
  }

  /** Parses the next part of a rule; false when the rule is complete. */
  #advance(current: Activation): boolean {
    const cursor = current.cursors.at(-1);
    if (cursor === undefined) return false;
    const part = cursor.parts[cursor.at];
    cursor.at += 1;
    if (part !== undefined) {
      this.#part(part, current);
    } else if (cursor.loop !== undefined && this.#goesOn(cursor.loop, current)) {
      cursor.at = 0;
    } else {
      current.cursors.pop();
    }
    return true;
  }

  #part(part: Part, current: Activation): void {
    switch (part.kind) {
      case "token":
        current.node.addToken(part.label, this.#match(part.types));
        break;
      case "rule":
        this.#enter(part.rule, part.label, part.precedence);
        break;
      case "optional":
        this.#sync();
        if (this.#isNext(part.body)) current.cursors.push({ parts: part.body, at: 0, loop: undefined });
        break;
      case "loop":
        if (part.plus || this.#goesOn(part, current)) current.cursors.push({ parts: part.body, at: 0, loop: part });
        break;
      case "choice": {
        this.#sync();
        const { name, parts } = part.alternatives[this.#choose(part, current)]!;
        current.node = this.#wrap(current.node, name);
        current.cursors.push({ parts, at: 0, loop: undefined });
      }
    }
  }

  /** Whether the next token may begin these parts. */
  #isNext(parts: readonly Part[]): boolean {
    return this.#lookahead.first(parts).has(this.input.peek());
  }

  /** A node of the same rule around what was parsed so far: the left operand, if the alternative is a suffix. */
  #wrap(node: TreeNode, name: string): TreeNode {
    const outer = new TreeNode(node.rule, node.offset);
    outer.name = name;
    outer.addNode("left", node);
    return outer;
  }

  #goesOn(loop: Loop, current: Activation): boolean {
    this.#sync();
    return loop.goesOn === undefined ? this.#isNext(loop.body) : this.#decide(loop.goesOn, current);
  }

  /** The index of the alternative to take. */
  #choose({ alternatives, choose }: Choice, current: Activation): number {
    const chosen = choose === undefined ? undefined : this.#decide(choose, current);
    if (chosen !== undefined) return chosen;
    const index = alternatives.findIndex(({ parts }) => this.#isNext(parts));
    if (index < 0) throw this.#notViable(1);
    return index;
  }

  #decide<T>(decision: Decision<T>, { precedence }: Activation): T {
    const { input } = this;
    const { first } = this.#lookahead;
    const answer = decision({ peek: (ahead) => input.peek(ahead), first, precedence });
    if (answer instanceof NotViable) throw this.#notViable(answer.ahead);
    return answer;
  }

  /** The problem that no alternative continues with the `ahead`-th token. */
  #notViable(ahead: number): SyntaxProblem {
    const { index } = this.input;
    const offending = index + ahead - 1;
    const text = this.input.peek() === EOF ? "<EOF>" : this.input.text(index, offending);
    const message = `no viable alternative at input ${quoted(text)}`;
    const keyword = /no viable alternative at input '.(true|false|null)'/u;
    return new SyntaxProblem(
      this.input.at(offending).offset,
      message.replace(keyword, "mismatched input '$1' expecting IDENTIFIER"),
    );
  }

  #mismatch(): SyntaxProblem {
    const { current } = this.input;
    const expected = tokenSetText(this.#expected());
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
    if (this.#isMissing()) return { type: [...types][0]!, text: "<missing>", offset: current.offset };
    throw this.#mismatch();
  }

  /** Drops the next token if the one after it is expected here. */
  #dropSurplus(): boolean {
    if (!this.#expected().has(this.input.peek(2))) return false;
    this.#reportSurplus();
    this.input.consume();
    this.#endRecovery();
    return true;
  }

  #reportSurplus(): void {
    const { text, offset } = this.input.current;
    this.#reportOnce(offset, `extraneous input ${quoted(text)} expecting ${tokenSetText(this.#expected())}`);
  }

  /** Whether the next token fits after the one that is expected here: in its rule or, where that may end, in those around it. */
  #isMissing(): boolean {
    const { type, text, offset } = this.input.current;
    for (const activation of this.#activations.toReversed()) {
      const sets = this.#ahead(activation, false);
      if (sets.some((tokens) => tokens.has(type))) {
        this.#reportOnce(offset, `missing ${tokenSetText(this.#expected())} at ${quoted(text)}`);
        return true;
      }
      if (sets.at(-1) !== RULE_END) return false;
    }
    return false;
  }

  /** Checks that the next token fits before a choice, an optional part or a turn of a loop; recovers if not. */
  #sync(): void {
    if (this.#isRecovering) return;
    const next = this.input.peek();
    const sets = this.#ahead(this.#activations.at(-1)!, true);
    if (sets.at(-1) === RULE_END || sets.some((tokens) => tokens.has(next))) return;
    if (this.#partAtHand !== undefined) {
      if (!this.#dropSurplus()) throw this.#mismatch();
      return;
    }
    this.#reportSurplus();
    this.#skipTo(union([this.#expected(), this.#followSet()]), Number.POSITIVE_INFINITY);
  }

  get #cursor(): Cursor {
    return this.#activations.at(-1)!.cursors.at(-1)!;
  }

  /** The current part; `undefined` after a turn of a loop. */
  get #partAtHand(): Part | undefined {
    return this.#cursor.parts[this.#cursor.at - 1];
  }

  /** The tokens that may come in a rule, from the current part or after it: sets of them, with {@link RULE_END} last if the rule may end. */
  #ahead({ cursors }: Activation, atHand: boolean): readonly ReadonlySet<number>[] {
    const sets: ReadonlySet<number>[] = [];
    for (let index = cursors.length - 1; index >= 0; index -= 1) {
      const { parts, at, loop } = cursors[index]!;
      const next = this.#lookahead.first(parts, atHand && index === cursors.length - 1 ? at - 1 : at);
      sets.push(next);
      if (!next.has(EPSILON)) return sets;
      if (loop !== undefined) sets.push(this.#lookahead.first(loop.body));
    }
    sets.push(RULE_END);
    return sets;
  }

  /** The tokens that may come from the current part on. Called only where the rule can't end. */
  #expected(): ReadonlySet<number> {
    return union(this.#ahead(this.#activations.at(-1)!, true));
  }

  /** Reports a problem, unless no token has fitted since the last one. */
  #reportOnce(offset: number, problem: string): void {
    if (this.#isRecovering) return;
    this.#isRecovering = true;
    this.report(offset, problem);
  }

  #recover(): void {
    this.#countRecovery();
    let limit = MAX_SKIPPED_TOKENS;
    const place = this.#partAtHand ?? this.#cursor.parts;
    if (this.#lastIndex === this.input.index && this.#lastPlaces.has(place)) {
      this.input.consume();
      limit -= 1;
    }
    this.#lastIndex = this.input.index;
    this.#lastPlaces.add(place);
    this.#skipTo(this.#followSet(), limit);
  }

  #endRecovery(): void {
    this.#isRecovering = false;
    this.#lastPlaces.clear();
  }

  #countRecovery(): void {
    if (this.#recoveries === MAX_RECOVERIES) {
      this.report(this.input.current.offset, `error recovery attempt limit exceeded: ${MAX_RECOVERIES}`);
      throw new Abandoned(undefined);
    }
    this.#recoveries += 1;
  }

  /** The tokens that may follow any of the rules being parsed. */
  #followSet(): ReadonlySet<number> {
    return union(this.#activations.slice(0, -1).flatMap((caller) => this.#ahead(caller, false)));
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

function union(sets: readonly ReadonlySet<number>[]): ReadonlySet<number> {
  const tokens = new Set<number>();
  for (const set of sets) for (const type of set) if (type !== EPSILON) tokens.add(type);
  return tokens;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\t", "\\t").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}'`;
}

/** Token names in order of type: one alone, several in braces. */
function tokenSetText(types: ReadonlySet<number>): string {
  const names = [...types].sort((a, b) => a - b).map(tokenName);
  return names.length === 1 ? names[0]! : `{${names.join(", ")}}`;
}
