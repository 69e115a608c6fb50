import { callProtocol } from "./call-protocol.js";
import type { Protocol } from "./guest-protocol.js";
import { gatekeeper } from "./protocols/gatekeeper/protocol.js";
import { opa } from "./protocols/opa/protocol.js";
import { wasi } from "./protocols/wasi/protocol.js";
import type { ExecutionMode } from "./run/guest/call.js";

/** The protocol of a mode. */
export function protocolOf(mode: ExecutionMode): Protocol {
  return PROTOCOLS[mode];
}

const PROTOCOLS: Readonly<Record<ExecutionMode, Protocol>> = {
  extism: callProtocol((exports) => exports.has("validate_settings")),
  // Every guest is asked about its settings, whatever its exports.
  "kubewarden-wapc": callProtocol(() => true),
  wasi,
  opa,
  gatekeeper,
};
