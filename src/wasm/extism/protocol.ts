/** Extism plugins: exports `validate` and, if it likes, `validate_settings`, with Kubewarden's payloads (spec kubewarden.md 6.3). */
import { callProtocol } from "../call-protocol.js";

/** How Extism plugins are asked; they need not check their settings. */
export const extism = callProtocol((exports) => exports.has("validate_settings"));
