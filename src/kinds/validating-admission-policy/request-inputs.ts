/** What policies are given of one request, made once for all of them (disposable). */
import { Waiting } from "../../cel/questions.js";
import { authorizerValues } from "../../cel-policy/expressions/authorization.js";
import {
  type NamespaceViews,
  NO_NAMESPACE,
  namespaceViews,
  type VersionedInput,
  versionedInput,
} from "../../cel-policy/expressions/input.js";
import { type Matched, namespaceNotFound } from "../../cel-policy/match/match-resources.js";
import type { RequestAttributes } from "../../cel-policy/match/request-attributes.js";
import { apiVersionOf, type GroupVersionKind } from "../../kubernetes/names.js";
import { isObject } from "../../kubernetes/object.js";
import type { Failure } from "../../policy/outcome.js";
import type { RequestWorld } from "../../world/request-world.js";
import { LookupFailure } from "../../world/resources/resource-source.js";

/** Objects in the versions in which policies match them, the Namespace, the authorizer. */
export class RequestInputs {
  readonly authorization: ReturnType<typeof authorizerValues>;
  readonly #request: RequestAttributes;
  readonly #world: RequestWorld;
  /** Objects are taken as they are, whatever kind they are matched as. */
  readonly #targeted: boolean;
  /** By matched kind and resource. */
  readonly #versions = new Map<string, VersionedInput>();
  /** For policies that match the request as it is. */
  #original: VersionedInput | undefined;
  #namespace: NamespaceViews | Waiting | Failure | undefined;

  constructor(request: RequestAttributes, world: RequestWorld, targeted: boolean) {
    this.#request = request;
    this.#world = world;
    this.#targeted = targeted;
    this.authorization = authorizerValues(request, world);
  }

  /** The request as a policy matches it; or why its objects cannot be converted to that. */
  version(matched: Matched): VersionedInput | LookupFailure {
    const { kind, resource } = matched;
    const original = kind === this.#request.kind && resource === this.#request.resource;
    if (original && this.#original !== undefined) return this.#original;
    const key = `${apiVersionOf(kind)} ${kind.kind} ${apiVersionOf(resource)} ${resource.resource}`;
    let input = this.#versions.get(key);
    if (input === undefined) {
      const oldObject = this.#convert(this.#request.oldObject, kind);
      if (oldObject instanceof LookupFailure) return oldObject;
      const object = this.#convert(this.#request.object, kind);
      if (object instanceof LookupFailure) return object;
      input = versionedInput(this.#request, matched, { object, oldObject });
      this.#versions.set(key, input);
    }
    if (original) this.#original = input;
    return input;
  }

  #convert(object: unknown, kind: GroupVersionKind): unknown {
    return this.#targeted || !isObject(object) ? object : this.#world.convert(object, kind);
  }

  /** The request's Namespace: none for cluster-scoped requests and for Namespaces themselves. Its absence ends the whole request. */
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
