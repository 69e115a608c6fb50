/** What the expressions of a rule can name, and where they stand. */
import type { Cel } from "./cel-text.js";
import type { RuleDraft } from "./rule-draft.js";
import type { Term } from "./term.js";

/** The objects that expressions look at. */
export interface Roots {
  readonly object: Cel;
  readonly oldObject: Cel;
  /**
   * Of a rule about Pods that judges their controllers, too: the object with the Pod's `metadata` and `spec`, such as `variables.pod`. `request.object.spec` and
   * `request.object.metadata` are its members then. Absent: as `object` and `oldObject`.
   */
  readonly pod?: { readonly object: Cel; readonly oldObject: Cel };
}

/** The names of one place. */
export interface Scope {
  readonly roots: Roots;
  /** Context variables, `element`, `elementIndex`, `element0` and the like, by their names in the old language. */
  readonly names: ReadonlyMap<string, Term>;
  /** The policy that is written. Match conditions can't name its variables: where `inline` is set, expressions are repeated instead. */
  readonly draft: RuleDraft;
  readonly inline: boolean;
  /** The rule's name, as it stands in the old policy. */
  readonly rule: string;
  /** How many loops are around this place: names of loops that are free begin with this number. */
  readonly depth: number;
}

/** The scope with more names. */
export const withNames = (scope: Scope, names: Iterable<readonly [string, Term]>): Scope => ({
  ...scope,
  names: new Map([...scope.names, ...names]),
});
