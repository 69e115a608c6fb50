import { Waiting } from "../../cel/index.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import { collectParams, NO_PARAM, paramScope } from "../admission-policy/params.js";
import type { PreparedTarget } from "../admission-policy/prepared-binding.js";
import type { Attempt } from "../shared/expressions/attempt.js";
import { type MatchResult, matchRequest } from "../shared/match/match-resources.js";
import type { Matched } from "../shared/match/match-rules.js";
import type { RequestAttributes } from "../shared/match/request-attributes.js";
import type { Watcher } from "../shared/watcher.js";
import type { Invocation, PolicyError } from "./invocation.js";
import type { PreparedPolicy } from "./prepared-policy.js";
import type { VersionedObjects } from "./versioned-objects.js";

/** The selected invocations, and the errors; the result of a selection that waits must be discarded. */
export interface Selection {
  readonly invocations: readonly Invocation[];
  readonly errors: readonly PolicyError[];
  readonly waiting: boolean;
  /** Why the first policy that is not selected is not. */
  readonly skipped: string | undefined;
}

/**
 * Selects for all policies, before any of them is evaluated: selectors see the object as it is now (spec mutating-admission-policy.md 2).
 * @param targeted whether the caller has named the target: rules and selectors are ignored
 */
export function selectInvocations(
  policies: readonly PreparedPolicy[],
  request: RequestAttributes,
  versions: VersionedObjects,
  attempt: Attempt,
  targeted: boolean,
  watcher: Watcher | undefined,
): Selection {
  const selecting = new Selecting(request, versions, attempt, targeted, watcher);
  for (const policy of policies) {
    if (attempt.expired()) break;
    selecting.select(policy);
  }
  return selecting;
}

/** The selection for one request while it is made (disposable). */
class Selecting implements Selection {
  readonly invocations: Invocation[] = [];
  readonly errors: PolicyError[] = [];
  waiting = false;
  skipped: string | undefined;
  readonly #request: RequestAttributes;
  readonly #versions: VersionedObjects;
  readonly #attempt: Attempt;
  readonly #targeted: boolean;
  readonly #watcher: Watcher | undefined;

  constructor(
    request: RequestAttributes,
    versions: VersionedObjects,
    attempt: Attempt,
    targeted: boolean,
    watcher: Watcher | undefined,
  ) {
    this.#request = request;
    this.#versions = versions;
    this.#attempt = attempt;
    this.#targeted = targeted;
    this.#watcher = watcher;
  }

  select(policy: PreparedPolicy): void {
    const matched = this.#match(policy);
    if (matched instanceof Waiting) this.waiting = true;
    else if (matched.outcome === "no") this.#skip(policy, matched.reason);
    else if (matched.outcome === "error") this.#misconfigured(policy, undefined, matched.message);
    else this.#selectBindings(policy, matched);
  }

  #match({ match }: PreparedPolicy): MatchResult {
    const { kind, resource } = this.#request;
    if (this.#targeted) return { outcome: "match", kind, resource };
    if (match !== undefined) return matchRequest(match, this.#request, this.#attempt.world);
    return { outcome: "error", message: "policy contained no match constraints, a required field" };
  }

  #selectBindings(policy: PreparedPolicy, matched: Matched): void {
    const namespaced = paramScope(policy.paramKind, this.#attempt.world);
    if (namespaced instanceof Waiting) {
      this.waiting = true;
      return;
    }
    if (namespaced instanceof LookupFailure) {
      this.#misconfigured(policy, undefined, namespaced.message);
      return;
    }
    if (policy.bindings.length === 0) this.#skip(policy, "no binding names the policy");
    for (const binding of policy.bindings) this.#selectBinding(policy, binding, matched, namespaced);
  }

  #selectBinding(policy: PreparedPolicy, binding: PreparedTarget, matched: Matched, namespaced: boolean): void {
    const { world } = this.#attempt;
    if (binding.match !== undefined && !this.#targeted) {
      const bound = matchRequest(binding.match, this.#request, world);
      if (bound instanceof Waiting) {
        this.waiting = true;
        return;
      }
      if (bound.outcome === "no") {
        this.#skip(policy, `no binding matches: ${bound.reason}`);
        return;
      }
      if (bound.outcome === "error") {
        this.#misconfigured(policy, binding, bound.message);
        return;
      }
    }
    const versioned = this.#versions.of(matched.kind);
    if (versioned instanceof LookupFailure) {
      // The API server reports this of the policy, not of the binding.
      this.#misconfigured(policy, undefined, versioned.message);
      return;
    }
    const params = collectParams(policy.paramKind, binding.paramRef, this.#request.namespace, namespaced, world);
    if (params instanceof Waiting) this.waiting = true;
    else if (params instanceof LookupFailure) this.#misconfigured(policy, binding, params.message);
    else if (params.length === 0) this.#skip(policy, "there is no parameter to mutate with");
    else for (const param of params) this.invocations.push({ policy, binding, matched, param: param ?? NO_PARAM });
  }

  #skip(policy: PreparedPolicy, reason: string): void {
    this.skipped ??= reason;
    this.#watcher?.found?.(policy, `does not apply: ${reason}`);
  }

  #misconfigured(policy: PreparedPolicy, binding: PreparedTarget | undefined, reason: string): void {
    const message = `failed to configure ${binding === undefined ? "policy" : "binding"}: ${reason}`;
    this.#watcher?.found?.(policy, message);
    this.errors.push({ policy, binding, message, kind: "configuration" });
  }
}
