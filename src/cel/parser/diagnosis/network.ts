/**
 * The grammar as a network of states, in which errors are explained: the reference's parser predicts and recovers on such a network, and
 * its messages follow from the network's shape (spec kubernetes-cel.md 1.9).
 */

/** The kinds of states that error recovery tells apart. */
export type StateKind = "basic" | "blockStart" | "blockEnd" | "loopEntry" | "loopBack" | "ruleStart" | "ruleStop";

/** An edge. `tokens` consume one token; `rule` enters a rule and goes on at `follow` after it; the others consume nothing. */
export type Edge =
  | { readonly kind: "epsilon"; readonly target: State; readonly returnsFrom: string | undefined }
  | { readonly kind: "tokens"; readonly target: State; readonly types: ReadonlySet<number> }
  | { readonly kind: "predicate"; readonly target: State; readonly precedence: number }
  | {
      readonly kind: "rule";
      readonly target: State;
      readonly rule: string;
      readonly precedence: number;
      readonly follow: State;
    };

/** A state. Edges are added while the network is built. */
export interface State {
  readonly id: number;
  readonly kind: StateKind;
  readonly rule: string;
  readonly edges: Edge[];
  /** Set on the loop entry of a rule that calls itself for its right operand. */
  readonly isPrecedenceLoop: boolean;
  /** Set on the state where such calls return to. */
  readonly isSelfReturn: boolean;
}

/** Something to do while parsing a rule, with the states that say where the parser is. */
export type Step =
  | { readonly kind: "token"; readonly state: State; readonly types: ReadonlySet<number>; readonly label: string }
  | {
      readonly kind: "rule";
      readonly state: State;
      readonly rule: string;
      readonly precedence: number;
      readonly label: string;
    }
  | { readonly kind: "optional"; readonly start: State; readonly body: readonly Step[]; readonly bodyStart: State }
  | {
      readonly kind: "loop";
      /** At least one iteration. */
      readonly plus: boolean;
      readonly start: State;
      readonly back: State;
      /** The state where going on or leaving is decided. */
      readonly decision: State;
      /** Decided by one token; otherwise by prediction. */
      readonly oneToken: boolean;
      readonly body: readonly Step[];
      readonly bodyStart: State;
      /** Of suffixes, in a rule that calls itself. */
      readonly recursive: boolean;
    }
  | {
      readonly kind: "choice";
      readonly state: State;
      readonly oneToken: boolean;
      /** The alternatives are suffixes: what was parsed so far becomes part of a new node of the rule. */
      readonly wraps: boolean;
      readonly alternatives: readonly Alternative[];
    };

/** One alternative of a choice; a name becomes the kind of the tree's node. */
export interface Alternative {
  readonly name: string | undefined;
  readonly start: State;
  readonly steps: readonly Step[];
}

/** A rule of the grammar. */
export interface Rule {
  readonly name: string;
  readonly start: State;
  readonly stop: State;
  readonly steps: readonly Step[];
}

/** The whole grammar. */
export interface Network {
  readonly rules: ReadonlyMap<string, Rule>;
  readonly states: readonly State[];
}
