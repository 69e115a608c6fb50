/**
 * The world for one request (disposable): known answers are given at once, others go through {@link Questions}, so
 * that every question is asked once for the request, over all its policies, and those of one round side by side.
 */
import { type QuestionFailure, Questions, Waiting } from "../cel/index.js";
import { Reasons } from "../data/public-text.js";
import { apiVersionOf, type GroupVersionKind, type GroupVersionResource } from "../kubernetes/names.js";
import type { JsonObject } from "../kubernetes/object.js";
import type { Equivalents } from "../kubernetes/shared-storage.js";
import type { VersionSchemas } from "../kubernetes/structured-merge/merge-schemas.js";
import {
  type AuthorizerAttributes,
  type AuthorizerDecision,
  type AuthorizerUser,
  undecidedFor,
} from "./authorizer/authorizer.js";
import type { Eventual } from "./eventual.js";
import { NO_EXTERNAL } from "./external.js";
import { RequestExternal } from "./request-external.js";
import { type Lookup, LookupFailure, lookupFailureOf } from "./resources/resource-source.js";
import type { World } from "./world.js";

/**
 * Most different questions of one request that has to wait: twice as many as those of the largest policies in use, with a parameter for each of a
 * thousand bindings.
 */
export const MAX_QUESTIONS = 2_048;

/** The result of a look-up: {@link Waiting} until its answer arrives. */
export type LookedUp<T> = Lookup<T> | Waiting;

/** Stands for a look-up that was not made yet, since an earlier round may have its answer. */
const UNASKED: Promise<never> = new Promise(() => {});

/** Answers the policies that are evaluated about one request. */
export class RequestWorld {
  readonly questions = new Questions(MAX_QUESTIONS);
  readonly #world: World;
  #failure: string | undefined;
  /** The user of the last question. */
  #user: { readonly user: AuthorizerUser; readonly number: number } | undefined;
  #namespace: { readonly name: string; readonly found: Lookup<JsonObject> } | undefined;
  /** Made at the first failure: most look-ups succeed. */
  #reasons: Reasons | undefined;
  /** Made at first use: most requests fetch nothing. */
  #external: RequestExternal | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  /** The factor for the cost limits of expressions. */
  get costFactor(): number {
    return this.#world.costFactor ?? 1;
  }

  /** Why the request has to fail, whatever the policies' results: it has more questions than {@link MAX_QUESTIONS}, or one that is refused. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** The details for the log beside answers: of failed look-ups those that answers must not contain (addresses, accounts, files), and exceeded limits. */
  get detail(): string | undefined {
    return this.#reasons?.text;
  }

  /** The data that expressions fetch themselves. */
  get external(): RequestExternal {
    this.#external ??= new RequestExternal(
      this.#world.external ?? NO_EXTERNAL,
      (key, put) => this.#noted(this.questions.ask({ key, put, failed: (failure) => this.#failed(failure) })),
      (reason) => this.#refused(reason),
      (detail) => this.note(detail),
      () => this.questions.empty,
    );
    return this.#external;
  }

  /** As {@link import("./resources/resource-source.js").ResourceSource}; so are the others. */
  namespace(name: string): LookedUp<JsonObject> {
    const { resources } = this.#world;
    // A known answer is kept, too: an evaluation that pauses must not see two states.
    if (this.#namespace?.name === name) return this.#namespace.found;
    const found = this.questions.empty ? resources.namespace(name) : UNASKED;
    if (found instanceof Promise) return this.#lookUp(`namespace ${name}`, found, () => resources.namespace(name));
    this.#namespace = { name, found };
    return this.#noted(found);
  }

  get(kind: GroupVersionKind, namespace: string, name: string): LookedUp<JsonObject> {
    const { resources } = this.#world;
    const found = this.questions.empty ? resources.get(kind, namespace, name) : UNASKED;
    if (!(found instanceof Promise)) return this.#noted(found);
    return this.#lookUp(`get ${nameOf(kind)} ${namespace}/${name}`, found, () => resources.get(kind, namespace, name));
  }

  list(kind: GroupVersionKind, namespace: string): LookedUp<readonly JsonObject[]> {
    const { resources } = this.#world;
    const found = this.questions.empty ? resources.list(kind, namespace) : UNASKED;
    if (!(found instanceof Promise)) return this.#noted(found);
    return this.#lookUp(`list ${nameOf(kind)} ${namespace}`, found, () => resources.list(kind, namespace));
  }

  namespaced(kind: GroupVersionKind): LookedUp<boolean> {
    const { resources } = this.#world;
    const found = this.questions.empty ? resources.namespaced(kind) : UNASKED;
    if (!(found instanceof Promise)) return this.#noted(found);
    return this.#lookUp(`scope ${nameOf(kind)}`, found, () => resources.namespaced(kind));
  }

  equivalents(resource: GroupVersionResource, subresource: string): LookedUp<Equivalents> {
    const { resources } = this.#world;
    const found = this.questions.empty ? resources.equivalents(resource, subresource) : UNASKED;
    if (!(found instanceof Promise)) return this.#noted(found);
    const key = `equivalents ${apiVersionOf(resource)}/${resource.resource}/${subresource}`;
    return this.#lookUp(key, found, () => resources.equivalents(resource, subresource));
  }

  /** How objects of a group and version are merged; `undefined` when it is not published. */
  mergeTypes(group: string, version: string): LookedUp<VersionSchemas> {
    const { mergeTypes } = this.#world;
    if (mergeTypes === undefined) return undefined;
    const found = this.questions.empty ? mergeTypes.version(group, version) : UNASKED;
    if (!(found instanceof Promise)) return this.#noted(found);
    const key = `merge types ${apiVersionOf({ group, version })}`;
    return this.#lookUp(key, found, () => mergeTypes.version(group, version));
  }

  convert(object: JsonObject, to: GroupVersionKind): JsonObject | LookupFailure {
    return this.#world.resources.convert(object, to);
  }

  /** Asks the authorizer; every question once, even when its answer is known at once. */
  authorize(attributes: AuthorizerAttributes): AuthorizerDecision | Waiting {
    return this.#authorize(this.#keyOf(attributes), () => this.#world.authorizer.authorize(attributes));
  }

  /**
   * As {@link authorize}, for a question that the caller identifies by a word within the request. An answer that is known at once does not count as a question: the
   * caller keeps it, and may ask any number.
   */
  authorizeBy(word: string, attributes: AuthorizerAttributes): AuthorizerDecision | Waiting {
    const { authorizer } = this.#world;
    const key = `authorize by ${word}`;
    if (this.questions.full || this.questions.recall(key) !== undefined)
      return this.#authorize(key, () => authorizer.authorize(attributes));
    const found = authorizer.authorize(attributes);
    return found instanceof LookupFailure || found instanceof Promise ? this.#authorize(key, () => found) : found;
  }

  #authorize(key: string, put: () => Eventual<AuthorizerDecision | LookupFailure>): AuthorizerDecision | Waiting {
    const decided = this.questions.ask<AuthorizerDecision | LookupFailure>({
      key,
      put,
      failed: (failure) => undecidedFor(this.#failed(failure)),
    });
    if (decided instanceof LookupFailure) {
      this.#noted(decided);
      return this.refuse(decided.message);
    }
    if (!(decided instanceof Waiting) && decided.detail !== undefined) this.note(decided.detail);
    return decided;
  }

  #keyOf(asked: AuthorizerAttributes): string {
    const { verb, group, version, resource, subresource, namespace, name, path } = asked;
    const { fieldSelector, labelSelector, selectorError } = asked;
    const what = [verb, group, version, resource, subresource, namespace, name, path];
    return `authorize ${this.#numberOf(asked.user)} ${JSON.stringify([...what, fieldSelector, labelSelector, selectorError])}`;
  }

  /** The number of a user, equal for equal users: a user may have ten thousand groups, and a thousand questions are put about one. */
  #numberOf(user: AuthorizerUser): number {
    if (this.#user?.user === user) return this.#user.number;
    const number = this.questions.giveNumber(canonicalUser(user));
    this.#user = { user, number };
    return number;
  }

  /** The answer to a check that ends the request: expressions could take *not allowed* for a reason to allow. */
  refuse(message: string): AuthorizerDecision {
    this.#failure ??= message;
    return undecided(message);
  }

  /** Looks up an answer. Until something had to be waited for, no answer is kept and no key made: the callers check that before. */
  #lookUp<T>(key: string, found: Promise<Lookup<T>>, ask: () => Eventual<Lookup<T>>): LookedUp<T> {
    return this.#noted(
      this.questions.ask<Lookup<T>>({
        key,
        put: found === UNASKED ? ask : () => found,
        failed: (failure) => this.#failed(failure),
      }),
    );
  }

  #failed(failure: QuestionFailure): LookupFailure {
    if (failure.kind === "thrown") return lookupFailureOf(failure.error);
    return this.#refused(`the policy asks more than ${failure.limit} different questions`);
  }

  #refused(reason: string): LookupFailure {
    this.#failure ??= reason;
    return new LookupFailure(this.#failure);
  }

  #noted<T>(found: T): T {
    if (found instanceof LookupFailure && found.detail !== undefined) this.note(found.detail);
    return found;
  }

  /** Adds a detail for the log. */
  note(detail: string): void {
    this.#reasons ??= new Reasons();
    this.#reasons.add(detail);
  }
}

const undecided = (error: string): AuthorizerDecision => ({ decision: "noOpinion", reason: "", error });

const nameOf = (kind: GroupVersionKind): string => `${apiVersionOf(kind)}/${kind.kind}`;

/** The text of a user; groups and extra values count as sets. */
const canonicalUser = (user: AuthorizerUser): string =>
  JSON.stringify([
    user.name,
    user.uid,
    [...user.groups].sort(),
    Object.entries(user.extra)
      .map(([key, values]) => [key, [...values].sort()] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);
