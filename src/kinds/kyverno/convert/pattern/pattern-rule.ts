/** `validate.pattern` and `validate.anyPattern`. */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { isObject } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import type { RuleWriter } from "../convert-rule.js";
import { messageOf } from "../jmespath/template.js";
import { NotConverted, placed } from "../not-converted.js";
import type { Scope } from "../scope.js";
import type { Value } from "./leaf.js";
import { podShape, type Shape } from "./shape.js";
import { memberSteps, outcome, type Parent, passes, type Step, type StepLoop, stepsOf } from "./walk.js";

/** A part of a message. */
type Part = string | Cel;

/** The steps of a pattern of the object that a rule is about. */
function rootSteps(pattern: unknown, scope: Scope): readonly Step[] {
  const { object, pod } = scope.roots;
  const root = { plain: pod?.object ?? object, shape: pod === undefined ? scope.shape : podShape(), path: [] };
  return (isObject(pattern) ? memberSteps : stepsOf)(pattern as never, root, { scope, exact: false });
}

export const patternRule: RuleWriter = (body, message, scope, from) => {
  const words = wordsOf(message, scope);
  if (from.at(-1) === "anyPattern") return anyPattern(body, words, scope, from);
  const { draft } = scope;
  const steps = rootSteps(body, scope);
  const start = [...words, `rule ${scope.rule} failed at path `];
  const isRepeated = steps.filter(({ loop }) => loop !== undefined).length > 1;
  const before: Cel[] = [];
  for (const { ok, unless = cel.FALSE, skip, loop, ...place } of steps) {
    const { path } = place;
    if (loop !== undefined) {
      const name = (loop.path.findLast((part) => part !== "*") ?? path.at(-1) ?? "").replace(/[^A-Za-z0-9]/g, "");
      const results = draft.variable(name || "items", cel.loop(loop.list, "map", loop.name, loop.test), from);
      const every = cel.loop(results, "all", "ok", cel.primary("ok"));
      const first = isRepeated ? [draft.variable("failedAt", joined(start), from)] : start;
      draft.validate(cel.or(...before, unless, every), failure([...first, ...placeInLoop(path, loop, results)]), from);
    } else if (ok.text !== "true")
      draft.validate(cel.or(...before, unless, ok), failure([...start, ...placeOf(place)]), from);
    if (skip !== undefined) before.push(skip);
  }
  if (draft.validations.length === 0) draft.validate(cel.TRUE, "", from);
};

/** The place where a step fails: a missing parent, or its own. */
function placeOf({ path, parents = [], key }: Pick<Step, "key" | "parents" | "path">): readonly Part[] {
  if (key !== undefined) return [pathText(path), key, "/"];
  const choose = (rest: Part, parent: Parent): Part =>
    cel.conditional(parent.presence, joined([rest]), joined([pathText(parent.path)]));
  return [parents.reduceRight(choose, pathText(path))];
}

/** The place below the first item that fails. @param results of the items */
function placeInLoop(path: readonly string[], loop: StepLoop, results: Cel): readonly Part[] {
  const index = cel.method(results, "indexOf", cel.FALSE);
  const { inner, list, name } = loop;
  const below =
    inner === undefined
      ? placeOf(loop)
      : placeInLoop(loop.path, inner, cel.loop(inner.list, "map", inner.name, inner.test));
  const item = cel.list([cel.item(list, index)]);
  const isText = below.every((part) => typeof part === "string");
  const place = isText ? below : [cel.item(cel.loop(item, "map", name, joined(below)), 0)];
  return [pathText(path), cel.call("string", index), ...place];
}

const pathText = (path: readonly string[]): string => `/${path.map((part) => `${part}/`).join("")}`;

/** The text before the place of a failure. */
function wordsOf(message: string, scope: Scope): readonly Part[] {
  const words = messageOf(message, scope);
  const end = message === "" ? "" : (typeof words === "string" ? words : message).endsWith(".") ? " " : ". ";
  return ["validation error: ", words, end];
}

/** The message of a loop's pattern. */
export function patternFailure(prefix: string, message: string, scope: Scope): string | Cel {
  const words = failure([prefix, ...wordsOf(message, scope), `rule ${scope.rule} failed`]);
  return typeof words === "string" ? words : words.expression;
}

/** The parts as one expression; constants next to each other become one. */
function joined(parts: readonly Part[]): Cel {
  const merged: Part[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === "string" && typeof last === "string") merged[merged.length - 1] = last + part;
    else if (part !== "") merged.push(part);
  }
  return cel.plus(...merged.map((part) => (typeof part === "string" ? cel.literal(part) : part)));
}

/** A message: a text, or an expression. */
const failure = (parts: readonly Part[]): string | { readonly expression: Cel; readonly otherwise: string } =>
  parts.every((part) => typeof part === "string") ? parts.join("") : { expression: joined(parts), otherwise: "" };

function anyPattern(body: unknown, words: readonly Part[], scope: Scope, from: FieldPath): void {
  if (!Array.isArray(body) || body.length === 0) throw new NotConverted([], "anyPattern is a list of patterns");
  const walks = body.map((pattern: unknown, index) => placed([index], () => rootSteps(pattern, scope)));
  const canSkip = walks.map((steps) => steps.some(({ skip }) => skip !== undefined));
  const skipped = walks.map((steps, index) => (canSkip[index] ? outcome(steps, true, cel.FALSE) : cel.FALSE));
  const failures = walks.map((steps, index) => [`rule ${scope.rule}[${index}] failed`, ...placesOf(steps)]);
  const texts = failures.map((parts, index) => cel.conditional(skipped[index] ?? cel.FALSE, EMPTY, joined(parts)));
  const filled = cel.loop(cel.list(texts), "filter", "text", cel.relation("!=", cel.primary("text"), EMPTY));
  const all = canSkip.includes(true)
    ? [cel.method(filled, "join", cel.literal(" "))]
    : failures.flatMap((parts, index) => (index === 0 ? parts : [" ", ...parts]));
  scope.draft.validate(cel.or(...walks.map(passes), cel.and(...skipped)), failure([...words, ...all]), from);
}

const EMPTY = cel.literal("");

/** The place where steps fail, if it is short to say. */
function placesOf(steps: readonly Step[]): readonly Part[] {
  const isLong = steps.length > 3 || steps.some(({ loop, skip }) => loop !== undefined || skip !== undefined);
  const [last, ...others] = [...steps].reverse();
  if (isLong || last === undefined) return [];
  const choose = (rest: readonly Part[], step: Step): readonly Part[] => [
    cel.conditional(cel.or(step.unless ?? cel.FALSE, step.ok), joined(rest), joined(placeOf(step))),
  ];
  return [" at path ", ...others.reduce(choose, placeOf(last))];
}

/** Whether a value passes a pattern or skips it, and whether it skips: for loops, which count neither. */
export function patternHolds(
  pattern: unknown,
  plain: Cel,
  scope: Scope,
  shape?: Shape,
): { readonly ok: Cel; readonly skips: Cel } {
  const root: Value = { plain, shape, path: [] };
  const [steps, exact] = [false, true].map((each) => stepsOf(pattern, root, { scope, exact: each }));
  return { ok: outcome(steps ?? [], true, cel.TRUE), skips: outcome(exact ?? [], true, cel.FALSE) };
}
