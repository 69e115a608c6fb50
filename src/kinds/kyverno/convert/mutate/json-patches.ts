/** `patchesJson6902`: the operations as Kyverno applies them. */
import { parseYamlDocuments } from "../../../../data/yaml.js";
import { isObject, type JsonObject, text } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { hasVariables, template } from "../jmespath/template.js";
import { NotConverted, placed } from "../not-converted.js";
import type { Scope } from "../scope.js";
import { childOf, ensured, operation, type Piece, type Place, textOf, when } from "./patches.js";

/** Variables in the text; a word stands for each while YAML is read. */
const VARIABLE = /\{\{(?:\{[^{}]*\}|[^{}]|\{\{[^{}]*\}\})*\}\}/g;
const WORD = /_patch_variable_(\d+)_/g;
const OPERATIONS = ["add", "copy", "move", "remove", "replace", "test"];

/** The operations of a text of YAML or JSON. @param sure places that are there */
export function jsonPatchPieces(source: string, root: Place, scope: Scope, sure: readonly Place[]): readonly Piece[] {
  const variables: string[] = [];
  const words = source.replaceAll(VARIABLE, (variable) => `_patch_variable_${variables.push(variable) - 1}_`);
  const filled = (value: string) => value.replaceAll(WORD, (_, index: string) => variables[Number(index)] ?? "");
  const valueAt = (value: unknown): Cel => {
    if (Array.isArray(value)) return cel.list(value.map((each) => cel.call("dyn", valueAt(each))));
    if (isObject(value))
      return cel.map(Object.entries(value).map(([key, each]) => [key, cel.call("dyn", valueAt(each))]));
    if (typeof value !== "string") return cel.literal(value);
    const term = template(filled(value), scope);
    // Kyverno replaces variables in the text before it reads it: in quotes they are texts.
    const isQuoted = words.includes(`"${value}"`) || words.includes(`'${value}'`);
    return isQuoted && term.type !== "string" ? cel.call("string", term.cel) : term.cel;
  };
  const known = new Known(sure);
  return read(words).flatMap((each, index) =>
    placed([index], () => {
      const [op, path] = [text(each, "op"), text(each, "path")];
      if (!OPERATIONS.includes(op)) throw new NotConverted(["op"], `${JSON.stringify(op)} is not an operation`);
      if (scope.depth === 0 && path !== filled(path))
        throw new NotConverted(["path"], "Kyverno refuses variables in a path outside of foreach");
      const hasWords = new RegExp(WORD).test(JSON.stringify(each.value ?? null));
      const value = hasWords ? valueAt(each.value) : cel.literal(each.value);
      const places = placed(["path"], () => placesOf(filled(path), root, scope));
      const target = places.at(-1) ?? root;
      if (op === "test") return testPieces(target, value, index, path);
      const isMove = op === "copy" || op === "move";
      const from = isMove
        ? placed(["from"], () => placesOf(filled(text(each, "from")), root, scope)).at(-1)
        : undefined;
      const parents = op === "add" ? parentsOf(places).filter(([place]) => known.needs(place)) : [];
      const isSure = known.isSure(target);
      known.change(op, target, from);
      const [removed, added] = [operation("remove", target.pointer), operation("add", target.pointer, { value })];
      if (op === "remove") return isSure ? [removed] : when(target.exists, [removed]);
      if (op === "add") return [...parents.flatMap(([place, made]) => ensured(place, made)), added];
      // Kyverno refuses to replace or copy what is missing, which CEL's patches let pass: to remove it is an error.
      if (from === undefined) return [removed, added];
      const moved = operation(op === "copy" ? "copy" : "move", target.pointer, { from: from.pointer });
      return op === "copy" ? when(from.exists, [moved], [operation("remove", from.pointer)]) : [moved];
    }),
  );
}

function read(source: string): readonly JsonObject[] {
  let value: unknown;
  try {
    [value] = parseYamlDocuments(source);
  } catch (error) {
    throw new NotConverted([], `this is neither YAML nor JSON: ${error instanceof Error ? error.message : ""}`);
  }
  if (!Array.isArray(value) || !value.every(isObject)) throw new NotConverted([], "operations are a list of maps");
  return value;
}

/** A failing test must be an error, which stops the request: a test of CEL's patches only leaves the object as it was. */
function testPieces(place: Place, value: Cel, index: number, path: string): readonly Piece[] {
  if (value.text === "null") throw new NotConverted(["value"], "a test of null is not converted");
  if (index > 0) throw new NotConverted(["op"], "a test behind other operations is not converted: write it first");
  const isEqual = cel.and(place.exists, cel.equal(place.value, value));
  return when(isEqual, [], [operation("remove", [cel.literal(`/test of ${path.replaceAll("/", " ")} failed`)])]);
}

/** The places along a path, the object itself left out. */
function placesOf(path: string, root: Place, scope: Scope): readonly Place[] {
  const variables = [...(path.match(VARIABLE) ?? [])];
  const [first, ...segments] = path.replaceAll(VARIABLE, "\0").split("/");
  if (first !== "" || segments.length === 0) throw new NotConverted([], "a path begins with /");
  const places: Place[] = [];
  for (const [index, each] of segments.entries()) {
    const segment = each.replaceAll("\0", () => variables.shift() ?? "");
    const isNew = segment === "-1" && index === segments.length - 1;
    places.push(stepTo(places.at(-1) ?? root, isNew ? "-" : segment, scope));
  }
  return places;
}

function stepTo(place: Place, segment: string, scope: Scope): Place {
  const owner = place.isSure ? place.value : place.optional;
  const step = (key: Cel, value: Cel, optional: Cel): Place => {
    const exists = cel.method(optional, "hasValue");
    return { pointer: [...place.pointer, cel.literal("/"), key], value, optional, isSure: false, exists };
  };
  const item = (at: Cel) => step(cel.call("string", at), cel.item(place.value, at), cel.optionalItem(owner, at));
  if (hasVariables(segment)) {
    const { cel: key, type } = template(segment, scope);
    return type === "string" ? step(key, cel.item(place.value, key), cel.optionalItem(owner, key)) : item(key);
  }
  if (segment === "-") return { ...place, pointer: [...place.pointer, cel.literal("/-")], exists: cel.FALSE };
  if (segment === "-1") {
    // The last item, or the first one of a list that is made for it.
    const size = cel.call("size", cel.orValue(owner, cel.list([])));
    return item(cel.call("math.greatest", cel.minus(size, cel.literal(1)), cel.literal(0)));
  }
  const at = cel.primary(segment);
  if (/^\d+$/.test(segment)) return step(cel.literal(segment), cel.item(place.value, at), cel.optionalItem(owner, at));
  return childOf(place, segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The maps and lists above of what is added, which Kyverno makes. */
const parentsOf = (path: readonly Place[]): readonly (readonly [Place, Cel])[] =>
  path.slice(0, -1).flatMap((place, index) => {
    const next = path[index + 1]?.pointer.at(-1)?.text ?? "";
    const isList = /^"(?:\/-|\d+)"$|^string\(/.test(next);
    return textOf(place) === '"/metadata"' ? [] : [[place, cel.primary(isList ? "[]" : "{}")] as const];
  });

/** The changes by the operations before: whether a place is there is asked of the object as it was before all of them. */
class Known {
  readonly #there: Set<string>;
  readonly #added: string[] = [];
  readonly #removed: string[] = [];

  constructor(sure: readonly Place[]) {
    this.#there = new Set(sure.map((place) => textOf(place)));
  }

  isSure = (place: Place): boolean => this.#there.has(textOf(place));

  /** Whether a place must be made where it is missing; it is there then. */
  needs(place: Place): boolean {
    const own = textOf(place);
    if (this.#added.some((other) => own.startsWith(`${other} `)))
      throw new NotConverted(["path"], "an operation below of what another one adds: write both as one");
    const isNew = !this.#there.has(own);
    this.#there.add(own);
    return isNew;
  }

  change(op: string, target: Place, from: Place | undefined): void {
    const own = textOf(target);
    if (this.#removed.some((other) => own === other || own.startsWith(`${other} `)))
      throw new NotConverted(["path"], "an operation on what another one removes: write both as one");
    if (op === "remove" || op === "move") this.#removed.push(textOf(from ?? target));
    if (op === "remove") return;
    this.#there.add(own);
    this.#added.push(own);
  }
}
