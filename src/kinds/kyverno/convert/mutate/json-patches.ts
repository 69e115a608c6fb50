/** `patchesJson6902`: the operations as Kyverno applies them. */
import { parseYamlDocuments } from "../../../../data/yaml.js";
import { isObject, type JsonObject, text } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { hasVariables, template } from "../jmespath/template.js";
import { NotConverted, placed } from "../not-converted.js";
import type { Scope } from "../scope.js";
import { childOf, ensured, operation, type Piece, type Place, surePlace, when } from "./patches.js";

/** Variables in the text; a word stands for each while YAML is read. */
const VARIABLE = /\{\{(?:\{[^{}]*\}|[^{}]|\{\{[^{}]*\}\})*\}\}/g;
const OPERATIONS = ["add", "copy", "move", "remove", "replace"];

/** The operations of a text of YAML or JSON. */
export function jsonPatchPieces(source: string, root: Place, scope: Scope): readonly Piece[] {
  const variables: string[] = [];
  const words = source.replaceAll(VARIABLE, (variable) => `_patch_variable_${variables.push(variable) - 1}_`);
  const quotedWords = new Set(
    Array.from(words.matchAll(/(["'])(_patch_variable_\d+_)\1/g), ([, , word]) => word ?? ""),
  );
  if (scope.depth === 0 && read(words).some((each) => text(each, "path").includes("_patch_variable_")))
    throw new NotConverted([], "Kyverno refuses variables in a path outside of foreach");
  const valueAt = (value: unknown): Cel => {
    if (typeof value === "string") {
      const term = template(filled(value, variables), scope);
      // Kyverno replaces variables in the text before it reads it: in quotes they are texts.
      return quotedWords.has(value) && term.type !== "string" ? cel.call("string", term.cel) : term.cel;
    }
    if (Array.isArray(value)) return cel.list(value.map((each: unknown) => cel.call("dyn", valueAt(each))));
    if (!isObject(value)) return cel.literal(value);
    return cel.map(Object.entries(value).map(([key, each]) => [key, cel.call("dyn", valueAt(each))] as const));
  };
  const operations = read(words);
  const known = new Known();
  return operations.flatMap((each, index) =>
    placed([index], () => {
      const placesFrom = (key: string) => placesOf(filled(text(each, key), variables), root, scope);
      const op = text(each, "op");
      const value = hasWords(each.value) ? valueAt(each.value) : template(each.value ?? null, scope).cel;
      const path = placesFrom("path");
      if (op === "test") return testPieces(path.at(-1) ?? root, value, index, text(each, "path"));
      if (!OPERATIONS.includes(op)) throw new NotConverted(["op"], `${JSON.stringify(op)} is no operation`);
      const target = path.at(-1);
      if (target === undefined) throw new NotConverted(["path"], "the whole object can't be replaced");
      const from = placesFrom(op === "copy" || op === "move" ? "from" : "path").at(-1) ?? root;
      const parents = op === "add" ? parentsOf(path).filter(([place]) => known.isNew(place)) : [];
      known.changes(op, target, from);
      if (op === "remove") return when(target.exists, [operation("remove", target.pointer)]);
      if (op === "add")
        return [
          ...parents.flatMap(([place, made]) => ensured(place, made)),
          operation("add", target.pointer, { value }),
        ];
      // Kyverno refuses to replace or copy what is missing, which CEL's patches let pass: to remove it is an error.
      const missing = (place: Place) => operation("remove", place.pointer);
      if (op === "replace") return [missing(target), operation("add", target.pointer, { value })];
      const moved = operation(op === "copy" ? "copy" : "move", target.pointer, { from: from.pointer });
      return op === "copy" ? when(from.exists, [moved], [missing(from)]) : [moved];
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

const filled = (value: string, variables: readonly string[]): string =>
  value.replaceAll(/_patch_variable_(\d+)_/g, (_, index: string) => variables[Number(index)] ?? "");

const hasWords = (value: unknown): boolean => (JSON.stringify(value) ?? "").includes("_patch_variable_");

/** A failing test must be an error, which stops the request: a test of CEL's patches only leaves the object as it was. */
function testPieces(place: Place, value: Cel, index: number, path: string): readonly Piece[] {
  if (value.text === "null") throw new NotConverted(["value"], "a test of null is not converted");
  if (index > 0) throw new NotConverted(["op"], "a test behind other operations is not converted: write it first");
  const isEqual = cel.and(place.exists, cel.equal(place.value, value));
  return when(isEqual, [], [operation("remove", [cel.literal(`/test of ${path.replaceAll("/", " ")} failed`)])]);
}

/** The places along a path, the object itself left out. */
function placesOf(path: string, root: Place, scope: Scope): readonly Place[] {
  const pieces = path.match(/\{\{(?:\{[^{}]*\}|[^{}]|\{\{[^{}]*\}\})*\}\}|[^/{]+|\/|\{/g) ?? [];
  if (pieces[0] !== "/") throw new NotConverted(["path"], "a path begins with /");
  const segments: string[] = [];
  for (const piece of pieces) {
    if (piece === "/") segments.push("");
    else segments[segments.length - 1] += piece;
  }
  if (segments.at(-1) === "-1") segments[segments.length - 1] = "-";
  const places: Place[] = [];
  let place = root;
  for (const segment of segments) {
    place = stepTo(place, segment, scope);
    places.push(place);
  }
  return places;
}

function stepTo(place: Place, segment: string, scope: Scope): Place {
  if (hasVariables(segment)) {
    const { cel: key, type } = template(segment, scope);
    if (type === "string") return { ...childOf(place, key), pointer: [...place.pointer, cel.literal("/"), key] };
    return indexed(place, key, cel.call("string", key));
  }
  if (segment === "-") return { ...place, pointer: [...place.pointer, cel.literal("/-")], exists: cel.FALSE };
  if (segment === "-1") {
    // The last item, or the first one of a list that is made for it.
    const size = cel.call("size", cel.orValue(place.isSure ? place.value : place.optional, cel.list([])));
    const last = cel.call("math.greatest", cel.minus(size, cel.literal(1)), cel.literal(0));
    return indexed(place, last, cel.call("string", last));
  }
  if (/^\d+$/.test(segment)) return indexed(place, cel.primary(segment), cel.literal(segment));
  return childOf(place, segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function indexed(place: Place, at: Cel, key: Cel): Place {
  const optional = cel.optionalItem(place.isSure ? place.value : place.optional, at);
  return {
    ...surePlace([...place.pointer, cel.literal("/"), key], cel.item(place.value, at)),
    optional,
    isSure: false,
    exists: cel.method(optional, "hasValue"),
  };
}

/** The maps and lists above of what is added, which Kyverno makes. */
const parentsOf = (path: readonly Place[]): readonly (readonly [Place, Cel])[] =>
  path.slice(0, -1).flatMap((place, index) => {
    const last = path[index + 1]?.pointer.at(-1)?.text ?? "";
    const isList = /^"(?:\/-|\d+)"$|^string\(/.test(last);
    return textOf(place) === '"/metadata"' ? [] : [[place, cel.primary(isList ? "[]" : "{}")] as const];
  });

const textOf = ({ pointer }: Place): string => pointer.map(({ text }) => text).join(" ");

/** What the operations before have changed: what is there is asked of the object as it was before all of them. */
class Known {
  readonly #made = new Set<string>();
  readonly #given = new Set<string>();
  readonly #gone = new Set<string>();

  /** Whether a place that an operation needs must be made. */
  isNew(place: Place): boolean {
    const text = textOf(place);
    if ([...this.#given].some((other) => text.startsWith(`${other} `)))
      throw new NotConverted(
        ["path"],
        "an operation below of what another one adds is not converted: write both as one",
      );
    const isNew = !this.#made.has(text) && !this.#given.has(text);
    this.#made.add(text);
    return isNew;
  }

  changes(op: string, target: Place, from: Place): void {
    const text = textOf(target);
    if ([...this.#gone].some((other) => text === other || text.startsWith(`${other} `)))
      throw new NotConverted(
        ["path"],
        "an operation on what another one has removed is not converted: write both as one",
      );
    if (op === "remove" || op === "move") this.#gone.add(textOf(op === "move" ? from : target));
    if (op !== "remove") this.#given.add(text);
  }
}
