/**
 * The world as one request sees it (disposable): what is at hand is answered at once, what has to be fetched goes through {@link Questions}, so
 * that every question is asked once for the request, over all its policies, and those of one round side by side.
 */
import { type QuestionFailure, Questions, type Waiting } from "../cel/index.js";
import { reasonOf } from "../kubernetes/client/errors.js";
import { apiVersionOf, type GroupVersionKind, type GroupVersionResource } from "../kubernetes/names.js";
import type { JsonObject } from "../kubernetes/object.js";
import type { EquivalentResource } from "../kubernetes/shared-storage.js";
import type { AuthorizerAttributes, AuthorizerDecision, AuthorizerUser } from "./authorizer/authorizer.js";
import type { Eventual } from "./eventual.js";
import { type Lookup, LookupFailure } from "./resources/resource-source.js";
import type { World } from "./world.js";

/**
 * Most different questions of one request that has to wait: twice as many as the largest policies in use ask, with a parameter for each of a
 * thousand bindings.
 */
export const MAX_QUESTIONS = 2_048;

/** What a look-up comes to: {@link Waiting} while its answer is on its way. */
export type LookedUp<T> = Lookup<T> | Waiting;

/** Answers the policies that look at one request. */
export class RequestWorld {
  readonly questions = new Questions(MAX_QUESTIONS);
  readonly #world: World;
  #exhausted = false;

  constructor(world: World) {
    this.#world = world;
  }

  /** More was asked than {@link MAX_QUESTIONS}: the request has to fail, whatever the policies make of it. */
  get exhausted(): boolean {
    return this.#exhausted;
  }

  /** As {@link import("./resources/resource-source.js").ResourceSource}; so are the others. */
  namespace(name: string): LookedUp<JsonObject> {
    const ask = () => this.#world.resources.namespace(name);
    return this.#lookUp(ask, () => `namespace ${name}`);
  }

  get(kind: GroupVersionKind, namespace: string, name: string): LookedUp<JsonObject> {
    const ask = () => this.#world.resources.get(kind, namespace, name);
    return this.#lookUp(ask, () => `get ${nameOf(kind)} ${namespace}/${name}`);
  }

  list(kind: GroupVersionKind, namespace: string): LookedUp<readonly JsonObject[]> {
    const ask = () => this.#world.resources.list(kind, namespace);
    return this.#lookUp(ask, () => `list ${nameOf(kind)} ${namespace}`);
  }

  namespaced(kind: GroupVersionKind): LookedUp<boolean> {
    const ask = () => this.#world.resources.namespaced(kind);
    return this.#lookUp(ask, () => `scope ${nameOf(kind)}`);
  }

  equivalents(resource: GroupVersionResource, subresource: string): LookedUp<readonly EquivalentResource[]> {
    const ask = () => this.#world.resources.equivalents(resource, subresource);
    return this.#lookUp(ask, () => `equivalents ${apiVersionOf(resource)}/${resource.resource}/${subresource}`);
  }

  convert(object: JsonObject, to: GroupVersionKind): JsonObject | LookupFailure {
    return this.#world.resources.convert(object, to);
  }

  /** Every question goes to the authorizer once, also when it answers at once. */
  authorize(attributes: AuthorizerAttributes): AuthorizerDecision | Waiting {
    return this.questions.ask<AuthorizerDecision>({
      key: `authorize ${JSON.stringify({ ...attributes, user: canonicalUser(attributes.user) })}`,
      put: () => this.#world.authorizer.authorize(attributes),
      failed: (failure) => ({ decision: "noOpinion", reason: "", error: this.#messageOf(failure) }),
    });
  }

  /** While nothing had to be waited for there is nothing to remember either, and no key to make. */
  #lookUp<T>(ask: () => Eventual<Lookup<T>>, key: () => string): LookedUp<T> {
    const found = this.questions.empty ? ask() : undefined;
    if (this.questions.empty && !(found instanceof Promise)) return found;
    return this.questions.ask<Lookup<T>>({
      key: key(),
      put: found instanceof Promise ? () => found : ask,
      failed: (failure) => new LookupFailure(this.#messageOf(failure)),
    });
  }

  #messageOf(failure: QuestionFailure): string {
    if (failure.kind === "thrown") return reasonOf(failure.error);
    this.#exhausted = true;
    return `the request asks more than ${failure.limit} different questions`;
  }
}

const nameOf = (kind: GroupVersionKind): string => `${apiVersionOf(kind)}/${kind.kind}`;

/** Groups and extra values count as sets. */
const canonicalUser = (user: AuthorizerUser): unknown => [
  user.name,
  user.uid,
  [...user.groups].sort(),
  Object.entries(user.extra)
    .map(([key, values]) => [key, [...values].sort()] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1)),
];
