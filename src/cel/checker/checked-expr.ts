/** What the checker takes and what it yields: the contract between front end and back end. */
import type { Expr, MacroCalls } from "../ast.js";
import type { FunctionDeclaration, ObjectTypeDeclaration } from "../declarations.js";
import type { Type } from "../types.js";
import type { Value } from "../values/value.js";

/** What a name or call of the expression stands for. */
export type Reference =
  /** A variable of the environment or of an enclosing comprehension, by its full (possibly dotted) name. */
  | { readonly kind: "variable"; readonly name: string }
  /** A type used as a value (`int`, `net.IP`), or the type of a message literal. */
  | { readonly kind: "type"; readonly name: string; readonly type: Type }
  /** An enum member or other constant. */
  | { readonly kind: "constant"; readonly name: string; readonly value: Value }
  /** A call: its function's full name and the ids of the overloads that fit, in order of declaration. */
  | { readonly kind: "function"; readonly name: string; readonly overloads: readonly string[] };

/** An expression that passed the checker. */
export interface CheckedExpr {
  readonly source: string;
  /**
   * The tree with names resolved: dotted variables are one ident, namespaced functions free calls of their full name, message types full names.
   * An ident is `rooted` exactly when a comprehension variable of the same name is in scope and the global one is meant.
   */
  readonly expr: Expr;
  /** The type of every node by id; type parameters left free are dyn. */
  readonly types: ReadonlyMap<number, Type>;
  /** What idents, calls and message literals refer to, by node id. Absent for nodes that refer to nothing. */
  readonly references: ReadonlyMap<number, Reference>;
  readonly macroCalls: MacroCalls;
  readonly maxId: number;
}

/** The names an expression may use. */
export interface CheckerScope {
  /** Variables by name; dotted names allowed. */
  readonly variables: ReadonlyMap<string, Type>;
  /** Object types by full name. */
  readonly objectTypes: ReadonlyMap<string, ObjectTypeDeclaration>;
  /** Functions by internal name (`_+_`, `size`, `optional.none`), with the overloads of this environment only. */
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  /** Names of types usable as identifiers with the type they name: `int`, `optional_type`, `net.IP`. */
  readonly typeNames: ReadonlyMap<string, Type>;
  /** Enum members and other constants by full name (`standard` only). */
  readonly constants?: ReadonlyMap<string, Value>;
  /** The container names are resolved in; empty for none. */
  readonly container: string;
}
