/** The names that an expression refers to, found once when it is compiled. */
import type { Expr, IdentExpr } from "./ast.js";
import type { CheckedExpr } from "./checked.js";
import type { References } from "./public-types.js";

/** The variables and functions of the environment that an expression names. */
export function referencesOf(checked: CheckedExpr): References {
  const finder = new Finder(checked);
  finder.visit(checked.expr);
  // Copied to their size: arrays that have grown keep room for more.
  return { variables: finder.variables.slice(), functions: finder.functions.slice() };
}

/** A variable while its fields are collected. */
interface Found {
  readonly name: string;
  fields: string[] | undefined;
}

/** Names that can be written: not those of operators, or of functions that only macros use. */
const WRITABLE = /^[A-Za-z_][\w.]*$/;

/** Walks one tree. Every expression is walked, and names few things: lists are searched faster than sets are made. */
class Finder {
  readonly variables: Found[] = [];
  readonly functions: string[] = [];
  readonly #checked: CheckedExpr;
  /** Names of enclosing loops' variables. */
  readonly #loops: string[] = [];

  constructor(checked: CheckedExpr) {
    this.#checked = checked;
  }

  visit(expr: Expr): void {
    switch (expr.kind) {
      case "literal":
        return;
      case "ident":
        if (this.#isVariable(expr)) this.#found(expr.name, undefined).fields = undefined;
        return;
      case "select":
        this.#select(expr.operand, expr.field);
        return;
      case "call":
        this.#call(expr);
        return;
      case "list":
        for (const element of expr.elements) this.visit(element);
        return;
      case "map":
        for (const { key, value } of expr.entries) {
          this.visit(key);
          this.visit(value);
        }
        return;
      case "struct":
        for (const { value } of expr.fields) this.visit(value);
        return;
      case "comprehension": {
        this.visit(expr.range);
        this.visit(expr.accuInit);
        const depth = this.#loops.length;
        this.#loops.push(expr.accuVar, expr.iterVar, expr.iterVar2 ?? expr.iterVar);
        this.visit(expr.loopCondition);
        this.visit(expr.loopStep);
        this.#loops.length = depth + 1;
        this.visit(expr.result);
        this.#loops.length = depth;
      }
    }
  }

  #call({ function: name, target, args }: Extract<Expr, { kind: "call" }>): void {
    const [operand, key] = args;
    if (name === "_?._" && operand !== undefined && key?.kind === "literal") {
      this.#select(operand, String(key.value));
      return;
    }
    if (WRITABLE.test(name) && !this.functions.includes(name)) this.functions.push(name);
    if (target !== undefined) this.visit(target);
    for (const arg of args) this.visit(arg);
  }

  #select(operand: Expr, field: string): void {
    const typed = operand.kind === "ident" && this.#checked.types.get(operand.id)?.kind === "object";
    if (!typed || !this.#isVariable(operand)) {
      this.visit(operand);
      return;
    }
    const { fields } = this.#found(operand.name, []);
    if (fields?.includes(field) === false) fields.push(field);
  }

  /** The variable, with these fields when it is met for the first time. */
  #found(name: string, fields: string[] | undefined): Found {
    const known = this.variables.find((each) => each.name === name);
    if (known !== undefined) return known;
    const found: Found = { name, fields };
    this.variables.push(found);
    return found;
  }

  #isVariable({ id, name, rooted }: IdentExpr): boolean {
    return (rooted || !this.#loops.includes(name)) && !this.#checked.typeNames.has(id);
  }
}

/** Whether an expression names a variable: it itself, or one that is declared under its name (`authorizer.requestResource`). */
export const namesVariable = ({ variables }: References, variable: string): boolean =>
  variables.some(({ name }) => name === variable || name.startsWith(`${variable}.`));
