import type { Value } from "../../cel/index.js";
import { structOf } from "../../kubernetes/go-types/as-struct.js";
import { apiVersionOf, type GroupVersionKind, type GroupVersionResource, sameKind } from "../../kubernetes/names.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import { type VersionedInput, versionedInput, withObject, withRequest } from "../shared/expressions/input.js";
import type { RequestAttributes } from "../shared/match/request-attributes.js";
import type { VariableTypes } from "../shared/mutation/typed-values.js";
import type { Conversions } from "./conversions.js";

/**
 * The object of a request in the versions in which policies match it (disposable): each has a copy of its own, and changes of one do not show in
 * the others (spec mutating-admission-policy.md 2).
 */
export class VersionedObjects {
  readonly #request: RequestAttributes;
  readonly #convert: Conversions;
  readonly #targeted: boolean;
  readonly #typed: boolean;
  readonly #versions = new Map<string, VersionedObject | LookupFailure>();

  /**
   * @param targeted whether objects are used as they are, whatever kind they are matched as
   * @param typed whether objects of built-in kinds are reduced to what Go's structs keep
   */
  constructor(request: RequestAttributes, convert: Conversions, targeted: boolean, typed: boolean) {
    this.#request = request;
    this.#convert = convert;
    this.#targeted = targeted;
    this.#typed = typed;
  }

  /** Number of versions that policies have asked for. */
  get count(): number {
    return this.#versions.size;
  }

  /** The object as a kind; or why it cannot be converted. */
  of(kind: GroupVersionKind): VersionedObject | LookupFailure {
    const key = `${apiVersionOf(kind)} ${kind.kind}`;
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
    const typed = this.#typed ? this.#convert.shaped(object) : undefined;
    const objects = { object: typed ?? object, oldObject: (typed && this.#convert.shaped(oldObject)) ?? oldObject };
    const input = versionedInput(this.#request, { kind, resource: this.#request.resource }, objects);
    return input instanceof LookupFailure ? input : new VersionedObject(kind, input, typed !== undefined);
  }

  /** The object with the name of a kind: after a policy's change it is still of the requested kind, even if it names another one. */
  #as(object: unknown, kind: GroupVersionKind): unknown {
    if (this.#targeted || !isObject(object)) return object;
    const converted = this.#convert.to(object, this.#said, kind);
    return converted instanceof LookupFailure ? converted : this.#convert.connected(converted, this.#request.operation);
  }

  /** An object in the request's version; or why it cannot be converted back. */
  asRequested(versioned: VersionedObject): unknown {
    const { object, kind } = versioned;
    if (this.#targeted || !isObject(object) || sameKind(kind, this.#said)) return object;
    return this.#convert.to(object, kind, this.#said);
  }

  /** The kind of the request's objects. */
  get #said(): GroupVersionKind {
    return this.#request.converted?.kind ?? this.#request.kind;
  }
}

/** The form in which expressions see an object. */
type Sight = "json" | "struct";

/** The object in one version, as it stands after the mutations so far (disposable). */
export class VersionedObject {
  readonly kind: GroupVersionKind;
  /** Whether the object is reduced to what Go's struct of its kind keeps, as inside of the API server. */
  readonly typed: boolean;
  /** The object before any mutation. */
  readonly original: unknown;
  #dirty = false;
  /** Whether match conditions have read it: from then on the server shows expressions its struct, and before that its JSON. */
  #asStruct = false;
  /** The form in which expressions see the object, once one has read it. */
  #seen: Sight | undefined;
  #oldSeen: Sight | undefined;
  /** The input for the resource that the request names. */
  #input: VersionedInput;
  /** The input for another resource. */
  #other: { readonly resource: GroupVersionResource; readonly input: VersionedInput } | undefined;

  constructor(kind: GroupVersionKind, input: VersionedInput, typed: boolean) {
    this.kind = kind;
    this.typed = typed;
    this.original = input.object;
    this.#input = input;
  }

  /** `null`: there is none. */
  get object(): unknown {
    return this.#input.object;
  }

  /** Whether a mutation succeeded, also one that changed nothing. */
  get dirty(): boolean {
    return this.#dirty;
  }

  /** Sets the result of a mutation. */
  update(object: JsonObject): void {
    this.#dirty = true;
    this.#seen = undefined;
    if (object === this.object) return;
    this.#input = withObject(this.#input, object as Value);
    this.#other = undefined;
  }

  /** Must be called before expressions read it: match conditions, or a mutation. */
  look(by: "conditions" | "mutation"): void {
    if (by === "conditions") this.#asStruct = true;
    const sight = this.#asStruct ? "struct" : "json";
    this.#seen ??= sight;
    this.#oldSeen ??= sight;
  }

  /** The structs that mutations see; a struct cannot be a value of a JSON Patch (spec mutating-admission-policy.md 6). */
  get types(): VariableTypes {
    const struct = this.typed ? structOf(apiVersionOf(this.kind), this.kind.kind) : undefined;
    return {
      object: this.#seen === "struct" ? struct : undefined,
      oldObject: this.#oldSeen === "struct" ? struct : undefined,
    };
  }

  /** The inputs of expressions now, matched as a resource; `requested` is the one that the request names. */
  input(resource: GroupVersionResource, requested: GroupVersionResource): VersionedInput {
    if (resource === requested) return this.#input;
    if (this.#other?.resource === resource) return this.#other.input;
    const { group, version, resource: name } = resource;
    const request = { ...(this.#input.request as JsonObject), resource: { group, version, resource: name } } as Value;
    const input = withRequest(this.#input, request);
    this.#other = { resource, input };
    return input;
  }
}
