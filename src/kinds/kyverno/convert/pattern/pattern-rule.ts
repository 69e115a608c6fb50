/** `validate.pattern` and `validate.anyPattern`. */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { isObject } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import type { RuleWriter } from "../convert-rule.js";
import { messageOf } from "../jmespath/template.js";
import { NotConverted, placed } from "../not-converted.js";
import type { Scope } from "../scope.js";
import { podShape, type Shape } from "./shape.js";
import { memberSteps, outcome, passes, type Step, type StepLoop, stepsOf, type Value } from "./walk.js";

/** The object that a rule is about. */
function rootOf({ roots, shape }: Scope): Value {
  return roots.pod === undefined
    ? { plain: roots.object, shape, path: [] }
    : { plain: roots.pod.object, shape: podShape(), path: [] };
}

/** The steps of a pattern of an object. */
const rootSteps = (pattern: unknown, root: Value, scope: Scope): readonly Step[] =>
  isObject(pattern)
    ? memberSteps(pattern, root, { scope, exact: false })
    : stepsOf(pattern, root, { scope, exact: false });

export const patternRule: RuleWriter = (body, message, scope, path) => {
  const root = rootOf(scope);
  const words = wordsOf(message, scope);
  if (path.at(-1) === "anyPattern") return anyPattern(body, words, root, scope, path);
  const steps = rootSteps(body, root, scope);
  const start = joined(words, cel.literal(`rule ${scope.rule} failed at path `));
  const isRepeated = steps.filter(({ loop }) => loop !== undefined).length > 1;
  const before: Cel[] = [];
  for (const step of steps) {
    if (step.ok.text !== "true") writeStep(step, [...before, step.unless ?? cel.FALSE], start, isRepeated, scope, path);
    if (step.skip !== undefined) before.push(step.skip);
  }
  if (scope.draft.validations.length === 0) scope.draft.validate(cel.TRUE, "", path);
};

/** Writes one step as a validation: it holds, or the walk ended as skipped before it. */
function writeStep(
  step: Step,
  before: readonly Cel[],
  start: Cel,
  isRepeated: boolean,
  { draft }: Scope,
  from: FieldPath,
): void {
  const { ok, path, loop } = step;
  if (loop === undefined) {
    draft.validate(cel.or(...before, ok), failure(joined(start, ...placeOf(step))), from);
    return;
  }
  const name = (loop.path.findLast((part) => part !== "*") ?? path.at(-1) ?? "").replace(/[^A-Za-z0-9]/g, "");
  const results = draft.variable(name || "items", cel.loop(loop.list, "map", loop.name, loop.test), from);
  const words = isRepeated ? draft.variable("failedAt", start, from) : start;
  const every = cel.loop(results, "all", "ok", cel.primary("ok"));
  draft.validate(cel.or(...before, every), failure(joined(words, ...placeInLoop(path, loop, results))), from);
}

/** The place where a step fails: a missing parent, or its own. */
function placeOf({ path, parents = [], key }: Pick<Step, "key" | "parents" | "path">): readonly Cel[] {
  const own = cel.literal(pathText(path));
  if (key !== undefined) return [own, key, cel.literal("/")];
  return [
    parents.reduceRight((rest, each) => cel.conditional(each.presence, rest, cel.literal(pathText(each.path))), own),
  ];
}

/** The place below the first item that fails. @param results of the items */
function placeInLoop(path: readonly string[], loop: StepLoop, results: Cel): readonly Cel[] {
  const index = cel.method(results, "indexOf", cel.FALSE);
  const { inner } = loop;
  const below = joined(
    ...(inner === undefined
      ? placeOf(loop)
      : placeInLoop(loop.path, inner, cel.loop(inner.list, "map", inner.name, inner.test))),
  );
  const item = cel.list([cel.item(loop.list, index)]);
  const place = TEXT.test(below.text) ? below : cel.item(cel.loop(item, "map", loop.name, below), 0);
  return [cel.literal(pathText(path)), cel.call("string", index), place];
}

const pathText = (path: readonly string[]): string => `/${path.map((part) => `${part}/`).join("")}`;

/** The text before the place of a failure. */
function wordsOf(message: string, scope: Scope): Cel {
  const words = messageOf(message, scope);
  const end = message.endsWith(".") ? " " : ". ";
  if (typeof words === "string")
    return cel.literal(`validation error: ${words === "" ? "" : `${words}${words.endsWith(".") ? " " : ". "}`}`);
  return joined(cel.literal("validation error: "), words, cel.literal(end));
}

const TEXT = /^"(?:[^"\\]|\\.)*"$/;

/** A message that is a text, or an expression. */
const failure = (words: Cel): string | { readonly expression: Cel; readonly otherwise: string } =>
  TEXT.test(words.text) ? (JSON.parse(words.text) as string) : { expression: words, otherwise: "" };

/** A text made of several; constants next to each other become one. */
function joined(...parts: readonly Cel[]): Cel {
  const [last, before] = [parts.at(-1), parts.slice(0, -1)];
  if (last === undefined || before.length === 0) return last ?? cel.literal("");
  const left = joined(...before);
  if (last.text === '""') return left;
  const end = /^(|.* \+ )("(?:[^"\\]|\\.)*")$/s.exec(left.text);
  if (end === null || !TEXT.test(last.text)) return cel.plus(left, last);
  const both = JSON.stringify(`${JSON.parse(end[2] ?? "")}${JSON.parse(last.text)}`);
  return { ...left, text: `${end[1]}${both}` };
}

function anyPattern(body: unknown, words: Cel, root: Value, scope: Scope, path: FieldPath): void {
  if (!Array.isArray(body) || body.length === 0) throw new NotConverted([], "anyPattern is a list of patterns");
  const walks = body.map((pattern: unknown, index) => placed([index], () => rootSteps(pattern, root, scope)));
  const canSkip = walks.map((steps) => steps.some(({ skip }) => skip !== undefined));
  const skipped = walks.map((steps, index) => (canSkip[index] ? outcome(steps, true, cel.FALSE) : cel.FALSE));
  const failures = walks.map((steps, index) => {
    const text = joined(cel.literal(`rule ${scope.rule}[${index}] failed`), ...placesOf(steps));
    return cel.conditional(skipped[index] ?? cel.FALSE, cel.literal(""), text);
  });
  const filled = cel.loop(
    cel.list(failures),
    "filter",
    "text",
    cel.relation("!=", cel.primary("text"), cel.literal("")),
  );
  const all = canSkip.includes(true)
    ? [cel.method(filled, "join", cel.literal(" "))]
    : failures.flatMap((text, index) => (index === 0 ? [text] : [cel.literal(" "), text]));
  scope.draft.validate(cel.or(...walks.map(passes), cel.and(...skipped)), failure(joined(words, ...all)), path);
}

/** The place where steps fail, if it is short to say. */
function placesOf(steps: readonly Step[]): readonly Cel[] {
  if (steps.length > 3 || steps.some(({ loop, skip }) => loop !== undefined || skip !== undefined)) return [];
  const places = steps.map((step) => ({ step, place: joined(...placeOf(step)) })).reverse();
  const [last, ...others] = places;
  if (last === undefined) return [];
  const first = others.reduce(
    (rest, { step, place }) => cel.conditional(cel.or(step.unless ?? cel.FALSE, step.ok), rest, place),
    last.place,
  );
  return [cel.literal(" at path "), first];
}

/** Whether a value passes a pattern or skips it, and whether it skips: for loops, which count neither. */
export function patternHolds(
  pattern: unknown,
  plain: Cel,
  scope: Scope,
  shape?: Shape,
): { readonly ok: Cel; readonly skips: Cel } {
  const root: Value = { plain, shape, path: [] };
  const exact = stepsOf(pattern, root, { scope, exact: true });
  return {
    ok: outcome(stepsOf(pattern, root, { scope, exact: false }), true, cel.TRUE),
    skips: outcome(exact, true, cel.FALSE),
  };
}
