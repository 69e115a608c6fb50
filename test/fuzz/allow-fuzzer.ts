/** Groups whose members fail, for as long as there is time: in this process, then through real guests; and Kyverno's policies that fail by themselves. */
import { run } from "./allows.js";
import { guests } from "./allows-guests.js";
import type { Fuzzer } from "./fuzzer.js";
import { run as decisions } from "./kyverno-decisions.js";

/** The share of the time that goes to real guests: they are a hundred times as slow, and fail in fewer ways. */
const GUESTS_SHARE = 0.1;
const KYVERNO_SHARE = 0.3;

/** `allows`: see `allows.ts` and `kyverno-decisions.ts`. */
export const allowFuzzer: Fuzzer = {
  name: "allows",
  async run(milliseconds, seed) {
    const seconds = milliseconds / 1_000;
    const inProcess = await run({ seconds: seconds * (1 - GUESTS_SHARE - KYVERNO_SHARE) }, seed);
    const kyverno = await decisions(seconds * KYVERNO_SHARE, seed);
    const around = await guests();
    try {
      const withGuests = await run({ seconds: seconds * GUESTS_SHARE }, seed, around);
      console.log(
        `${inProcess.cases} cases, ${withGuests.cases} with real guests, ${kyverno.cases} of Kyverno's policies`,
      );
      return [...inProcess.faults, ...kyverno.faults, ...withGuests.faults];
    } finally {
      await around.close();
    }
  },
};
