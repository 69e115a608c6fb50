import type { Value } from "../../cel/index.js";
import { type VersionedInput, versionedInput } from "../../cel-policy/expressions/input.js";
import type { RequestAttributes } from "../../cel-policy/match/request-attributes.js";
import { apiVersionOf, type GroupVersionKind, type GroupVersionResource } from "../../kubernetes/names.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import type { RequestWorld } from "../../world/request-world.js";
import { LookupFailure } from "../../world/resources/resource-source.js";

/**
 * The object of a request in the versions in which policies match it (disposable): each has a copy of its own, and what is done to one does not show in
 * the others (spec mutating-admission-policy.md 2).
 */
export class VersionedObjects {
  readonly #request: RequestAttributes;
  readonly #convert: Convert;
  readonly #targeted: boolean;
  readonly #versions = new Map<string, VersionedObject | LookupFailure>();

  /** @param targeted the objects are taken as they are, whatever kind they are matched as */
  constructor(request: RequestAttributes, convert: Convert, targeted: boolean) {
    this.#request = request;
    this.#convert = convert;
    this.#targeted = targeted;
  }

  /** How many versions policies have asked for. */
  get count(): number {
    return this.#versions.size;
  }

  /** The object as a kind; or why it cannot be converted to that. */
  of(kind: GroupVersionKind): VersionedObject | LookupFailure {
    const key = nameOfKind(kind);
    const known = this.#versions.get(key);
    if (known !== undefined) return known;
    const made = this.#make(kind);
    this.#versions.set(key, made);
    return made;
  }

  #make(kind: GroupVersionKind): VersionedObject | LookupFailure {
    const oldObject = this.#as(this.#request.oldObject, kind);
    if (oldObject instanceof LookupFailure) return oldObject;
    const object = this.#as(this.#request.object, kind);
    if (object instanceof LookupFailure) return object;
    return new VersionedObject(kind, this.#request, object, oldObject);
  }

  /** What a policy has made of an object is still what was asked for, whatever it calls itself now. */
  #as(object: unknown, kind: GroupVersionKind): unknown {
    return this.#targeted || !isObject(object) ? object : this.#convert(object, this.#said, kind);
  }

  /** An object in the version in which the request has it; or why it cannot be converted back. */
  asRequested(versioned: VersionedObject): unknown {
    const { object, kind } = versioned;
    if (this.#targeted || !isObject(object) || sameKind(kind, this.#said)) return object;
    return this.#convert(object, kind, this.#said);
  }

  /** What the request says that its objects are. */
  get #said(): GroupVersionKind {
    return this.#request.converted?.kind ?? this.#request.kind;
  }
}

/** Makes an object of one kind one of another: the same each time that it is asked, so that repeated attempts see one object. */
export type Convert = (object: JsonObject, from: GroupVersionKind, to: GroupVersionKind) => JsonObject | LookupFailure;

/** Converts in a world, and remembers what became of an object for as long as the request lasts. */
export function rememberingConvert(world: RequestWorld): Convert {
  const known = new WeakMap<JsonObject, Map<string, JsonObject | LookupFailure>>();
  return (object, from, to) => {
    const labelled = labelledAs(object, from, known);
    const of = known.get(labelled) ?? new Map<string, JsonObject | LookupFailure>();
    known.set(labelled, of);
    const key = nameOfKind(to);
    const found = of.get(key) ?? world.convert(labelled, to);
    of.set(key, found);
    return found;
  };
}

const sameKind = (a: GroupVersionKind, b: GroupVersionKind): boolean =>
  a.kind === b.kind && a.version === b.version && a.group === b.group;

const nameOfKind = (kind: GroupVersionKind): string => `${apiVersionOf(kind)} ${kind.kind}`;

/** The object under the name of a kind; the same object when that is its name. */
function labelledAs(
  object: JsonObject,
  kind: GroupVersionKind,
  known: WeakMap<JsonObject, Map<string, JsonObject | LookupFailure>>,
): JsonObject {
  const apiVersion = apiVersionOf(kind);
  if (text(object, "apiVersion") === apiVersion && text(object, "kind") === kind.kind) return object;
  const of = known.get(object) ?? new Map<string, JsonObject | LookupFailure>();
  known.set(object, of);
  const key = `labelled ${nameOfKind(kind)}`;
  const found = of.get(key);
  if (found !== undefined && !(found instanceof LookupFailure)) return found;
  const labelled = { ...object, apiVersion, kind: kind.kind };
  of.set(key, labelled);
  return labelled;
}

/** The object in one version, as it stands after the mutations so far (disposable). */
export class VersionedObject {
  readonly kind: GroupVersionKind;
  readonly #request: RequestAttributes;
  readonly #oldObject: unknown;
  #object: unknown;
  #dirty = false;
  /** By resource; most requests are matched as one. */
  #input: { readonly resource: GroupVersionResource; readonly input: VersionedInput } | undefined;

  constructor(kind: GroupVersionKind, request: RequestAttributes, object: unknown, oldObject: unknown) {
    this.kind = kind;
    this.#request = request;
    this.#object = object;
    this.#oldObject = oldObject;
  }

  /** `undefined`: there is none. */
  get object(): unknown {
    return this.#object;
  }

  /** Whether a mutation succeeded, also one that changed nothing. */
  get dirty(): boolean {
    return this.#dirty;
  }

  /** What a mutation came to. */
  update(object: unknown): void {
    this.#dirty = true;
    if (object === this.#object) return;
    this.#object = object;
    if (this.#input === undefined) return;
    const { resource, input } = this.#input;
    const [conditionResults, validationResults] = [new Map(), new Map()];
    this.#input = { resource, input: { ...input, object: object as Value, conditionResults, validationResults } };
  }

  /** What expressions see of the request now, matched as this resource. */
  input(resource: GroupVersionResource): VersionedInput {
    if (this.#input?.resource === resource) return this.#input.input;
    const objects = { object: this.#object, oldObject: this.#oldObject };
    const input = versionedInput(this.#request, { kind: this.kind, resource }, objects);
    this.#input = { resource, input };
    return input;
  }
}
