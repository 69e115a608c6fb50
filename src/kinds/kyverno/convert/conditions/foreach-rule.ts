/** `validate.foreach`. */
import { isObject, member } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { withContext } from "../context/context.js";
import { query } from "../jmespath/query.js";
import { known, lenient, shared } from "../jmespath/value.js";
import { NotConverted, placed } from "../not-converted.js";
import { patternFailure, patternHolds } from "../pattern/pattern-rule.js";
import { podShape, type Shape } from "../pattern/shape.js";
import { type RuleWriter, type Scope, withNames } from "../scope.js";
import type { Term } from "../term.js";
import {
  type Denial,
  isKnownList,
  loopNameOf,
  readConditions,
  readDenial,
  testOf,
  textOf,
  withoutMessage,
  writeDenial,
} from "./conditions.js";
import { ALWAYS, ask, both, choose, compare, either, isKind, opposite, some, type Test } from "./test.js";

export const foreachRule: RuleWriter = (body, message, scope, path) => {
  const { object, pod } = scope.roots;
  const whole: Root = { cel: pod?.object ?? object, shape: pod === undefined ? scope.shape : podShape() };
  for (const [index, denial] of denials(body, message, scope, whole, 0).entries())
    writeDenial(denial, scope, [...path, index]);
};

/** The value that a pattern is about. */
type Root = Pick<Term, "cel"> & { readonly shape?: Shape | undefined };

/** The denials of a list of loops. @param whole for patterns, where the elements are not maps */
function denials(body: unknown, message: string, scope: Scope, whole: Root, nesting: number): readonly Denial[] {
  if (!Array.isArray(body)) throw new NotConverted([], "foreach is a list");
  return body.map((entry: unknown, index) => placed([index], () => denialOf(entry, message, scope, whole, nesting)));
}

/** The elements of a loop. */
interface Elements {
  readonly cel: Cel;
  readonly element: Omit<Term, "cel">;
}

function denialOf(entry: unknown, message: string, scope: Scope, whole: Root, nesting: number): Denial {
  const source = member(entry, "list");
  if (!isObject(entry) || typeof source !== "string") throw new NotConverted([], "a loop needs a list");
  const list = placed(["list"], () => elementsOf(source, scope));
  const base = loopNameOf(source);
  const isTaken = [...scope.names.values()].some((term) => typeof term === "object" && term.cel.text === base);
  const name = isTaken ? `${base}${nesting + 1}` : base;
  const index = cel.primary(nesting === 0 ? "index" : `index${nesting + 1}`);
  const element: Term = { ...list.element, nullable: false, cel: cel.primary(name) };
  const named = withNames({ ...scope, depth: scope.depth + 1 }, [
    ...["element", `element${nesting}`].map((key) => [key, element] as const),
    ...["elementIndex", `elementIndex${nesting}`].map((key) => [key, known(index, "int")] as const),
  ]);
  // No variable of the policy can name an element: entries of the context are repeated.
  const inner = placed(["context"], () => ({
    ...withContext(member(entry, "context"), { ...named, inline: true }),
    inline: scope.inline,
  }));
  const conditions = member(entry, "preconditions") ?? [];
  const holds = placed(["preconditions"], () => testOf(readConditions(conditions, inner, true)));
  const denial = bodyOf(entry, message, inner, element, whole, nesting);
  const isThere = list.element.nullable ? [compare("!=", element.cel, cel.NULL)] : [];
  const test = both(...isThere, holds, denial.test);
  const isIndexed = JSON.stringify(entry).includes("elementIndex");
  const names = isIndexed ? `${index.text}, ${name}` : name;
  const { message: words } = denial;
  const result = some(list.cel, names, test);
  if (typeof words === "string" || !new RegExp(`\\b(?:${names.replace(", ", "|")})\\b`).test(words.text))
    return { test: result, message: words };
  // The message is about the first element that is denied.
  const messages = isIndexed
    ? cel.method(list.cel, "transformList", cel.primary(names), test.yes, words)
    : cel.loop(list.cel, "map", name, test.yes, words);
  return { test: result, message: cel.item(messages, 0) };
}

/** The denial of one element by a loop's body. */
function bodyOf(
  entry: Readonly<Record<string, unknown>>,
  message: string,
  scope: Scope,
  element: Term,
  whole: Root,
  nesting: number,
): Denial {
  const prefix = "validation failure: ".repeat(nesting + 1);
  const { deny, pattern, anyPattern, foreach, elementScope } = entry;
  if (deny !== undefined) return placed(["deny"], () => readDenial(deny, message, scope, prefix));
  if (pattern === undefined && anyPattern === undefined) {
    const inner = elementScope === false || element.type === "string" ? whole : element;
    const loops = placed(["foreach"], () => denials(foreach, message, scope, inner, nesting + 1));
    const texts = loops.map((each) => each.message);
    return {
      test: either(...loops.map(({ test }) => test)),
      message: loops
        .slice(0, -1)
        .reduceRight<string | Cel>(
          (rest, { test }, index) =>
            texts[index] === rest ? rest : cel.conditional(test.yes, textOf(texts[index]), textOf(rest)),
          texts.at(-1) ?? "",
        ),
    };
  }
  const [key, patterns] = pattern === undefined ? ["anyPattern", anyPattern] : ["pattern", [pattern]];
  if (!Array.isArray(patterns)) throw new NotConverted(["anyPattern"], "anyPattern is a list");
  const of = (value: Root): Test => placed([String(key)], () => passes(patterns, value, scope));
  const isMap = element.type === "dyn" ? isKind(element.cel, ["map"]) : ALWAYS;
  const isScoped = elementScope ?? !["string", "int", "list"].includes(element.type);
  const test = isScoped === true ? choose(elementScope === true ? ALWAYS : isMap, of(element), of(whole)) : of(whole);
  const words = message === "" ? `${prefix}${withoutMessage(scope)}` : patternFailure(prefix, message, scope);
  return { test: opposite(test), message: words };
}

/** Whether one of the patterns passes, or all are skipped. */
function passes(patterns: readonly unknown[], value: Root, scope: Scope): Test {
  const held = patterns.map((pattern) => patternHolds(pattern, value.cel, scope, value.shape));
  const [only, ...others] = held;
  if (only !== undefined && others.length === 0) return ask(only.ok);
  return ask(
    cel.or(...held.map(({ ok, skips }) => cel.and(ok, cel.not(skips))), cel.and(...held.map(({ skips }) => skips))),
  );
}

/** The elements of a loop: none where the list is missing; anything else is one element. */
function elementsOf(source: string, scope: Scope): Elements {
  // Every Pod has containers.
  const isRequired =
    scope.roots.pod !== undefined && /^request\.object\.spec\.containers(?:\[\])?$/.test(source.trim());
  const strict = query(isRequired ? source.trim().replace("[]", "") : source, scope, { isSoft: true });
  const term = isRequired ? strict : lenient(strict);
  const { optional, orEmpty, type, items } = term;
  const isKnown = isKnownList(source);
  const element = { type: "dyn" as const, fails: false, ...items, nullable: items?.nullable ?? !isKnown };
  if (isRequired) return { cel: term.cel, element };
  const constants = term.constant?.value;
  if (Array.isArray(constants) && constants.every((each) => typeof each === "string"))
    return { cel: term.cel, element: { ...element, type: "string", nullable: false } };
  const there = orEmpty ?? (optional === undefined ? term.cel : cel.orValue(optional, cel.list([])));
  if (type === "list" && (orEmpty !== undefined || optional !== undefined || !term.nullable))
    return { cel: there, element };
  if (type === "dyn" && isKnown) return { cel: there, element };
  if (type === "dyn" || type === "list") {
    const wrapped = shared(there, scope, (value) =>
      cel.conditional(isKind(value, ["list"]).yes, value, cel.list([value])),
    );
    return { cel: wrapped, element: { ...element, nullable: true } };
  }
  return { cel: cel.list([term.cel]), element: { ...term, nullable: term.nullable } };
}
