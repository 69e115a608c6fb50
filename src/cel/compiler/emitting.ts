/** The interface of the emitter that the writers of single kinds of nodes use. */
import type { Behaviour } from "../../data/kubernetes-version.js";
import type { Flavour } from "../public-types.js";
import type { Code, Out } from "./code.js";
import type { Plan, Slot } from "./plan.js";

/** The form of the code. */
export interface EmitOptions {
  readonly counting: boolean;
  readonly exact: boolean;
  readonly trace: boolean;
  /** Whether a generator is written, which yields where others must have their turn. */
  readonly pauses: boolean;
  /** The flavour whose rules apply. */
  readonly flavour: Flavour;
  readonly behaviour: Behaviour;
  /** Whether lists that an expression makes are marked as such. */
  readonly marksLists: boolean;
}

/** How a loop's variable is read where its name occurs. */
export interface Local {
  readonly code: string;
  readonly can: number;
}

/** Writes nodes, and counts what they cost. */
export interface Emitting {
  readonly code: Code;
  readonly options: EmitOptions;
  /** Accumulators whose start is evaluated at first use: the code for it. */
  readonly lazy: Map<Slot, () => Local>;
  /** Writes a node; attributes with the cost of their root. */
  emit(plan: Plan): Out;
  /** Writes a node that is the branch of a conditional or stands inside `[]`: there an attribute's root costs nothing. */
  emitRootless(plan: Plan): Out;
  /** Reports a value when tracing is compiled in. */
  traced(id: number, value: string): void;
  /** Adds units of cost, each an addition of its own. */
  units(count: number | string): void;
  /** Adds the cost of one call. */
  lump(cost: number | string): void;
  /** Accounts for work before it is done (see `Work`), where there is a deadline. */
  work(units: number | string): void;
  /** The JavaScript variable that holds a binding as it was given. */
  global(name: string): string;
  /** Sets how a loop's variable is read. */
  bind(slot: Slot, local: Local): void;
  /** The reading of a loop's variable. */
  local(slot: Slot): Local;
}
