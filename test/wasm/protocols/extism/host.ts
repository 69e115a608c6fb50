/** A host for plugins that are run without workers. */

import { DEFAULT_GUEST_LIMITS, type GuestLimits } from "../../../../src/wasm/limits.js";
import { type GuestHost, GuestLimitError } from "../../../../src/wasm/run/guest/guest.js";
import { Moment, MomentView } from "../../../../src/wasm/run/guest/moment.js";
import { ENDLESS } from "../../support.js";

/** One log line. */
export type Line = readonly [level: string, text: string];

/** A host that remembers log lines and answers every host call with what it was asked. */
export function recordingHost(limits: Partial<GuestLimits> = {}): GuestHost & { readonly lines: Line[] } {
  const lines: Line[] = [];
  return {
    lines,
    limits: { ...DEFAULT_GUEST_LIMITS, ...limits },
    budget: ENDLESS,
    call(binding, namespace, operation, payload) {
      const asked = `${binding} ${namespace} ${operation} ${new TextDecoder().decode(payload)}`;
      return operation === "fail"
        ? { ok: false, error: `no: ${asked}` }
        : { ok: true, payload: new TextEncoder().encode(asked) };
    },
    log: (level, text) => lines.push([level, text]),
    output: (bytes) => lines.push(["info", new TextDecoder().decode(bytes).trimEnd()]),
    enterCall() {},
    stderr() {},
    stderrText: () => "",
    sleep() {},
    moment: new MomentView(new Moment()),
    work() {},
    limitPassed: (text) => new GuestLimitError(text),
  };
}
