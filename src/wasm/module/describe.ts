/** A description of a module, made without running it, for display. */
import { errorText } from "../../data/error-text.js";
import { parseJson } from "../../data/json.js";
import { DEFAULT_GUEST_LIMITS } from "../limits.js";
import { EXTISM_MODULE, HOST_CALL_MODULE, HOST_IMPORT_MODULES } from "../names.js";
import { exportedFunctionTypes } from "../rewrite/binary/function-types.js";
import { customSection } from "../rewrite/binary/rewrite.js";
import type { ExecutionMode } from "../run/guest/call.js";
import { METADATA_SECTION } from "./metadata.js";
import { ModuleStore, type NamedModule } from "./prepare.js";

/** Modes that look the same from outside; only the format of their results differs. */
const REGO: readonly ExecutionMode[] = ["opa", "gatekeeper"];
/** A page of WASM memory, in bytes. */
const PAGE_BYTES = 65_536;

/** The properties of a module that its bytes show. */
export interface ModuleDescription {
  /** Absent: `mayBe`, or the server would refuse it, see `problem`. */
  readonly protocol?: ExecutionMode;
  /** Possible protocols, where only an entry's executionMode can decide. */
  readonly mayBe?: readonly ExecutionMode[];
  /** The reason why the server would refuse it, whatever its settings are. */
  readonly problem?: string;
  /** In bytes: at the start, and at most. */
  readonly memory?: { readonly initial: number; readonly maximum: number };
  /** Whether its instances may start from a captured state, and otherwise the reason. */
  readonly warmStart: { readonly possible: boolean; readonly because?: string };
  /** Whether it can make host calls, judged by its imports. */
  readonly asksHost: boolean;
  /** Names of imported functions by module. */
  readonly imports: Readonly<Record<string, readonly string[]>>;
  /** Types of exported functions by name. */
  readonly exports: Readonly<Record<string, string>>;
  /** The JSON of its metadata as its author wrote it; absent: none that is readable. */
  readonly metadata?: unknown;
}

/**
 * Describes a module.
 * @param linked the other modules of an Extism plugin
 */
export async function describeModule(
  bytes: Uint8Array,
  linked: readonly NamedModule[] = [],
): Promise<ModuleDescription> {
  const surface = await surfaceOf(bytes);
  const metadata = metadataOf(bytes);
  const store = new ModuleStore();
  const prepare = (mode?: ExecutionMode) => store.prepare(bytes, DEFAULT_GUEST_LIMITS.memoryPages, mode, linked);
  try {
    const mayBe = surface.exports.opa_eval_ctx_new !== undefined && metadata.metadata === undefined ? REGO : undefined;
    const prepared = await prepare(mayBe?.[0]);
    const { mode, coldBecause, importedMemory: memory } = prepared;
    return {
      ...(mayBe === undefined ? { protocol: mode } : { mayBe }),
      ...(memory && {
        memory: {
          initial: memory.initial * PAGE_BYTES,
          maximum: (memory.maximum ?? DEFAULT_GUEST_LIMITS.memoryPages) * PAGE_BYTES,
        },
      }),
      warmStart: { possible: coldBecause === undefined, ...(coldBecause !== undefined && { because: coldBecause }) },
      ...surface,
      ...metadata,
    };
  } catch (cause) {
    const because = "it can't be loaded";
    return { problem: errorText(cause), warmStart: { possible: false, because }, ...surface, ...metadata };
  }
}

/** Imports and exports; empty for a module that the engine refuses. */
async function surfaceOf(bytes: Uint8Array): Promise<Pick<ModuleDescription, "imports" | "exports" | "asksHost">> {
  try {
    const found = WebAssembly.Module.imports(await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>));
    const imports = new Map<string, string[]>();
    for (const { module, name } of found) imports.set(module, [...(imports.get(module) ?? []), name]);
    const types = [...exportedFunctionTypes(bytes)].map(
      ([name, type]) => [name, type ?? "of a type not known here"] as const,
    );
    return {
      imports: Object.fromEntries(imports),
      exports: Object.fromEntries(types),
      asksHost: found.some(isHostCall),
    };
  } catch {
    return { imports: {}, exports: {}, asksHost: false };
  }
}

/** Whether an import reaches anything outside of the guest and the clock. */
function isHostCall({ module, name }: WebAssembly.ModuleImportDescriptor): boolean {
  if (module === "wapc") return name === "__host_call";
  if (module === EXTISM_MODULE) return name === "http_request";
  return module === HOST_CALL_MODULE || HOST_IMPORT_MODULES.has(module);
}

function metadataOf(bytes: Uint8Array): Pick<ModuleDescription, "metadata"> {
  try {
    const section = customSection(bytes, METADATA_SECTION);
    return section === undefined ? {} : { metadata: parseJson(new TextDecoder().decode(section)) };
  } catch {
    // `problem` has the reason.
    return {};
  }
}
