/** What an expression refers to, found once when it is compiled. */
import type { Expr } from "./ast.js";
import type { CheckedExpr } from "./checked.js";
import type { References, VariableReference } from "./public-types.js";
import { walk } from "./walk.js";

/** Functions with a name that can be written; operators, and what macros use, have others. */
const WRITABLE = /^[A-Za-z_][\w.]*$/;

/** The variables and functions of the environment that an expression names. */
export function referencesOf({ expr, types, typeNames }: CheckedExpr): References {
  /** The fields that are read of a variable; `undefined` once it is used in another way. */
  const variables = new Map<string, Set<string> | undefined>();
  const functions = new Set<string>();
  const loops = new Set<string>();
  const operands = new Set<Expr>();
  const isVariable = (node: Expr): node is Extract<Expr, { kind: "ident" }> =>
    node.kind === "ident" && !typeNames.has(node.id) && (node.rooted || !loops.has(node.name));
  const read = (operand: Expr, field: string): void => {
    if (!isVariable(operand) || types.get(operand.id)?.kind !== "object") return;
    operands.add(operand);
    if (!variables.has(operand.name)) variables.set(operand.name, new Set());
    variables.get(operand.name)?.add(field);
  };
  // Parents come first, so that a loop's variables are known before they are met.
  walk(expr, (node) => {
    if (node.kind === "comprehension")
      for (const name of [node.accuVar, node.iterVar, node.iterVar2 ?? ""]) loops.add(name);
    else if (node.kind === "select") read(node.operand, node.field);
    else if (node.kind === "call") {
      if (WRITABLE.test(node.function)) functions.add(node.function);
      const [operand, key] = node.args;
      if (node.function === "_?._" && operand !== undefined && key?.kind === "literal")
        read(operand, String(key.value));
    } else if (isVariable(node) && !operands.has(node)) variables.set(node.name, undefined);
  });
  return {
    variables: [...variables].map(([name, fields]): VariableReference => ({ name, fields: fields && [...fields] })),
    functions: [...functions],
  };
}

/** Whether an expression names a variable: it itself, or one that is declared under its name (`authorizer.requestResource`). */
export const namesVariable = ({ variables }: References, variable: string): boolean =>
  variables.some(({ name }) => name === variable || name.startsWith(`${variable}.`));
