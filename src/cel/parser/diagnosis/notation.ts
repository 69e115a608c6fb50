/** The notation of the grammar. */

/** A part of a rule. */
export type Part =
  | { readonly kind: "token"; readonly types: ReadonlySet<number>; readonly label: string }
  | { readonly kind: "rule"; readonly rule: string; readonly precedence: number; readonly label: string }
  | { readonly kind: "optional"; readonly body: readonly Part[] }
  | {
      readonly kind: "loop";
      /** At least one iteration. */
      readonly plus: boolean;
      readonly body: readonly Part[];
      /** Decides whether another iteration follows; without it the next token decides. */
      readonly goesOn: Decision<boolean> | undefined;
    }
  | {
      readonly kind: "choice";
      readonly alternatives: readonly Alternative[];
      /** The index of the alternative, unless the next token alone decides it. */
      readonly choose: Decision<number | undefined> | undefined;
    };

/** An alternative, with the name of its tree node. */
export interface Alternative {
  readonly name: string;
  /** Of a suffix: it applies where the rule's current precedence is not above. */
  readonly precedence: number;
  readonly parts: readonly Part[];
}

/** The inputs of a decision. */
export interface Outlook {
  /** The type of the `ahead`-th token from here, from 1 on. */
  readonly peek: (ahead: number) => number;
  /** The tokens that some parts, or a rule, may begin with. */
  readonly first: (what: readonly Part[] | string) => ReadonlySet<number>;
  /** The current precedence of a rule that calls itself. */
  readonly precedence: number;
}

/** A decision from the tokens ahead. */
export type Decision<T> = (outlook: Outlook) => T | NotViable;

/** The result when no alternative of the rule begins with the tokens up to and with the `ahead`-th. */
export class NotViable {
  constructor(readonly ahead: number) {}
}

/** One of some tokens. */
export const token = (label: string, ...types: readonly number[]): Part => ({
  kind: "token",
  types: new Set(types),
  label,
});

/** A rule; `precedence` for those that call themselves. */
export const rule = (label: string, name: string, precedence = 0): Part => ({
  kind: "rule",
  rule: name,
  precedence,
  label,
});

/** Zero or one. */
export const optional = (...body: readonly Part[]): Part => ({ kind: "optional", body });

/** Any number. */
export const many = (body: readonly Part[], goesOn?: Decision<boolean>): Part => ({
  kind: "loop",
  plus: false,
  body,
  goesOn,
});

/** One or more. */
export const some = (body: readonly Part[], goesOn?: Decision<boolean>): Part => ({
  kind: "loop",
  plus: true,
  body,
  goesOn,
});

/** An alternative that gives its node a name. */
export const named = (name: string, ...parts: readonly Part[]): Alternative => suffix(name, 0, ...parts);

/** One of some alternatives. */
export const choice = (alternatives: readonly Alternative[], choose?: Decision<number | undefined>): Part => ({
  kind: "choice",
  alternatives,
  choose,
});

/** An alternative for {@link suffixes} of a rule that calls itself. */
export const suffix = (name: string, precedence: number, ...parts: readonly Part[]): Alternative => ({
  name,
  precedence,
  parts,
});

/** Any number of suffixes. */
export const suffixes = (alternatives: readonly Alternative[], choose?: Decision<number | undefined>): Part =>
  many([choice(alternatives, choose)], ({ peek, precedence, first }) =>
    alternatives.some((each) => each.precedence >= precedence && first(each.parts).has(peek(1))),
  );
