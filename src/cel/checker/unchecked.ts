/**
 * Conversion of parsed expressions without a check: every node is dyn, the kinds of arguments decide what calls do, and unknown names are errors only
 * when evaluation reaches them.
 */
import type { CallExpr, Expr, IdentExpr, ParsedExpr } from "../ast.js";
import type { CheckedExpr, Declarations } from "../checked.js";
import { DYN, type Type } from "../types.js";
import { dottedPath } from "./dotted-path.js";
import { Names } from "./names.js";

/** The parsed expression with its names resolved, in the shape of a checked one. */
export function unchecked(parsed: ParsedExpr, declarations: Declarations): CheckedExpr {
  const resolver = new Resolver(new Names(declarations));
  const expr = resolver.resolve(parsed.expr, new Set());
  return { parsed, expr, type: DYN, types: resolver.types, overloads: new Map(), typeNames: resolver.typeNames };
}

type Scope = ReadonlySet<string>;

class Resolver {
  readonly types = new Map<number, Type>();
  readonly typeNames = new Set<number>();

  readonly #names: Names;

  constructor(names: Names) {
    this.#names = names;
  }

  resolve(expr: Expr, scope: Scope): Expr {
    const name = this.#name(expr, scope);
    if (name !== undefined) return name;
    switch (expr.kind) {
      case "literal":
      case "ident":
        return expr;
      case "select":
        return { ...expr, operand: this.resolve(expr.operand, scope) };
      case "call":
        return this.#call(expr, scope);
      case "list":
        return { ...expr, elements: expr.elements.map((element) => this.resolve(element, scope)) };
      case "map": {
        const entries = expr.entries.map((entry) => ({
          ...entry,
          key: this.resolve(entry.key, scope),
          value: this.resolve(entry.value, scope),
        }));
        return { ...expr, entries };
      }
      case "struct": {
        const fields = expr.fields.map((field) => ({ ...field, value: this.resolve(field.value, scope) }));
        return { ...expr, typeName: this.#names.resolveType(expr.typeName, false)?.name ?? expr.typeName, fields };
      }
      case "comprehension": {
        const withAccumulator = new Set([...scope, expr.accuVar]);
        const inner = new Set([
          ...withAccumulator,
          expr.iterVar,
          ...(expr.iterVar2 === undefined ? [] : [expr.iterVar2]),
        ]);
        return {
          ...expr,
          range: this.resolve(expr.range, scope),
          accuInit: this.resolve(expr.accuInit, scope),
          loopCondition: this.resolve(expr.loopCondition, inner),
          loopStep: this.resolve(expr.loopStep, inner),
          result: this.resolve(expr.result, withAccumulator),
        };
      }
    }
  }

  /** The ident for a chain that names a variable or type. */
  #name(expr: Expr, scope: Scope): Expr | undefined {
    if (expr.kind === "select" && expr.testOnly) return undefined;
    const path = dottedPath(expr);
    if (path === undefined || (!path.rooted && scope.has(path.first))) return undefined;
    const resolved = this.#names.resolve(path.name, path.rooted);
    if (resolved === undefined) return undefined;
    if (resolved.isType) {
      this.typeNames.add(expr.id);
      this.types.set(expr.id, resolved.type);
    }
    return { kind: "ident", id: expr.id, offset: expr.offset, name: resolved.name, rooted: true } satisfies IdentExpr;
  }

  #call(expr: CallExpr, scope: Scope): Expr {
    const args = expr.args.map((arg) => this.resolve(arg, scope));
    if (expr.target === undefined) {
      const name = this.#names.resolveFunction(expr.function, expr.rooted)?.name ?? expr.function;
      return { ...expr, function: name, args };
    }
    const path = dottedPath(expr.target);
    if (path !== undefined && !scope.has(path.first)) {
      const free = this.#names.resolveFunction(`${path.name}.${expr.function}`, path.rooted);
      if (free !== undefined) return { ...expr, target: undefined, function: free.name, args };
    }
    return { ...expr, target: this.resolve(expr.target, scope), args };
  }
}
