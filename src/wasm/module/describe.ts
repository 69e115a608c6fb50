/** A description of a module, made without running it: for people who were given one. */
import { errorText } from "../../data/error-text.js";
import { parseJson } from "../../data/json.js";
import { DEFAULT_GUEST_LIMITS } from "../limits.js";
import { EXTISM_MODULE, HOST_CALL_MODULE, HOST_IMPORT_MODULES } from "../names.js";
import { exportedFunctionTypes } from "../rewrite/binary/function-types.js";
import { customSection } from "../rewrite/binary/rewrite.js";
import type { ExecutionMode } from "../run/guest/call.js";
import { METADATA_SECTION } from "./metadata.js";
import { ModuleStore, type NamedModule } from "./prepare.js";

/** What looks the same from outside: how their results are read differs. */
const REGO: readonly ExecutionMode[] = ["opa", "gatekeeper"];
/** A page of WASM memory, in bytes. */
const PAGE_BYTES = 65_536;

/** A module as it can be told from its bytes. */
export interface ModuleDescription {
  /** Absent: `mayBe`, or the server would refuse it, see `problem`. */
  readonly protocol?: ExecutionMode;
  /** What it may be, where only an entry's executionMode can say which. */
  readonly mayBe?: readonly ExecutionMode[];
  /** Why the server would refuse it, whatever its settings are. */
  readonly problem?: string;
  /** In bytes: at the start, and the most that it is given. */
  readonly memory?: { readonly initial: number; readonly maximum: number };
  /** Whether its instances may begin with a state that was taken before; else why not. */
  readonly warmStart: { readonly possible: boolean; readonly because?: string };
  /** Whether it can ask the host for anything, by what it imports. */
  readonly asksHost: boolean;
  /** Names of imported functions by module. */
  readonly imports: Readonly<Record<string, readonly string[]>>;
  /** Types of exported functions by name. */
  readonly exports: Readonly<Record<string, string>>;
  /** The JSON of its metadata as its author wrote it; absent: it has none that can be read. */
  readonly metadata?: unknown;
}

/**
 * Describes a module.
 * @param linked what an Extism plugin has beside it
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

/** Imports and exports; nothing of what the engine refuses. */
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

/** By which guests ask for anything outside of themselves and the clock. */
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
    // What is wrong with it is the module's problem.
    return {};
  }
}
