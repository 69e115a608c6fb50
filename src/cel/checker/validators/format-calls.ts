/** Checks `format` calls on literal strings with literal lists (spec kubernetes-cel.md 4.3 and 7.4). */
import type { CallExpr, Expr } from "../../ast.js";
import type { CheckedExpr } from "../../checked.js";
import type { IssueCollector } from "../../issues.js";
import { runtimeTypeName, type Type } from "../../types.js";
import { unwrapped } from "../type-relations.js";

/** A clause's letter, whose argument must be of one of these kinds, and the start of the message when it isn't. */
interface Clause {
  readonly kinds: ReadonlySet<string>;
  readonly complaint: string;
}

const NUMBERS = ["int", "uint"];
const PRINTABLE = "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps";

const clause = (complaint: string, ...kinds: readonly string[]): Clause => ({ kinds: new Set(kinds), complaint });

const STRING_CLAUSE = clause(
  `string clause can only be used on ${PRINTABLE}`,
  ...NUMBERS,
  ...["list", "map", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null"],
);
const HEX_CLAUSE = clause(
  "only integers, byte buffers, and strings can be formatted as hex",
  ...NUMBERS,
  ...["string", "bytes"],
);

const CLAUSES: ReadonlyMap<string, Clause> = new Map([
  ["s", STRING_CLAUSE],
  ["d", clause("decimal clause can only be used on integers", ...NUMBERS)],
  ["f", clause("fixed-point clause can only be used on doubles", "double", "string")],
  ["e", clause("scientific clause can only be used on doubles", "double", "string")],
  ["b", clause("only integers and bools can be formatted as binary", ...NUMBERS, "bool")],
  ["x", HEX_CLAUSE],
  ["X", HEX_CLAUSE],
  ["o", clause("octal clause can only be used on integers", ...NUMBERS)],
]);

const UNPARSABLE = "could not parse formatting clause: ";
const INT64_MAX = 2n ** 63n - 1n;

/** Whether a call is of the kind that is checked here. */
export function isLiteralFormat(call: CallExpr): boolean {
  const { target, args } = call;
  if (call.function !== "format" || target?.kind !== "literal" || typeof target.value !== "string") return false;
  return args.length === 1 && args[0]!.kind === "list";
}

/** Reports the first clause that fits no argument, or surplus arguments. */
export function validateFormat(call: CallExpr, checked: CheckedExpr, issues: IssueCollector): void {
  const { target, args } = call;
  const [list] = args;
  if (target?.kind !== "literal" || typeof target.value !== "string" || list?.kind !== "list") return;
  const problem = firstProblem(target.value, list.elements, checked);
  if (problem !== undefined) issues.add(problem.argument?.offset ?? call.offset, problem.message);
}

/** The first problem of a pattern with these arguments; one that concerns no argument is the call's. */
function firstProblem(
  pattern: string,
  args: readonly Expr[],
  checked: CheckedExpr,
): { readonly argument?: Expr; readonly message: string } | undefined {
  let used = 0;
  let at = 0;
  for (let percent = pattern.indexOf("%"); percent >= 0; percent = pattern.indexOf("%", at)) {
    if (pattern[percent + 1] === "%") {
      at = percent + 2;
      continue;
    }
    if (percent + 1 === pattern.length) return { message: "unexpected end of string" };
    const argument = args[used];
    if (argument === undefined) return { message: `index ${used} out of range` };
    const read = readClause(pattern, percent + 1);
    if (typeof read === "string") return { message: UNPARSABLE + read };
    const bad = read.clause === STRING_CLAUSE ? unprintable(argument, checked) : unfit(argument, read.clause, checked);
    if (bad !== undefined) {
      const given = runtimeTypeName(checked.types.get(bad.id)!);
      return { argument: bad, message: `error during formatting: ${read.clause.complaint}, was given ${given}` };
    }
    used += 1;
    at = read.end;
  }
  if (args.length <= used) return undefined;
  return { message: `too many arguments supplied to string.format (expected ${used}, got ${args.length})` };
}

/** The clause after a percent sign, or what is wrong with it. */
function readClause(pattern: string, start: number): { readonly clause: Clause; readonly end: number } | string {
  let at = start;
  if (pattern[at] === ".") {
    const digits = /^\d*/.exec(pattern.slice(at + 1))![0];
    at += 1 + digits.length;
    if (at === pattern.length) return "error while parsing precision: could not find end of precision specifier";
    const problem = digits === "" ? "invalid syntax" : BigInt(digits) > INT64_MAX ? "value out of range" : undefined;
    if (problem !== undefined) {
      const cause = `strconv.Atoi: parsing "${digits}": ${problem}`;
      return `error while parsing precision: error while converting precision to integer: ${cause}`;
    }
  }
  const letter = pattern[at]!;
  const found = CLAUSES.get(letter);
  return found === undefined
    ? `unrecognized formatting clause "${firstByte(pattern, at)}"`
    : { clause: found, end: at + 1 };
}

/** The reference reads bytes: of a character beyond ASCII it names the first one. */
function firstByte(pattern: string, at: number): string {
  const character = String.fromCodePoint(pattern.codePointAt(at)!);
  return String.fromCharCode(new TextEncoder().encode(character)[0]!);
}

function fits(type: Type, { kinds }: Clause): boolean {
  return type.kind === "dyn" || kinds.has(unwrapped(type).kind);
}

/** The argument, when its type doesn't fit the clause. */
function unfit(argument: Expr, wanted: Clause, checked: CheckedExpr): Expr | undefined {
  return fits(checked.types.get(argument.id)!, wanted) ? undefined : argument;
}

/** The first part of a list or map literal, or the argument itself, that has no text. */
function unprintable(argument: Expr, checked: CheckedExpr): Expr | undefined {
  if (!fits(checked.types.get(argument.id)!, STRING_CLAUSE)) return argument;
  const parts =
    argument.kind === "list"
      ? argument.elements
      : argument.kind === "map"
        ? argument.entries.flatMap(({ key, value }) => [key, value])
        : [];
  for (const part of parts) {
    const bad = unprintable(part, checked);
    if (bad !== undefined) return bad;
  }
  return undefined;
}
