/** Hints for fields that a value does not have, and for values of the wrong type. */
import type { Expr } from "../ast.js";
import type { Type } from "../types.js";
import { comparedCandidates } from "./compared.js";
import type { Candidate, HintSource } from "./hint-source.js";
import { nearNames } from "./near.js";
import type { Part } from "./part.js";
import { defaultFor, isOptional } from "./type-words.js";

/** Wrong names of a request's fields, with the right ones. */
const MEANT: ReadonlyMap<string, readonly string[]> = new Map([
  ["user", ["userInfo", "username"]],
  ["username", ["userInfo.username", "username"]],
  ["userName", ["userInfo.username", "username"]],
  ["groups", ["userInfo.groups"]],
  ["serviceAccount", ["userInfo.username"]],
  ["verb", ["operation"]],
  ["method", ["operation"]],
  ["action", ["operation"]],
  ["apiGroup", ["kind.group", "group"]],
  ["labels", ["metadata.labels"]],
  ["annotations", ["metadata.annotations"]],
]);

/** Words for the number of elements, which no type has as a field. */
const COUNTS: ReadonlySet<string> = new Set(["length", "size", "count", "len", "Length"]);

/** Candidates for `operand.field` where the operand's type has no such field, or none at all. */
export function fieldCandidates(part: Part, type: Type | undefined, { fieldsOf }: HintSource): readonly Candidate[] {
  const { expr } = part;
  const operand = operandOf(expr);
  if (operand === undefined) return [];
  const { value, field, dot } = operand;
  const text = part.operand(value);
  const write = (other: string): Candidate => ({
    text: `write ${other}`,
    fixed: part.replacedBy(testing(expr, other)),
  });
  const candidates: Candidate[] = [];
  if (COUNTS.has(field)) candidates.push(write(`${text}.size()`));
  if (type !== undefined) {
    const fields = fieldsOf(type);
    for (const other of nearNames(field, fields))
      candidates.push({ ...write(`${text}${dot}${other}`), text: `write ${other}` });
    candidates.push(...(MEANT.get(field) ?? []).map((other) => write(`${text}${dot}${other}`)));
    if (fields.some((each) => each === "metadata") && field === "name") candidates.push(write(`${text}.metadata.name`));
    if (type.kind === "list") {
      const inner = nearNames(field, fieldsOf(type.element));
      for (const other of [field, ...inner]) {
        const fixed = part.replacedBy(testing(expr, `${text}[0].${other}`));
        candidates.push({
          text: `this is a list: look at one of its elements, ${text}[0].${other}, or at all of them with exists() or all()`,
          fixed,
        });
      }
    }
  }
  return candidates;
}

/** `has(x)` asks about a field: only a selected field can stand there. */
const testing = (expr: Expr, text: string): string => (expr.kind === "select" && expr.testOnly ? `has(${text})` : text);

function operandOf(expr: Expr): { readonly value: Expr; readonly field: string; readonly dot: "." | ".?" } | undefined {
  if (expr.kind === "select") return { value: expr.operand, field: expr.field, dot: "." };
  if (expr.kind !== "call" || expr.function !== "_?._") return undefined;
  const [value, field] = expr.args;
  if (value === undefined || field?.kind !== "literal" || typeof field.value !== "string") return undefined;
  return { value, field: field.value, dot: ".?" };
}

/** Candidates for a value where another type is needed. */
export function mismatchCandidates(
  part: Part,
  wanted: Type | undefined,
  found: Type | undefined,
): readonly Candidate[] {
  if (wanted === undefined || found === undefined) return [];
  const text = part.operand(part.expr);
  const write = (other: string, where = part): Candidate => ({
    text: `write ${other}`,
    fixed: where.replacedBy(other),
  });
  if (isOptional(found)) {
    const open = `${text}.orValue(${defaultFor(wanted)})`;
    return [{ text: `an optional value is opened by orValue(): write ${open}`, fixed: part.replacedBy(open) }];
  }
  const candidates: Candidate[] = [];
  const parent = part.parent;
  const whole = parent?.expr;
  if (parent !== undefined && whole?.kind === "call" && whole.function === "_||_") {
    const [first, second] = whole.args;
    if (first?.kind === "select" && !first.testOnly && second?.id === part.expr.id && second.kind === "literal") {
      candidates.push(write(`${part.operand(first.operand)}.?${first.field}.orValue(${part.text(second)})`, parent));
    }
  }
  if (wanted.kind !== "bool") return candidates;
  candidates.push(...comparedCandidates(part));
  switch (found.kind) {
    case "string":
      // `string(x)` is rarely empty: a test for that is not what was meant.
      return isText(part.expr) ? candidates : [...candidates, write(`${text} != ""`)];
    case "int":
      return [...candidates, write(`${text} != 0`)];
    case "list":
    case "map":
      return [...candidates, write(`size(${part.text()}) > 0`)];
    default:
      return candidates;
  }
}

const isText = (expr: Expr): boolean => expr.kind === "call" && expr.function === "string";

/** Candidates for a macro's range that is neither list nor map. */
export function rangeCandidates(part: Part, found: Type | undefined): readonly Candidate[] {
  if (!isOptional(found)) return [];
  const open = `${part.operand(part.expr)}.orValue([])`;
  return [{ text: `an optional value is opened by orValue(): write ${open}`, fixed: part.replacedBy(open) }];
}
