/** `validate.pattern` and `validate.anyPattern`. */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { isObject } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import type { RuleWriter } from "../convert-rule.js";
import { messageOf } from "../jmespath/template.js";
import { NotConverted, placed } from "../not-converted.js";
import type { Scope } from "../scope.js";
import { podShape } from "./shape.js";
import { fails, memberSteps, outcome, passes, type Step, stepsOf, type Value } from "./walk.js";

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
  if (path.at(-1) === "anyPattern") return anyPattern(body, message, root, scope, path);
  const steps = rootSteps(body, root, scope);
  const exact = steps.some(({ skip }) => skip !== undefined);
  const before: Cel[] = [];
  for (const step of steps) {
    if (step.ok.text !== "true") writeStep(step, before, message, scope, path);
    if (exact && step.skip !== undefined) before.push(step.skip);
  }
  if (scope.draft.validations.length === 0) scope.draft.validate(cel.TRUE, "", path);
};

/** Writes one step as a validation: it holds, or the walk ended as skipped before it. */
function writeStep(
  { ok, path, loop }: Step,
  before: readonly Cel[],
  message: string,
  scope: Scope,
  from: FieldPath,
): void {
  const { draft } = scope;
  const texts = messageTexts(message, scope);
  const guard = cel.or(...before);
  if (loop === undefined || !ok.text.startsWith(loop.list.text)) {
    const words = failedAt(texts, pathText(path));
    draft.validate(cel.or(guard, ok), words, from);
    return;
  }
  const name = loop.path.filter((part) => part !== "*").at(-1) ?? "items";
  const results = draft.variable(
    name.replace(/[^A-Za-z0-9]/g, "") || "results",
    cel.loop(loop.list, "map", loop.name, loop.test),
    from,
  );
  const index = cel.call("string", cel.method(results, "indexOf", cel.FALSE));
  const below = loop.path.includes("*") ? loop.path.slice(0, loop.path.indexOf("*")) : loop.path;
  const place = cel.plus(cel.literal(pathText(path)), index, cel.literal(below.length > 0 ? pathText(below) : "/"));
  draft.validate(cel.or(guard, cel.loop(results, "all", "ok", cel.primary("ok"))), failedAt(texts, place), from);
}

const pathText = (path: readonly string[]): string => `/${path.map((part) => `${part}/`).join("")}`;

/** The words before and after the message. */
function messageTexts(message: string, scope: Scope): Cel {
  const words = messageOf(message, scope);
  if (typeof words === "string") {
    const text = words === "" || words.endsWith(".") ? words : `${words}.`;
    return cel.literal(`validation error: ${text === "" ? "" : `${text} `}rule ${scope.rule} failed at path `);
  }
  return cel.plus(
    cel.literal("validation error: "),
    words,
    cel.literal(`${message.endsWith(".") ? "" : "."} rule ${scope.rule} failed at path `),
  );
}

function failedAt(words: Cel, place: string | Cel): string | { readonly expression: Cel; readonly otherwise: string } {
  const end = typeof place === "string" ? cel.literal(place) : place;
  const whole = joinTexts(words, end);
  const constant = /^"(?:[^"\\]|\\.)*"$/.test(whole.text) ? (JSON.parse(whole.text) as string) : undefined;
  return constant ?? { expression: whole, otherwise: "" };
}

/** Two texts, as one where both are constants. */
function joinTexts(a: Cel, b: Cel): Cel {
  const left = /^(.*?)("(?:[^"\\]|\\.)*")$/s.exec(a.text);
  const right = /^("(?:[^"\\]|\\.)*")(.*)$/s.exec(b.text);
  if (left === null || right === null || (left[1] !== "" && !/ \+ $/.test(left[1] ?? ""))) return cel.plus(a, b);
  const both = JSON.stringify(`${JSON.parse(left[2] ?? "")}${JSON.parse(right[1] ?? "")}`);
  const text = `${left[1]}${both}${right[2]}`;
  return left[1] === "" && right[2] === "" ? cel.primary(text) : { ...cel.plus(a, b), text };
}

function anyPattern(body: unknown, message: string, root: Value, scope: Scope, path: FieldPath): void {
  if (!Array.isArray(body) || body.length === 0) throw new NotConverted([], "anyPattern is a list of patterns");
  const walks = body.map((pattern: unknown, index) =>
    placed([index], () => stepsOf(pattern, root, { scope, exact: false })),
  );
  const allSkip = walks.every((steps) => steps.some(({ skip }) => skip !== undefined))
    ? cel.and(...walks.map((steps) => outcome(steps, true, cel.FALSE)))
    : cel.FALSE;
  const words = messageOf(message, scope);
  const list = walks.map((steps, index) => {
    const only = steps.length === 1 && steps[0]?.loop === undefined ? ` at path ${pathText(steps[0]?.path ?? [])}` : "";
    return `rule ${scope.rule}[${index}] failed${only}`;
  });
  const end = list.join(" ");
  const text =
    typeof words === "string"
      ? `validation error: ${words === "" ? "" : `${words.replace(/\.$/, "")}. `}${end}`
      : {
          expression: cel.plus(cel.literal("validation error: "), words, cel.literal(`. ${end}`)),
          otherwise: "",
        };
  scope.draft.validate(cel.or(...walks.map(passes), allSkip), text, path);
}

/** Whether a value passes a pattern or skips it, and whether it skips: for loops, which count neither. */
export function patternHolds(pattern: unknown, value: Cel, scope: Scope): { readonly ok: Cel; readonly skips: Cel } {
  const root: Value = { plain: value, shape: undefined, path: [] };
  const exact = stepsOf(pattern, root, { scope, exact: true });
  return { ok: fails(stepsOf(pattern, root, { scope, exact: false })), skips: outcome(exact, true, cel.FALSE) };
}
