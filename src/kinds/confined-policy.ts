/** Policies that are confined to a namespace. The confinement is checked for each request, because webhooks are only configured to send those of the namespace. */
import type { EvaluationContext, Outcome, Policy, Review } from "../policy/index.js";

/**
 * The policy, for requests about objects in a namespace: to other requests, and to objects in no namespace, it does not apply. A request that is not an
 * admission request has no namespace, and is left to the policy.
 * @param namespace absent: the policy as it is
 */
export function confined(policy: Policy, namespace: string | undefined): Policy {
  if (namespace === undefined) return policy;
  return policy.start === undefined ? new ConfinedPolicy(policy, namespace) : new ConfinedGuest(policy, namespace);
}

class ConfinedPolicy implements Policy {
  readonly id: string;
  readonly kind: Policy["kind"];
  readonly implementation: string;
  protected readonly policy: Policy;
  readonly #namespace: string;
  readonly #elsewhere: Outcome;

  constructor(policy: Policy, namespace: string) {
    this.id = policy.id;
    this.kind = policy.kind;
    this.implementation = policy.implementation;
    this.policy = policy;
    this.#namespace = namespace;
    this.#elsewhere = { verdict: "skip", reason: `the policy is confined to the namespace "${namespace}"` };
  }

  get rules(): Policy["rules"] {
    return this.policy.rules;
  }

  get composition(): Policy["composition"] {
    return this.policy.composition;
  }

  get notConverted(): readonly string[] {
    return this.policy.notConverted ?? [];
  }

  get immediate(): boolean {
    return this.policy.immediate;
  }

  leavesOut(namespace: string, labels: Readonly<Record<string, string>>): boolean {
    return namespace !== this.#namespace || this.policy.leavesOut?.(namespace, labels) === true;
  }

  evaluate(review: Review, context: EvaluationContext): Outcome | Promise<Outcome> {
    return this.#applies(review) ? this.policy.evaluate(review, context) : this.#elsewhere;
  }

  #applies(review: Review): boolean {
    if (review.kind === "raw") return true;
    const { namespace, resource } = review.request;
    // A Namespace's requests name itself as their namespace, but it is in none.
    return namespace === this.#namespace && !(resource.group === "" && resource.resource === "namespaces");
  }
}

/** A confined policy of which only time shows how its instances begin. */
class ConfinedGuest extends ConfinedPolicy {
  get start(): NonNullable<Policy["start"]> {
    return this.policy.start ?? { start: "cold" };
  }
}
