/** waPC guests, spec kubewarden.md 6.2, 6.3: every guest is asked about its settings, whatever its exports. */
import { callProtocol } from "../call-protocol.js";

/** How waPC guests are asked. */
export const wapc = callProtocol(() => true);
