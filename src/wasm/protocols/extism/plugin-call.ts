import { InstanceCall } from "../../run/guest/instance-call.js";
import { callStart } from "../../run/guest/start-functions.js";
import { wasiArguments } from "../../run/guest/wasi-preview1.js";

const ARGUMENTS = wasiArguments("policy.wasm");

/** Start functions; the first one that a module has is called. */
const START_FUNCTIONS = ["_initialize", "_start", "__wasm_call_ctors"] as const;

type Exports = WebAssembly.Instance["exports"];

/** One call of a plugin's module. */
export class PluginCall extends InstanceCall {
  readonly args = ARGUMENTS;
}

/** A started instance. */
export interface Started {
  readonly exports: Exports;
  /** Whether it ended by an exit with status 0, as a command may. */
  readonly exited: boolean;
}

/**
 * Runs the start functions before the first call: Haskell's runtime, or a WASI reactor's or command's start, or else the constructors of static
 * objects (which the others run themselves).
 * @throws GuestStartError
 */
export function start(exports: Exports): Started {
  return { exports, exited: initialize(exports) };
}

function initialize(exports: Exports): boolean {
  if (exports.hs_init) {
    callStart(exports, "_initialize");
    return callStart(exports, "hs_init");
  }
  const name = START_FUNCTIONS.find((each) => exports[each] !== undefined);
  return name !== undefined && callStart(exports, name);
}
