/** Hints for names that are not declared: of functions, and of variables. */
import type { CallExpr, Expr } from "../ast.js";
import { dottedPath } from "../checker/dotted-path.js";
import { type ForeignCall, translations, WITHOUT_COUNTERPART } from "./foreign-functions.js";
import type { Candidate, HintSource, Mistake } from "./hint-source.js";
import { nearNames } from "./near.js";
import type { Part } from "./part.js";

/** Words of other languages for values. */
const VALUES: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["TRUE", "true"],
  ["False", "false"],
  ["FALSE", "false"],
  ["None", "null"],
  ["NULL", "null"],
  ["Null", "null"],
  ["nil", "null"],
  ["undefined", "null"],
]);

/** Names that people write for the object, its parts, and the parts of a request. */
const PARTS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...["input", "review", "resource", "obj", "self", "this", "root", "new", "newObject"].map(
    (name): [string, readonly string[]] => [name, ["object"]],
  ),
  ...["old", "previous", "oldSelf"].map((name): [string, readonly string[]] => [name, ["oldObject"]]),
  ...["spec", "metadata", "status", "data", "kind", "apiVersion"].map((name): [string, readonly string[]] => [
    name,
    [`object.${name}`],
  ]),
  ...["name", "labels", "annotations", "generateName"].map((name): [string, readonly string[]] => [
    name,
    [`object.metadata.${name}`],
  ]),
  ["namespace", ["request.namespace", "object.metadata.namespace"]],
  ["containers", ["object.spec.containers"]],
  ["user", ["request.userInfo"]],
  ["userInfo", ["request.userInfo"]],
  ["username", ["request.userInfo.username"]],
  ["groups", ["request.userInfo.groups"]],
  ["operation", ["request.operation"]],
  ["dryRun", ["request.dryRun"]],
  ["namespaceLabels", ["namespaceObject.metadata.labels"]],
]);

/** Longer paths to the object, which begin with a name that is not declared. */
const WAYS: readonly (readonly [way: string, instead: string])[] = [
  ["input.review.object", "object"],
  ["input.review.oldObject", "oldObject"],
  ["input.review", "request"],
  ["input.request.object", "object"],
  ["input.request.oldObject", "oldObject"],
  ["input.request", "request"],
  ["input.object", "object"],
  ["input.parameters", "params"],
  ["review.object", "object"],
  ["admissionRequest", "request"],
  ["resource.object", "object"],
];

/** Candidates for the name of a function. */
export function functionCandidates(part: Part, call: CallExpr, { free, member }: HintSource): readonly Candidate[] {
  const { function: name, target, args } = call;
  const texts = args.map((arg) => part.text(arg));
  const write = (text: string): Candidate => ({ text: `write ${text}`, fixed: part.replacedBy(text) });
  const path = target === undefined ? undefined : dottedPath(target);
  const list = texts.join(", ");
  const receiver = target === undefined ? undefined : part.operand(target);
  const near = nearNames(name, target === undefined ? free : member);
  const renamed = near.map((other) => ({
    text: `write ${other}`,
    fixed: part.replacedBy(receiver === undefined ? `${other}(${list})` : `${receiver}.${other}(${list})`),
  }));
  // `exists(list, x, …)`: macros and methods have a receiver, functions have none.
  const [first, ...rest] = args;
  const style: string[] = [];
  if (receiver === undefined && first !== undefined) {
    for (const other of [name, ...nearNames(name, member)])
      if (member.has(other)) {
        const others = rest.map((arg) => part.text(arg)).join(", ");
        style.push(`${part.operand(first)}.${other}(${others})`);
      }
  }
  if (receiver !== undefined && target !== undefined) {
    for (const other of nearNames(name, free)) style.push(`${other}(${[part.text(target), ...texts].join(", ")})`);
    if (path !== undefined) {
      const full = `${path.name}.${name}`;
      const names = [...free].filter((each) => each.includes("."));
      for (const other of nearNames(full, names)) style.push(`${other}(${list})`);
    }
  }
  return [...foreignCandidates(part, call), ...renamed, ...style.map(write)];
}

/** Translations of a call from another language. */
export function foreignCandidates(part: Part, call: CallExpr): readonly Candidate[] {
  const target = call.target && part.operand(call.target);
  const texts = translations(call.function, { ...freeCall(part, call), target });
  return [...eitherOf(part, texts), ...texts.map((text) => ({ text: `write ${text}`, fixed: part.replacedBy(text) }))];
}

/** A candidate where lists and texts have different functions, and the operand's type is not known. */
function eitherOf(part: Part, [ofLists, ofTexts]: readonly string[]): readonly Candidate[] {
  if (ofLists === undefined || ofTexts === undefined) return [];
  const text = `write ${ofLists} for a list or a map, ${ofTexts} for a text`;
  return [{ text, fixed: part.replacedBy(ofLists), also: part.replacedBy(ofTexts) }];
}

function freeCall(part: Part, { target, args }: CallExpr): ForeignCall {
  const subject = target ?? args[0];
  return {
    target: undefined,
    args: args.map((arg) => part.text(arg)),
    field: subject?.kind === "select" ? { operand: part.operand(subject.operand), name: subject.field } : undefined,
  };
}

/** Candidates for the name of a variable. */
export function variableCandidates(part: Part, name: string, { variables, free }: HintSource): readonly Candidate[] {
  const write = (text: string, where = part): Candidate => ({ text: `write ${text}`, fixed: where.replacedBy(text) });
  const candidates: Candidate[] = [];
  const call = part.parent;
  if (call?.expr.kind === "call" && call.expr.target?.id === part.expr.id) {
    const list = call.expr.args.map((arg) => part.text(arg)).join(", ");
    const full = `${name}.${call.expr.function}`;
    const namespaced = [...free].filter((each) => each.includes("."));
    candidates.push(...nearNames(full, namespaced).map((other) => write(`${other}(${list})`, call)));
    candidates.push(...translations(full, freeCall(call, call.expr)).map((text) => write(text, call)));
  }
  const ways = WAYS.flatMap(([way, instead]) => {
    const whole = wholePath(part, way);
    return whole === undefined ? [] : [write(instead, whole)];
  });
  candidates.push(...ways);
  const value = VALUES.get(name);
  if (value !== undefined) candidates.push(write(value));
  candidates.push(...nearNames(name, variables).map((other) => write(other)));
  if (ways.length === 0) candidates.push(...(PARTS.get(name) ?? []).map((text) => write(text)));
  return candidates;
}

/** The part that is this dotted path, if it begins at this name. */
function wholePath(part: Part, way: string): Part | undefined {
  const [first, ...fields] = way.split(".");
  if (part.expr.kind !== "ident" || part.expr.name !== first) return undefined;
  let whole: Part | undefined = part;
  for (const field of fields) {
    whole = whole?.parent;
    const expr: Expr | undefined = whole?.expr;
    if (expr?.kind !== "select" || expr.field !== field) return undefined;
  }
  return whole;
}

/** A hint in words alone, without a changed expression. */
export function wordsFor({ issue, environment }: Mistake, isCall: boolean): string | undefined {
  const name = issue.name ?? "";
  if (!isCall)
    return (
      environment.known.get(name) ??
      (environment.free.has(name) ? `${name} is a function: call it, ${name}(…)` : undefined)
    );
  return WITHOUT_COUNTERPART.get(name.toLowerCase()) ?? environment.known.get(`${name}()`);
}
