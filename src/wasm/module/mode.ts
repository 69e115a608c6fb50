/** Finds the protocol of a module, from its imports and exports when its metadata lacks it. */
import { WasmLoadError } from "../errors.js";
import { EXTISM_MODULE } from "../names.js";
import type { ExecutionMode } from "../run/guest/call.js";
import type { PolicyMetadata } from "./metadata.js";

/** The import module of waPC guests. */
const WAPC_MODULE = "wapc";
const WASI_MODULE = "wasi_snapshot_preview1";

/**
 * Chooses the mode of the configuration, else of the metadata, else of the module's imports and exports. (The configuration comes first, because an
 * author who writes `executionMode:` there knows the metadata and disagrees.)
 * @throws WasmLoadError `wasm-mode` when none is known, or it can't be right
 */
export function executionMode(
  module: WebAssembly.Module,
  metadata: PolicyMetadata | undefined,
  configured: ExecutionMode | undefined,
): ExecutionMode {
  const looks = candidates(module);
  const said = configured ?? metadata?.executionMode;
  // Metadata without the field means waPC only if the module does not plainly look like something else (an annotated Extism plugin).
  if (said && (configured || said !== "kubewarden-wapc" || looks.length === 0 || looks.includes(said))) {
    if (looks.length > 0 && !looks.includes(said))
      throw new WasmLoadError(
        "wasm-mode",
        `the execution mode is ${said}, but the module looks like ${looks.join(" or ")}`,
      );
    return said;
  }
  if (looks.length === 1 && looks[0]) return looks[0];
  throw new WasmLoadError(
    "wasm-mode",
    looks.length > 1
      ? `the module may be ${looks.join(" or ")}; say which with executionMode`
      : "the module is of no known kind: it has neither Kubewarden metadata nor the imports and exports of Extism, waPC, WASI or OPA",
  );
}

/** Possible modes of a module, by its imports and exports. */
function candidates(module: WebAssembly.Module): ExecutionMode[] {
  const imports = new Set(WebAssembly.Module.imports(module).map((entry) => entry.module));
  const exports = new Set(WebAssembly.Module.exports(module).map((entry) => entry.name));
  if (exports.has("__guest_call") || imports.has(WAPC_MODULE)) return ["kubewarden-wapc"];
  if (exports.has("opa_eval_ctx_new")) return ["opa", "gatekeeper"];
  if (imports.has(EXTISM_MODULE) || exports.has("validate")) return ["extism"];
  if (exports.has("_start") && imports.has(WASI_MODULE)) return ["wasi"];
  return [];
}
