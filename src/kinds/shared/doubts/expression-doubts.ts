/** Expressions that fail for some requests although they compile: they read what is null or may be absent. For `check`. */
import type { FieldError, FieldPath } from "../../../kubernetes/field-error.js";
import type { Expression } from "../expressions/expression.js";
import type { MatchResources } from "../match/match-resources.js";
import { kindsOfRules, type SchemaSource } from "../type-check/schema-source.js";
import { type Access, type Accesses, type AccessPath, accessesIn, pathText, type Root } from "./access-paths.js";
import { ANY_OBJECT, type Shape, type Stepped, shapeOf, stepInto } from "./presence.js";

/** An expression with its place in the spec. */
export interface Placed {
  readonly path: FieldPath;
  readonly expression: Expression | undefined;
}

/** The expressions of a policy. */
export interface ExaminedPolicy {
  /** Whether an object that is not there is an empty map, as in Kyverno, so that `has()` tests it; default no: it is null. */
  readonly emptyObjects?: boolean;
  readonly match: MatchResources | undefined;
  readonly conditions: readonly Placed[];
  /** In order, with their names. */
  readonly variables: readonly (Placed & { readonly name: string })[];
  /** All others. Those of a group are evaluated one behind the other: what the first one tests holds for the next. */
  readonly groups: readonly (readonly Placed[])[];
}

/** Expressions that read a variable that is null in every request, and those that read members that may be absent. */
export interface ExpressionDoubts {
  readonly nulls: readonly FieldError[];
  readonly absent: readonly FieldError[];
}

/** Examines the expressions of a policy; those with mistakes are skipped. */
export function expressionDoubts(policy: ExaminedPolicy, schemas: SchemaSource): ExpressionDoubts {
  const { emptyObjects = false } = policy;
  const paths = new Map<string, AccessPath>();
  const read = ({ path, expression }: Placed) => {
    const program = expression?.program;
    return { path, source: program?.source ?? "", accesses: accessesIn(program?.checked, paths) };
  };
  const conditions = policy.conditions.map(read);
  const variables = policy.variables.map((variable) => {
    const examined = read(variable);
    const { result } = examined.accesses;
    if (result !== undefined) paths.set(variable.name, { ...result, present: result.steps.length });
    return examined;
  });
  const common = [...conditions, ...variables];
  const nullRoots = alwaysNull(policy.match);
  const shapes = shapesOf(policy.match, schemas);
  const nulls: FieldError[] = [];
  const absent: FieldError[] = [];
  for (const group of [...common.map((each) => [each]), ...policy.groups.map((each) => each.map(read))]) {
    const guards = [...common, ...group].map(({ accesses }) => accesses);
    for (const { path, source, accesses } of group) {
      const doubt = (text: string, { offset }: Access, hint: string, code: FieldError["code"]): FieldError => {
        return { path, text, hint, code, mistakes: [{ ...placeIn(source, offset), message: text, hint }] };
      };
      const guarded = guards.some(({ namesOperation }) => namesOperation);
      for (const [root, operation, other] of nullRoots) {
        const first = accesses.read.find((each) => each.root === root);
        if (first === undefined || guarded || guards.some((each) => tests(each, root, emptyObjects))) continue;
        const text = `${root} is ${emptyObjects ? "empty" : "null"}: the rules name no other operation than ${operation}, so this fails for every request`;
        nulls.push(doubt(text, first, `write ${other}`, "CEL_NULL"));
      }
      const isTested = (key: string): boolean => guards.some(({ tested }) => tested.has(key));
      for (const [key, { access, name }] of absentIn(accesses.read, shapes, isTested)) {
        if (nullRoots.some(([root]) => root === access.root)) continue;
        const text = `${key} may be absent: then this fails, and failurePolicy decides`;
        absent.push(doubt(text, access, advice(key, name), "CEL_ABSENT"));
      }
    }
  }
  return { nulls, absent };
}

/** Whether an expression tests that there is an object. */
const tests = ({ nullTested, tested }: Accesses, root: Root, emptyObjects: boolean): boolean =>
  nullTested.has(root) || (emptyObjects && [...tested].some((key) => /^\w+/.exec(key)?.[0] === root));

function advice(key: string, name: string): string {
  const quoted = JSON.stringify(name);
  if (!/^[A-Za-z_]\w*$/.test(name))
    return `write [?${quoted}], with orValue() at the end, or test ${quoted} in the map first`;
  // The path of an item has no name that the author knows.
  const test = key.includes("[]") ? "test it with has()" : `test has(${key})`;
  return `write .?${name}, with orValue() at the end, or ${test} first`;
}

/** Variables that are null for all operations of the rules, with the operation and the variable to name. */
function alwaysNull(match: MatchResources | undefined): readonly (readonly [Root, string, Root])[] {
  const rules = match?.resourceRules ?? [];
  const operations = new Set(rules.flatMap(({ operations: each = [] }) => each));
  const [only, other] = operations;
  if (other !== undefined) return [];
  if (only === "DELETE") return [["object", only, "oldObject"]];
  // A CONNECT has its options as the object, and nothing before.
  return only === "CREATE" || only === "CONNECT" ? [["oldObject", only, "object"]] : [];
}

function shapesOf(match: MatchResources | undefined, schemas: SchemaSource): readonly Shape[] {
  const kinds = kindsOfRules(match?.resourceRules ?? [], schemas);
  const shapes = kinds.flatMap((kind) => shapeOf(kind, schemas.schemaOf(kind)) ?? []);
  return shapes.length === 0 ? [ANY_OBJECT] : shapes;
}

/** The first steps of paths that may lead to nothing, by their text; each once. */
function absentIn(
  read: readonly Access[],
  shapes: readonly Shape[],
  isTested: (key: string) => boolean,
): ReadonlyMap<string, Absent> {
  const found = new Map<string, Absent>();
  for (const access of read) {
    const [first] = shapes.flatMap((shape) => firstAbsent(access, shape, isTested) ?? []);
    if (first !== undefined && !found.has(first.key)) found.set(first.key, first);
  }
  return found;
}

/** A step that may lead to nothing: its path, and its own name. */
interface Absent {
  readonly access: Access;
  readonly key: string;
  readonly name: string;
}

function firstAbsent(access: Access, shape: Shape, isTested: (key: string) => boolean): Absent | undefined {
  const { root, steps, present, optional } = access;
  let at: Shape | undefined = shape;
  for (const [i, step] of steps.entries()) {
    const next: Stepped | undefined = at && stepInto(at, step, i === 0);
    if (next === undefined) return undefined;
    const key = pathText({ root, steps: steps.slice(0, i + 1) });
    if (i >= present && !optional && next.mayBeAbsent && "name" in step && !isTested(key))
      return { access, key, name: step.name };
    at = next.shape;
  }
  return undefined;
}

/** Line and column of an offset in a source, from 1, in code points. */
export function placeIn(source: string, offset: number): { readonly line: number; readonly column: number } {
  const before = [...source].slice(0, offset).join("").split("\n");
  return { line: before.length, column: [...(before.at(-1) ?? "")].length + 1 };
}
