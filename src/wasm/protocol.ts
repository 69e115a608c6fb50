import { callProtocol } from "./call-protocol.js";
import { gatekeeper } from "./gatekeeper/protocol.js";
import type { ExecutionMode } from "./guest/call.js";
import type { Protocol } from "./guest-protocol.js";
import { opa } from "./opa/protocol.js";
import { wasi } from "./wasi/protocol.js";

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
