/** The notation in which the grammar is written down. */

/** A part of a rule. */
export type Part =
  | { readonly kind: "token"; readonly types: readonly number[]; readonly label: string }
  | { readonly kind: "rule"; readonly rule: string; readonly precedence: number; readonly label: string }
  | { readonly kind: "predicate"; readonly precedence: number }
  | { readonly kind: "optional"; readonly parts: readonly Part[] }
  | {
      readonly kind: "loop";
      readonly plus: boolean;
      readonly oneToken: boolean;
      readonly recursive: boolean;
      readonly alternatives: readonly NamedParts[];
    }
  | { readonly kind: "choice"; readonly oneToken: boolean; readonly alternatives: readonly NamedParts[] };

/** An alternative, with the name its tree node gets. */
export interface NamedParts {
  readonly name: string | undefined;
  readonly parts: readonly Part[];
}

/** One of some tokens. */
export const token = (label: string, ...types: readonly number[]): Part => ({ kind: "token", types, label });

/** A rule; `precedence` for those that call themselves. */
export const rule = (label: string, name: string, precedence = 0): Part => ({
  kind: "rule",
  rule: name,
  precedence,
  label,
});

/** Zero or one. */
export const optional = (...parts: readonly Part[]): Part => ({ kind: "optional", parts });

/** An alternative that gives its node a name. */
export const named = (name: string, ...parts: readonly Part[]): NamedParts => ({ name, parts });

/** A choice that needs more than one token of lookahead. */
export const choice = (...alternatives: readonly NamedParts[]): Part => ({
  kind: "choice",
  oneToken: false,
  alternatives,
});

/** A choice by the next token. */
export const switchOn = (...alternatives: readonly NamedParts[]): Part => ({
  kind: "choice",
  oneToken: true,
  alternatives,
});

/** Any number, going on decided by the next token. */
export const many = (...parts: readonly Part[]): Part => loop(false, true, parts);

/** Any number, going on decided by prediction. */
export const predictedMany = (...parts: readonly Part[]): Part => loop(false, false, parts);

/** One or more, going on decided by the next token. */
export const some = (...parts: readonly Part[]): Part => loop(true, true, parts);

/** One or more, going on decided by prediction. */
export const predictedSome = (...parts: readonly Part[]): Part => loop(true, false, parts);

const loop = (plus: boolean, oneToken: boolean, parts: readonly Part[]): Part => ({
  kind: "loop",
  plus,
  oneToken,
  recursive: false,
  alternatives: [{ name: undefined, parts }],
});

/** A suffix of a rule that calls itself; it applies where its precedence is at least the rule's current one. */
export const suffix = (name: string, precedence: number, ...parts: readonly Part[]): NamedParts => ({
  name,
  parts: [{ kind: "predicate", precedence }, ...parts],
});

/** Any number of suffixes. */
export const suffixes = (...alternatives: readonly NamedParts[]): Part => ({
  kind: "loop",
  plus: false,
  oneToken: false,
  recursive: true,
  alternatives,
});
