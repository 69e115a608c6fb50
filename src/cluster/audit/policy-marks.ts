/** Identifies the policies of an evaluation: a number that changes when any of them does. */
import type { Policy } from "../../policy/index.js";
import type { AuditedPolicy } from "./audited-policy.js";
import { combined, hashText } from "./text-hash.js";

/** Marks of policies. A policy that is loaded anew is another object: its decisions may have changed. */
export class PolicyMarks {
  readonly #numbers = new WeakMap<Policy, number>();
  #next = 1;

  /** The mark of all policies of a kind. */
  markOf(policies: readonly AuditedPolicy[]): number {
    let mark = policies.length;
    for (const { served, namespace, rules, webhook } of policies) {
      mark = combined(mark, this.#numberOf(served.policy));
      mark = combined(mark, hashText(`${served.id} ${namespace} ${JSON.stringify(rules)} ${webhook?.written}`));
    }
    return mark;
  }

  #numberOf(policy: Policy): number {
    let number = this.#numbers.get(policy);
    if (number === undefined) {
      number = this.#next++;
      this.#numbers.set(policy, number);
    }
    return number;
  }
}
