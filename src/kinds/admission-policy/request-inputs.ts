import { type AuthorizerValue, type ResourceCheckValue, Waiting } from "../../cel/index.js";
import { asStruct, structOfObject } from "../../kubernetes/go-types/as-struct.js";
import { apiVersionOf, type GroupVersionKind } from "../../kubernetes/names.js";
import { describedAs, isObject, type JsonObject } from "../../kubernetes/object.js";
import type { Failure } from "../../policy/outcome.js";
import type { RequestWorld } from "../../world/request-world.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import { authorizerValues } from "../shared/expressions/authorization.js";
import {
  type NamespaceViews,
  NO_NAMESPACE,
  namespaceViews,
  type VersionedInput,
  versionedInput,
} from "../shared/expressions/input.js";
import { namespaceNotFound } from "../shared/match/match-resources.js";
import type { Matched } from "../shared/match/match-rules.js";
import type { RequestAttributes } from "../shared/match/request-attributes.js";
import type { Authorization } from "./evaluation-inputs.js";

/** The options of a connect request, which are never stored, in the form of Go's type; any other object as it is. */
export function connectOptions(object: JsonObject, operation: string): JsonObject | LookupFailure {
  if (operation !== "CONNECT") return object;
  const type = structOfObject(object);
  const shaped = type && asStruct(object, type);
  if (shaped === undefined) return object;
  return shaped.ok ? shaped.object : new LookupFailure(shaped.error);
}

/** The inputs of policies for one request (disposable): objects in the versions in which they match them, the Namespace, the authorizer. */
export class RequestInputs implements Authorization {
  readonly #request: RequestAttributes;
  readonly #world: RequestWorld;
  /** Whether objects are used as they are, whatever kind they are matched as. */
  readonly #targeted: boolean;
  /** Whether several policies share results. */
  readonly #shares: boolean;
  /** The input of policies that match the request as it is. */
  #original: VersionedInput | undefined;
  /** The inputs of others, by matched kind and resource. */
  #versions: Map<string, VersionedInput> | undefined;
  #namespace: NamespaceViews | Waiting | Failure | undefined;
  #authorization: Authorization | undefined;

  constructor(request: RequestAttributes, world: RequestWorld, targeted: boolean, shares = true) {
    this.#request = request;
    this.#world = world;
    this.#targeted = targeted;
    this.#shares = shares;
  }

  get authorizer(): AuthorizerValue {
    return this.#asked.authorizer;
  }

  get requestResource(): ResourceCheckValue {
    return this.#asked.requestResource;
  }

  get #asked(): Authorization {
    this.#authorization ??= authorizerValues(this.#request, this.#world);
    return this.#authorization;
  }

  /** The request as a policy matches it; or why its objects cannot be converted to that. */
  version(matched: Matched): VersionedInput | LookupFailure {
    const { kind, resource } = matched;
    if (kind === this.#request.kind && resource === this.#request.resource) {
      const original = this.#original ?? this.#versioned(matched);
      if (!(original instanceof LookupFailure)) this.#original = original;
      return original;
    }
    this.#versions ??= new Map();
    const key = `${apiVersionOf(kind)} ${kind.kind} ${apiVersionOf(resource)} ${resource.resource}`;
    const version = this.#versions.get(key) ?? this.#versioned(matched);
    if (!(version instanceof LookupFailure)) this.#versions.set(key, version);
    return version;
  }

  #versioned(matched: Matched): VersionedInput | LookupFailure {
    const oldObject = this.#convert(this.#request.oldObject, matched.kind);
    if (oldObject instanceof LookupFailure) return oldObject;
    const object = this.#convert(this.#request.object, matched.kind);
    if (object instanceof LookupFailure) return object;
    return versionedInput(this.#request, matched, { object, oldObject }, this.#shares);
  }

  #convert(object: unknown, kind: GroupVersionKind): unknown {
    if (this.#targeted || !isObject(object)) return object;
    // An object without apiVersion and kind has those of the review, which is what the API server has converted it to.
    const described = describedAs(object, this.#request.converted?.kind ?? this.#request.kind);
    const converted = this.#world.convert(described, kind);
    return converted instanceof LookupFailure ? converted : connectOptions(converted, this.#request.operation);
  }

  /** The request's Namespace: none for cluster-scoped requests and for Namespaces themselves. If it is missing, the whole request fails. */
  namespace(): NamespaceViews | Waiting | Failure {
    this.#namespace ??= this.#findNamespace();
    return this.#namespace;
  }

  #findNamespace(): NamespaceViews | Waiting | Failure {
    const { kind, namespace: name } = this.#request;
    if (name === "" || (kind.group === "" && kind.version === "v1" && kind.kind === "Namespace")) return NO_NAMESPACE;
    const found = this.#world.namespace(name);
    if (found instanceof Waiting) return found;
    const failed = { verdict: "error", cause: "unavailable" } as const;
    if (found === undefined) return { ...failed, message: namespaceNotFound(name), code: 404, reason: "NotFound" };
    if (found instanceof LookupFailure)
      return { ...failed, message: found.message, code: 500, reason: "InternalError" };
    return namespaceViews(found);
  }
}
