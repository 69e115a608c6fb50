/** Questions of conditions as CEL, together with their negations: the one that reads better is written. */
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import type { Term, TermType } from "../term.js";

/** A question and its opposite. */
export interface Test {
  readonly yes: Cel;
  readonly no: Cel;
}

/** A value of which it is known where it comes from. */
export interface Operand extends Term {
  /** Whether it, or its items, may have wildcards: a name of Kubernetes has none. */
  readonly wild: boolean;
  /** Whether it is a text that is neither a quantity nor a duration, such as a name. */
  readonly word?: boolean;
  /** Whether it is there, where its condition does not hold otherwise. */
  readonly presence?: Test;
  /** The query, of a text that is one variable only. */
  readonly path?: string;
}

export const ALWAYS: Test = { yes: cel.TRUE, no: cel.FALSE };
export const NEVER: Test = { yes: cel.FALSE, no: cel.TRUE };

export const ask = (yes: Cel, no: Cel = cel.not(yes)): Test => ({ yes, no });
export const opposite = ({ yes, no }: Test): Test => ({ yes: no, no: yes });

const OPPOSITE = { "==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<" } as const;

/** `a == b` and the other comparisons of values that can be compared. */
export const compare = (operator: keyof typeof OPPOSITE, a: Cel, b: Cel): Test =>
  ask(cel.relation(operator, a, b), cel.relation(OPPOSITE[operator], a, b));

/** Whether a test is known to answer no. */
export const isNever = ({ yes }: Test): boolean => yes.text === "false";
const isAlways = ({ yes }: Test): boolean => yes.text === "true";

/** Whether a value is `true`, or `false`. */
export const isBool = ({ cel: value, type, nullable }: Term, known: boolean): Test => {
  if (type !== "bool" || nullable) return compare("==", value, cel.primary(String(known)));
  return known ? ask(value) : opposite(ask(value));
};

export const both = (...tests: readonly Test[]): Test =>
  tests.some(isNever)
    ? NEVER
    : { yes: cel.and(...tests.map(({ yes }) => yes)), no: cel.or(...tests.map(({ no }) => no)) };
export const either = (...tests: readonly Test[]): Test => opposite(both(...tests.map(opposite)));

/** `condition ? a : b`. */
export function choose(condition: Test, a: Test, b: Test): Test {
  if (isAlways(condition)) return a;
  if (isNever(condition)) return b;
  if (isNever(b)) return both(condition, a);
  if (isNever(a)) return both(opposite(condition), b);
  if (isAlways(a)) return either(condition, b);
  if (isAlways(b)) return either(opposite(condition), a);
  return { yes: cel.conditional(condition.yes, a.yes, b.yes), no: cel.conditional(condition.yes, a.no, b.no) };
}

export const some = (items: Cel, name: string, test: Test): Test => {
  if (isNever(test)) return NEVER;
  if (isAlways(test)) return compare("!=", cel.call("size", items), cel.primary("0"));
  return ask(cel.loop(items, "exists", name, test.yes), cel.loop(items, "all", name, test.no));
};
export const every = (items: Cel, name: string, test: Test): Test => opposite(some(items, name, opposite(test)));

/** The types that values of the old language have, null aside. */
export type Kind = "bool" | "list" | "map" | "number" | "string";

/** A test of values of some types. */
export interface Branch {
  readonly kinds: readonly Kind[];
  readonly test: Test;
  /** Whether it answers no, without an error, for values of all other types, too. */
  readonly total?: boolean;
}

export const SCALARS: readonly Kind[] = ["string", "number", "bool"];

/** The types that values of a term's type have. */
export function kindsOf(type: TermType): readonly Kind[] {
  if (type === "dyn") return [...SCALARS, "list", "map"];
  if (type === "scalar") return SCALARS;
  if (type === "int" || type === "double") return ["number"];
  return type === "null" ? [] : [type];
}

/** Whether a value is of one of some types. @param others the types that it may have aside: less may be left to ask about them */
export function isKind(value: Cel, kinds: readonly Kind[], others: readonly Kind[] = [], nullable = true): Test {
  const namesOf = (each: readonly Kind[]) => each.flatMap((kind) => (kind === "number" ? ["int", "double"] : [kind]));
  const is = (name: string): Test => compare("==", cel.call("type", value), cel.primary(name));
  const [wanted, unwanted] = [namesOf(kinds), namesOf(others.filter((kind) => !kinds.includes(kind)))];
  const isShort = unwanted.length > 0 && wanted.length <= unwanted.length + (nullable ? 1 : 0);
  if (others.length === 0 || isShort) return either(...wanted.map(is));
  return both(...unwanted.map((name) => opposite(is(name))), ...(nullable ? [opposite(isNull(value))] : []));
}

const isNull = (value: Cel): Test => compare("==", value, cel.NULL);

/** The branches for a value's types, joined by its type where several are possible. Null answers no. */
export function byKind(
  { cel: value, type, nullable }: Pick<Term, "cel" | "nullable" | "type">,
  branches: readonly Branch[],
): Test {
  const possible = kindsOf(type);
  const left = branches.flatMap((branch) => {
    const kinds = branch.kinds.filter((kind) => possible.includes(kind));
    return kinds.length === 0 || isNever(branch.test) ? [] : [{ ...branch, kinds }];
  });
  const total = left.filter((branch) => branch.total).map(({ test }) => test);
  const guarded = left.filter((branch) => !branch.total);
  const isComplete =
    total.length === 0 && !nullable && possible.every((kind) => guarded.some(({ kinds }) => kinds.includes(kind)));
  const rest = guarded.reduceRight<Test | undefined>((result, { kinds, test }, index) => {
    // The last branch needs no question where no other type is left.
    if (result === undefined && isComplete) return test;
    const before = guarded.slice(0, index).flatMap((branch) => branch.kinds);
    const open = possible.filter((kind) => !before.includes(kind));
    return choose(isKind(value, kinds, open, nullable), test, result ?? NEVER);
  }, undefined);
  return either(...total, ...(rest === undefined ? [] : [rest]));
}

/** A test that is never true, but fails where its value can't be had. */
export const never = ({ cel: value, fails }: Term): Test =>
  fails ? compare("==", cel.list([value]), cel.list([])) : NEVER;

/** The test, where the value is not null. */
export const unlessNull = ({ cel: value, nullable }: Pick<Term, "cel" | "nullable">, test: Test): Test =>
  nullable ? both(opposite(isNull(value)), test) : test;
