/** What the members of a group take, gathered over many answers. */
import type { Observation } from "../../policy/index.js";

/** What one member took. */
export interface MemberTime {
  /** `<group>/<member>`. */
  readonly policy: string;
  /** How often it was asked. */
  readonly times: number;
  /** All in all. */
  readonly milliseconds: number;
}

const NEVER = { times: 0, milliseconds: 0 } as const;

/** Sums for each member (disposable). A configuration has a limited number of them. */
export class MemberTimes {
  readonly #sums = new Map<string, { times: number; milliseconds: number }>();

  /** Takes in those that one answer needed. */
  add(observations: readonly Observation[]): void {
    for (const { policy, milliseconds } of observations) {
      const sum = this.#sums.get(policy);
      if (sum === undefined) this.#sums.set(policy, { times: 1, milliseconds });
      else {
        sum.times += 1;
        sum.milliseconds += milliseconds;
      }
    }
  }

  /** Members in order of definition as far as that is known, those that nobody asked too, and then members of members. */
  all(defined: readonly string[]): readonly MemberTime[] {
    const asked = [...this.#sums.keys()].filter((policy) => !defined.includes(policy));
    return [...defined, ...asked].map((policy) => ({ policy, ...(this.#sums.get(policy) ?? NEVER) }));
  }
}
