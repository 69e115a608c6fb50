/**
 * The checker's result, for the validators, the static cost estimate and the compiler: the tree with its names resolved, a type for every
 * node, and for every call the overloads that may apply at run time.
 */

import type { Behaviour, KubernetesVersion } from "../data/kubernetes-version.js";
import type { Expr, ParsedExpr } from "./ast.js";
import type { FunctionDeclaration, ObjectTypeDeclaration, ObjectTypeProvider } from "./declarations.js";
import type { Flavour } from "./public-types.js";
import type { Type } from "./types.js";

/**
 * A checked expression. In `expr`, which keeps the ids of the parsed tree:
 * - a chain of selects that names a variable or a type (`authorizer.requestResource`, `net.IP`) is one `ident` of the full name, `rooted` unless it is
 *   a comprehension variable;
 * - a call whose target was a namespace (`optional.of(x)`, `sets.contains(a, b)`) has the full name as `function` and no target.
 */
export interface CheckedExpr {
  readonly parsed: ParsedExpr;
  readonly expr: Expr;
  /** The type of the whole expression. */
  readonly type: Type;
  /** The type of every node by its id, without free type parameters (those are dyn). */
  readonly types: ReadonlyMap<number, Type>;
  /** Ids of the overloads that may apply, by the id of the call, in the order of declaration. */
  readonly overloads: ReadonlyMap<number, readonly string[]>;
  /** Nodes of `expr` (identifiers) that name a type rather than a variable. */
  readonly typeNames: ReadonlySet<number>;
}

/** Everything an environment declares, as parser, checker and compiler look it up. Already restricted to the environment's version. */
export interface Declarations {
  readonly flavour: Flavour;
  /** The environment's version; without one the newest. */
  readonly version: KubernetesVersion;
  /** The behaviour of the server that evaluates. */
  readonly behaviour: Behaviour;
  /** The container in which names are resolved, `""` for none. */
  readonly container: string;
  readonly variables: ReadonlyMap<string, Type>;
  /** Functions by name. */
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly objectTypes: ReadonlyMap<string, ObjectTypeDeclaration>;
  /** Object types beside those. */
  readonly typeProvider: ObjectTypeProvider | undefined;
  /** Whether lists that an expression makes are marked as such. */
  readonly marksLists: boolean;
  /** Type names usable as identifiers, with the type each names (`net.IP`). */
  readonly typeNames: ReadonlyMap<string, Type>;
}
