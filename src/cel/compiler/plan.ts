/**
 * The plan that the planner makes of a checked expression, and that the emitter writes as JavaScript. Its nodes are those of the rules of cost and errors
 * (spec kubernetes-cel.md 5.2): an identifier and its chain of selections is one node, constants are folded, lazy calls are nodes of their own.
 */

import type { Expr } from "../ast.js";
import type { StatefulCall, WorkRule } from "../declarations.js";
import type { Parts } from "../operators/kind.js";
import type { Type } from "../types.js";
import type { CelError } from "../values/cel-error.js";
import type { Result, Value } from "../values/value.js";

interface Node {
  /** The id of the expression node. */
  readonly id: number;
}

/** A constant. */
export interface ConstPlan extends Node {
  readonly kind: "const";
  readonly value: Value;
  /** The cost at each evaluation: of a literal that the reference would make anew. Absent: nothing. */
  readonly cost?: number;
}

/** One step of a chain. `key` is a constant, or a plan evaluated when the step is reached. */
export interface Qualifier {
  readonly id: number;
  readonly key: ConstPlan | Plan;
  readonly optional: boolean;
  /** The last step of `has(e.f)`. */
  readonly test: boolean;
  /** The key is a field that the operand's type declares, as an `ObjectTypeProvider` has it. */
  readonly declared?: boolean;
  /** Since 1.38: the Go type of the parts of a key that is a list or map, for the error. */
  readonly keyParts?: Parts;
  /** The static type of a key that is not constant. */
  readonly keyKind: "string" | "int" | undefined;
}

/** A variable of the environment (`local` undefined) or of an enclosing loop, or any other operand, followed by steps. */
export interface AttributePlan extends Node {
  readonly kind: "attribute";
  /** The id of the root's node. */
  readonly rootId: number;
  /** Whether the root's static type lets it be an optional at run time, so that the steps apply to its content. */
  readonly maybeOptional: boolean;
  readonly root:
    | { readonly kind: "global"; readonly name: string }
    | { readonly kind: "local"; readonly slot: Slot }
    | { readonly kind: "operand"; readonly plan: Plan }
    // The steps apply to the chosen branch, and are written once for both branches: each is a plan of any size.
    | { readonly kind: "choice"; readonly plan: ConditionalPlan };
  readonly qualifiers: readonly Qualifier[];
}

/** A variable of a loop, as the emitter names it. */
export interface Slot {
  readonly name: string;
  /** The range of a loop's variable. */
  readonly range?: Expr;
}

/** `condition ? yes : no`. */
export interface ConditionalPlan extends Node {
  readonly kind: "conditional";
  readonly condition: Plan;
  readonly yes: Plan;
  readonly no: Plan;
}

/** `left && right`, `left || right`. */
export interface LogicPlan extends Node {
  readonly kind: "and" | "or";
  readonly left: Plan;
  readonly right: Plan;
}

/** `left.or(right)` and `left.orValue(right)`. */
export interface OptionalOrPlan extends Node {
  readonly kind: "or-optional" | "or-value";
  readonly left: Plan;
  readonly right: Plan;
}

/** The function behind a call: its arguments are values, never errors. */
export type Callee = (...args: readonly Value[]) => Result;

/** The function behind a call that depends on the evaluation's state. */
export interface StatefulCallee {
  /** The function's name. */
  readonly name: string;
  /** The function to call with these arguments: the overload's own `call`, which identifies the call wherever it stands. */
  readonly choose: (args: readonly Value[]) => StatefulCall;
}

/** The cost of a call that has happened; arguments may be errors. */
export type CostRule = (args: readonly Result[], result: Result) => number;

/** A strict call. */
export interface CallPlan extends Node {
  readonly kind: "call";
  readonly name: string;
  /** The overload, when the checker has left one. */
  readonly overload: string | undefined;
  readonly args: readonly Plan[];
  /** The overload on texts, among those that may be called, that can be written in place: it is the one when all arguments have its types. */
  readonly textOverload: string | undefined;
  /** `undefined` for operators, which the emitter builds itself, and where there is `stateful`. */
  readonly callee: Callee | undefined;
  readonly stateful: StatefulCallee | undefined;
  /** A number, or a rule that reads arguments and result. */
  readonly cost: number | CostRule;
  /** The static kinds of the arguments, to choose what the emitter tries first. */
  readonly kinds: readonly Type["kind"][];
  /** Arguments are evaluated one after the other and the first error ends it; otherwise all are evaluated first. */
  readonly stopsAtError: boolean;
  /** Whether it is one of the language's own functions, of which the emitter may know a faster form. */
  readonly known: boolean;
  /** The declared work of an added function. */
  readonly work: WorkRule | undefined;
}

/** `element in [constants]` where all of them are bools, numbers or strings. */
export interface MembershipPlan extends Node {
  readonly kind: "membership";
  readonly element: Plan;
  readonly contains: (value: Value) => boolean;
  /** The set, when all elements are strings. */
  readonly strings: ReadonlySet<string> | undefined;
  /** Cost units; 0 where the reference makes the set while planning. */
  readonly cost: number;
}

/** A list literal that is not constant. */
export interface ListPlan extends Node {
  readonly kind: "list";
  readonly elements: readonly Plan[];
  readonly optional: readonly boolean[];
}

/** A map literal that is not constant. */
export interface MapPlan extends Node {
  readonly kind: "map";
  readonly entries: readonly { readonly key: Plan; readonly value: Plan; readonly optional: boolean }[];
}

/** A message literal. */
export interface StructPlan extends Node {
  readonly kind: "struct";
  readonly fields: readonly { readonly name: string; readonly value: Plan; readonly optional: boolean }[];
  readonly construct: (fields: ReadonlyMap<string, Value>) => Result;
}

/** A comprehension. */
export interface FoldPlan extends Node {
  readonly kind: "fold";
  readonly range: Plan;
  readonly first: Slot;
  readonly second: Slot | undefined;
  readonly accumulator: Slot;
  readonly start: Plan;
  readonly condition: Plan;
  readonly step: Plan;
  readonly result: Plan;
}

/** Any node. */
export type Plan =
  | ConstPlan
  | AttributePlan
  | ConditionalPlan
  | LogicPlan
  | OptionalOrPlan
  | CallPlan
  | MembershipPlan
  | ListPlan
  | MapPlan
  | StructPlan
  | FoldPlan;

/** Conversions that are made while planning when their argument is constant (spec kubernetes-cel.md 3.2). */
export const FOLDED: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "duration",
  "dyn",
  "int",
  "string",
  "timestamp",
  "type",
  "uint",
]);

/** Operators that the emitter writes itself. */
export const OPERATORS: ReadonlySet<string> = new Set([
  "_+_",
  "_-_",
  "_*_",
  "_/_",
  "_%_",
  "-_",
  "!_",
  "_<_",
  "_<=_",
  "_>_",
  "_>=_",
  "_==_",
  "_!=_",
  "@in",
  "@not_strictly_false",
  "cel.@mapInsert",
]);

/** An error found while planning: phase `program` (spec kubernetes-cel.md 0.1, `P`). */
export class PlanError extends Error {
  constructor(error: CelError | string) {
    super(typeof error === "string" ? error : error.message);
  }
}
