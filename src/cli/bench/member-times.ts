/** Times of a group's members, summed over many answers. */
import type { Observation } from "../../policy/index.js";

/** The times of one member. */
export interface MemberTime {
  /** `<group>/<member>`. */
  readonly policy: string;
  /** Number of its evaluations. */
  readonly times: number;
  /** Milliseconds of all of them. */
  readonly milliseconds: number;
}

const NEVER = { times: 0, milliseconds: 0 } as const;

/** Sums for each member (disposable). A configuration has a limited number of them. */
export class MemberTimes {
  readonly #sums = new Map<string, { times: number; milliseconds: number }>();

  /** Adds the observations of one answer. */
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

  /** Members in order of definition, including those that were not evaluated, and then members of members. */
  all(defined: readonly string[]): readonly MemberTime[] {
    const asked = [...this.#sums.keys()].filter((policy) => !defined.includes(policy));
    return [...defined, ...asked].map((policy) => ({ policy, ...(this.#sums.get(policy) ?? NEVER) }));
  }
}
