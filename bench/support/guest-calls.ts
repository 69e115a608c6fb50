/** Calls of guests on this thread, without pool and server: for what is measured of guests alone. */

import { DEFAULT_GUEST_LIMITS } from "../../src/wasm/index.js";
import { type Budget, SLICE_UNITS } from "../../src/wasm/run/guest/budget.js";
import { type GuestHost, GuestLimitError } from "../../src/wasm/run/guest/guest.js";
import { Moment, MomentView } from "../../src/wasm/run/guest/moment.js";

const ENDLESS: Budget = { isSpent: false, refill: () => SLICE_UNITS };

/**
 * A host that has an empty answer to everything, for guests that only log.
 * @param begins told when all has run that runs before a guest is told what is asked; of a command, when it begins
 * @param budget of the calls; absent: one without an end
 */
export function noHost(begins: () => void = () => {}, budget: Budget = ENDLESS): GuestHost {
  return {
    limits: DEFAULT_GUEST_LIMITS,
    budget,
    call: () => ({ ok: true, payload: new Uint8Array() }),
    log() {},
    output() {},
    enterCall: begins,
    started: begins,
    stderr() {},
    stderrText: () => "",
    sleep() {},
    moment: new MomentView(new Moment()),
    work() {},
    limitPassed: (text) => new GuestLimitError(text),
  };
}
