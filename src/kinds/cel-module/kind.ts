import type { PolicyRule } from "../../policy/policy.js";
import { readMetadataOfBytes } from "../../wasm/index.js";
import { NO_NEEDS } from "../../world/needs.js";
import type { ModuleKind } from "../kind.js";
import { Doubles } from "../shared/doubles.js";
import type { Watcher } from "../shared/watcher.js";

/** The title in the metadata of Kubewarden's module that runs CEL rules. */
const CEL_MODULE_TITLE = "cel-policy";
/** Most modules whose rules are remembered; there is one for each release of it. */
const MAX_KNOWN_MODULES = 64;

/**
 * Rules for Kubewarden's CEL module, run here where the answer is the same: 22 MB less, and hundreds of times faster.
 * @param policyTimeout milliseconds an evaluation may take when its entry does not say
 * @param now monotonic milliseconds
 * @param watcher watches the rules
 */
export function celModuleKind(policyTimeout: number, now: () => number, watcher?: Watcher): ModuleKind {
  const doubles = new Doubles();
  // A thousand policies have the same module: neither its 22 MB nor its metadata are read for each.
  const rulesOf = new Map<string, readonly PolicyRule[]>();
  return {
    needs: () => NO_NEEDS,
    async policy({ id, native, executionMode, settings, timeoutEvalSeconds }, { digest = "", read }) {
      if (!native || (executionMode !== undefined && executionMode !== "wasi")) return undefined;
      let rules = rulesOf.get(digest);
      if (rules === undefined) {
        const { bytes, plugin } = await read();
        const metadata = plugin === undefined ? readMetadataOfBytes(bytes) : undefined;
        if (metadata?.annotations["io.kubewarden.policy.title"] !== CEL_MODULE_TITLE) return undefined;
        rules = metadata.rules;
        if (digest !== "" && rulesOf.size < MAX_KNOWN_MODULES) rulesOf.set(digest, rules);
      }
      const timeoutMs = timeoutEvalSeconds === undefined ? policyTimeout : timeoutEvalSeconds * 1000;
      const { compileCelModule } = await import("./policy.js");
      return compileCelModule(settings, { id, timeoutMs, now, doubles, watcher, rules });
    },
  };
}
