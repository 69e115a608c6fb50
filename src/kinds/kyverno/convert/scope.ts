/** The names that the expressions of a rule can use, and the place where they stand. */
import type { FieldPath } from "../../../kubernetes/field-error.js";
import type { Cel } from "./cel-text.js";
import type { Shape } from "./pattern/shape.js";
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
  /** Context variables, `element`, `elementIndex`, `element0` and the like, by their names in the old language; a function: converted where it is first used. */
  readonly names: ReadonlyMap<string, Term | (() => Term)>;
  /** The policy that is written. Match conditions can't name its variables: where `inline` is set, expressions are repeated instead. */
  readonly draft: RuleDraft;
  readonly inline: boolean;
  /** The rule's name, as it stands in the old policy. */
  readonly rule: string;
  /** The schema of the object; absent unless it is of built-in kinds. */
  readonly shape?: Shape | undefined;
  /** How many loops are around this place: names of loops that are free begin with this number. */
  readonly depth: number;
  /** Of a Policy: its namespace, whose objects alone it may look up. */
  readonly namespace?: string;
}

/** The scope with more names. */
export const withNames = (scope: Scope, names: Iterable<readonly [string, Term | (() => Term)]>): Scope => ({
  ...scope,
  names: new Map([...scope.names, ...names]),
});

/** The name of the next loop's variable, and the scope inside of the loop. */
export const loopOf = (scope: Scope, name = "e"): { readonly name: string; readonly inner: Scope } => ({
  name: scope.depth === 0 ? name : `${name}${scope.depth}`,
  inner: { ...scope, depth: scope.depth + 1 },
});

/**
 * Writes what a rule checks into a draft.
 * @param body the value of its key, such as `pattern`
 * @param message `validate.message`, `""` without one
 * @param path of the body, below the rule
 */
export type RuleWriter = (body: unknown, message: string, scope: Scope, path: FieldPath) => void;
