/** `validate.foreach`. */
import { isObject, member } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { withContext } from "../context/context.js";
import type { RuleWriter } from "../convert-rule.js";
import { query } from "../jmespath/query.js";
import { messageOf } from "../jmespath/template.js";
import { known, lenient, shared } from "../jmespath/value.js";
import { NotConverted, placed } from "../not-converted.js";
import { patternHolds } from "../pattern/pattern-rule.js";
import { type Scope, withNames } from "../scope.js";
import type { Term } from "../term.js";
import { readConditions, testOf } from "./conditions.js";
import { type Denial, readDenial, textOf, withoutMessage } from "./deny-rule.js";
import { ask, both, choose, compare, either, isKind, opposite, some, type Test } from "./test.js";
import { isKnownList, loopNameOf } from "./well-known.js";

export const foreachRule: RuleWriter = (body, message, scope, path) => {
  const { object, pod } = scope.roots;
  for (const [index, { test, message: words }] of denials(body, message, scope, pod?.object ?? object, 0).entries())
    scope.draft.validate(
      test.no,
      typeof words === "string" ? words : { expression: words, otherwise: withoutMessage(scope) },
      [...path, index],
    );
};

/** What each loop of a list of loops denies. @param whole what patterns look at where the elements are no maps */
function denials(body: unknown, message: string, scope: Scope, whole: Cel, nesting: number): readonly Denial[] {
  if (!Array.isArray(body)) throw new NotConverted([], "foreach is a list");
  return body.map((entry: unknown, index) => placed([index], () => denialOf(entry, message, scope, whole, nesting)));
}

/** The elements of a loop. */
interface Elements {
  readonly cel: Cel;
  readonly element: Omit<Term, "cel">;
}

function denialOf(entry: unknown, message: string, scope: Scope, whole: Cel, nesting: number): Denial {
  const source = member(entry, "list");
  if (!isObject(entry) || typeof source !== "string") throw new NotConverted([], "a loop needs a list");
  const list = placed(["list"], () => elementsOf(source, scope));
  const base = loopNameOf(source);
  const isTaken = [...scope.names.values()].some((term) => typeof term === "object" && term.cel.text === base);
  const name = isTaken ? `${base}${nesting + 1}` : base;
  const element: Term = { ...list.element, nullable: false, cel: cel.primary(name) };
  const index: Term = known(cel.primary(nesting === 0 ? "index" : `index${nesting + 1}`), "int");
  const named = withNames({ ...scope, depth: scope.depth + 1 }, [
    ["element", element],
    [`element${nesting}`, element],
    ["elementIndex", index],
    [`elementIndex${nesting}`, index],
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
  const denies = both(...isThere, holds, denial.test);
  const isIndexed = JSON.stringify(entry).includes("elementIndex");
  const names = isIndexed ? `${index.cel.text}, ${name}` : name;
  return {
    test: some(list.cel, names, denies),
    message: firstMessage(denial.message, list.cel, names, denies),
  };
}

/** The message about the first element that is denied. */
function firstMessage(message: string | Cel, list: Cel, names: string, denies: Test): string | Cel {
  const prefix = "validation failure: ";
  if (typeof message === "string") return prefix + message;
  const words = cel.plus(cel.literal(prefix), message);
  if (!names.split(", ").some((name) => new RegExp(`\\b${name}\\b`).test(message.text))) return words;
  const found = names.includes(",")
    ? cel.method(list, "transformList", cel.primary(names), denies.yes, words)
    : cel.loop(list, "map", names, denies.yes, words);
  return cel.item(found, 0);
}

/** What a loop's body denies of one element. */
function bodyOf(
  entry: Readonly<Record<string, unknown>>,
  message: string,
  scope: Scope,
  element: Term,
  whole: Cel,
  nesting: number,
): Denial {
  const { deny, pattern, anyPattern, foreach, elementScope } = entry;
  if (deny !== undefined) return placed(["deny"], () => readDenial(deny, message, scope));
  if (pattern === undefined && anyPattern === undefined) {
    const inner = elementScope === false || element.type === "string" ? whole : element.cel;
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
  const of = (value: Cel): Test => placed([String(key)], () => passes(patterns, value, scope));
  const isObjects = patterns.some(
    (each) => isObject(each) && /"\W*(?:spec|metadata|data)\W*":/.test(JSON.stringify(each)),
  );
  const isMap = isKind(element.cel, ["map"]);
  let test: Test;
  if (elementScope === false) test = of(whole);
  else if (elementScope === undefined && element.type === "dyn" && isObjects)
    test = choose(isMap, of(element.cel), of(whole));
  else test = of(elementScope === undefined && ["string", "int", "list"].includes(element.type) ? whole : element.cel);
  return { test: opposite(test), message: patternMessage(message, scope) };
}

/** Whether one of the patterns passes, or all are skipped. */
function passes(patterns: readonly unknown[], value: Cel, scope: Scope): Test {
  const held = patterns.map((pattern) => patternHolds(pattern, value, scope));
  const [only, ...others] = held;
  if (only !== undefined && others.length === 0) return ask(only.ok);
  return ask(
    cel.or(...held.map(({ ok, skips }) => cel.and(ok, cel.not(skips))), cel.and(...held.map(({ skips }) => skips))),
  );
}

function patternMessage(message: string, scope: Scope): string | Cel {
  if (message === "") return withoutMessage(scope);
  const words = messageOf(`${message}${message.endsWith(".") ? "" : "."} rule ${scope.rule} failed`, scope);
  const prefix = "validation error: ";
  return typeof words === "string" ? prefix + words : cel.plus(cel.literal(prefix), words);
}

/** The elements of a loop: none where the list is missing; what is no list is one element. */
function elementsOf(source: string, scope: Scope): Elements {
  const strict = query(source, scope);
  const isRequired = /(?:^|\.)spec\.containers$/.test(source.trim());
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
