/** What can be said of a call of `format` before it runs: its format string and its list of arguments are literals (spec kubernetes-cel.md 4.3). */
import type { Expr } from "../../ast.js";
import type { Type } from "../../types.js";
import { type Dialect, type Letter, readClause } from "./dialect.js";
import { grouped } from "./grouped.js";
import { plain } from "./plain.js";

/** A mistake in a call of `format`. */
export interface FormatProblem {
  /** The argument, or a part of it, that is wrong; `undefined` when it is the call as a whole. */
  readonly id: number | undefined;
  readonly message: string;
}

/**
 * Checks a literal format string against the elements of a literal list.
 *
 * @param typeOf the checked type of an expression
 * @returns the first problem
 */
export function checkFormat(
  flavour: "kubernetes" | "standard",
  format: string,
  args: readonly Expr[],
  typeOf: (expr: Expr) => Type,
): FormatProblem | undefined {
  const dialect = flavour === "kubernetes" ? grouped : plain;
  let used = 0;
  for (let at = format.indexOf("%"); at !== -1; ) {
    if (format[at + 1] === "%") {
      at = format.indexOf("%", at + 2);
      continue;
    }
    if (at + 1 >= format.length) return { id: undefined, message: "unexpected end of string" };
    const arg = args[used];
    if (arg === undefined) return { id: undefined, message: `index ${used} out of range` };
    used++;
    const clause = readClause(format, at, dialect.maxPrecision);
    if (typeof clause === "string") return { id: undefined, message: clause };
    const wrong = wrongPart(dialect, clause.letter, arg, typeOf);
    if (wrong !== undefined) {
      const kind = typeNameOfType(typeOf(wrong));
      return {
        id: wrong.id,
        message: `error during formatting: ${dialect.complaints[clause.letter]}, was given ${kind}`,
      };
    }
    at = format.indexOf("%", clause.next);
  }
  if (args.length <= used) return undefined;
  const message = `too many arguments supplied to string.format (expected ${used}, got ${args.length})`;
  return { id: undefined, message };
}

/** The kinds that `%s` takes. */
const PRINTABLE: readonly string[] = [
  "list",
  "map",
  "int",
  "uint",
  "double",
  "bool",
  "string",
  "timestamp",
  "bytes",
  "duration",
  "type",
  "null",
];

/** The argument, or what is inside its literals, that the clause does not take. */
function wrongPart(dialect: Dialect, letter: Letter, expr: Expr, typeOf: (expr: Expr) => Type): Expr | undefined {
  const kind = kindOfType(typeOf(expr));
  const kinds = letter === "s" ? PRINTABLE : dialect.kinds[letter];
  if (kind !== "dyn" && !kinds.includes(kind)) return expr;
  if (letter !== "s") return undefined;
  for (const part of partsOf(expr)) {
    const wrong = wrongPart(dialect, letter, part, typeOf);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function partsOf(expr: Expr): readonly Expr[] {
  if (expr.kind === "list") return expr.elements;
  return expr.kind === "map" ? expr.entries.flatMap(({ key, value }) => [key, value]) : [];
}

const kindOfType = (type: Type): string => (type.kind === "wrapper" ? kindOfType(type.of) : type.kind);

/** The type's name without its parameters. */
function typeNameOfType(type: Type): string {
  switch (type.kind) {
    case "opaque":
    case "object":
      return type.name;
    case "timestamp":
      return "google.protobuf.Timestamp";
    case "duration":
      return "google.protobuf.Duration";
    case "null":
      return "null_type";
    case "wrapper":
      return typeNameOfType(type.of);
    default:
      return type.kind;
  }
}
