/** Macros: calls that the parser replaces by another expression (spec kubernetes-cel.md 1.8). */
import type { Expr } from "../ast.js";
import type { NodeFactory } from "../parser/node-factory.js";

/** The error of a malformed macro call, at a place. */
export class MacroError {
  constructor(
    readonly offset: number,
    readonly message: string,
  ) {}
}

/**
 * Replaces a call. `target` is undefined for free macros. Answers `undefined` when the call is not the macro's after all (then it stays
 * a call), and a {@link MacroError} when it is malformed. New nodes take their place from `factory.offset`, the call's `(`.
 */
export type MacroExpander = (
  factory: NodeFactory,
  target: Expr | undefined,
  args: readonly Expr[],
) => Expr | MacroError | undefined;

/** A macro is recognised by name, style and number of arguments; `arity` undefined means any number. */
export interface Macro {
  readonly name: string;
  readonly member: boolean;
  readonly arity: number | undefined;
  readonly expand: MacroExpander;
}

/** The macros of an environment, for look-up by call. */
export class MacroTable {
  readonly #byKey = new Map<string, Macro>();
  readonly #names = new Set<string>();

  constructor(readonly macros: readonly Macro[]) {
    for (const macro of macros) {
      this.#byKey.set(key(macro.name, macro.arity, macro.member), macro);
      this.#names.add(macro.name);
    }
  }

  /** The macro that a call of this shape is, if any. */
  find(name: string, arity: number, member: boolean): Macro | undefined {
    if (!this.#names.has(name)) return undefined;
    return this.#byKey.get(key(name, arity, member)) ?? this.#byKey.get(key(name, undefined, member));
  }
}

function key(name: string, arity: number | undefined, member: boolean): string {
  return `${name}:${arity ?? "*"}:${member}`;
}
