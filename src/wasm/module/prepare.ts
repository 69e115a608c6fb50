/**
 * Prepares a module for workers: limits it, compiles it, finds its kind, checks its imports. A module is prepared once, and shared by all policies of
 * the same bytes.
 */
import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { LRUCache } from "lru-cache";
import { errorText } from "../../data/error-text.js";
import type { PolicyRule } from "../../policy/policy.js";
import { WasmLoadError } from "../errors.js";
import {
  EXTISM_FUNCTIONS,
  EXTISM_MODULE,
  HIDDEN_PREFIX,
  HOST_CALL_MODULE,
  HOST_CALL_NAME,
  HOST_IMPORT_MODULES,
  HOST_MODULE,
  MAIN_MODULE,
  MEMORY_NAME,
  OPA_IMPORTS,
  WAPC_IMPORTS,
} from "../names.js";
import type { Floor } from "../rewrite/floor/floor.js";
import { emptySnapshot } from "../rewrite/snapshot/memory-snapshot.js";
import type { ExecutionMode, GuestModule, LinkedModule } from "../run/guest/call.js";
import { WASI_FUNCTIONS } from "../run/guest/wasi-preview1.js";
import { shortCallsBefore } from "../run/main-thread/first-call.js";
import { type PolicyMetadata, readMetadata } from "./metadata.js";
import { executionMode } from "./mode.js";
import { compileErrorText } from "./not-a-module.js";
import { checkExports } from "./required-exports.js";
import { RewritingThread } from "./rewriting-thread.js";
import { type RewriteOrder, type Rewritten, rewritten, withoutFloor } from "./rewritten.js";

// Checks at load that the modules of an Extism plugin fit together, with the messages of Extism's SDK for JavaScript.

type Import = WebAssembly.ModuleImportDescriptor;

/** Import modules of the host, which no other module may replace. */
const RESERVED: ReadonlySet<string> = new Set([EXTISM_MODULE, HOST_MODULE, "wasi_snapshot_preview1"]);

/** Most errors in a message. */
const LISTED = 8;

/** Whether something is imported from another module of the plugin. */
const isLinked = (
  entry: Import,
  linked: readonly LinkedModule[],
  kind: WebAssembly.ImportExportKind = entry.kind,
): boolean => entry.kind === kind && linked.some(({ name }) => name === entry.module);

/**
 * Refuses modules with an import that neither the host nor another module has.
 * @param hosted whether the host has it
 * @throws WasmLoadError `wasm-imports`, with all missing imports in one message
 */
function checkLinks(
  main: WebAssembly.Module,
  linked: readonly LinkedModule[],
  hosted: (entry: Import) => boolean,
): void {
  const taken = linked.find(({ name }) => RESERVED.has(name));
  if (taken !== undefined)
    throw new WasmLoadError(
      "wasm-imports",
      `${JSON.stringify(taken.name)} is a name of the host's own: give the module another`,
    );
  const modules = new Map([[MAIN_MODULE, main], ...linked.map(({ name, module }) => [name, module] as const)]);
  const mistakes = [...modules].flatMap(([importer, module]) =>
    WebAssembly.Module.imports(module).flatMap((entry) => {
      const { module: from, name, kind } = entry;
      const provider = modules.get(from);
      if (provider === undefined)
        return from === HOST_MODULE || hosted(entry)
          ? []
          : [
              `from module "${importer}": cannot resolve import "${from}" "${name}": not provided by host imports nor linked manifest items`,
            ];
      const found = WebAssembly.Module.exports(provider).some((each) => each.name === name && each.kind === kind);
      return found ? [] : [`from module "${importer}": cannot import "${from}" "${name}"; no export matched request`];
    }),
  );
  if (mistakes.length === 0) return;
  const more = mistakes.length > LISTED ? `; and ${mistakes.length - LISTED} more` : "";
  throw new WasmLoadError("wasm-imports", mistakes.slice(0, LISTED).join("; ") + more);
}

/** Compiled modules kept beyond those in use; each takes about twice to ten times the module's size. */
const CACHED_MODULES = 128;
const WASI_MODULE = "wasi_snapshot_preview1";
/** The Kubewarden release whose policies are supported; policies may ask for a minimum (spec kubewarden.md 1.4). */
const KUBEWARDEN_VERSION = "1.38.0";

/** A module ready to run. */
export interface PreparedModule extends GuestModule {
  /** `sha256:<hex>` of the original bytes; of a plugin of several modules that of a list of their digests. */
  readonly digest: string;
  readonly mode: ExecutionMode;
  /** Names of exported functions. */
  readonly exports: ReadonlySet<string>;
  /** Short calls on threads that a policy needs before one runs on the main thread; Infinity: none ever does. */
  readonly inlineAfter: number;
  /** The reason why no state of its instances can be captured; absent when one can. */
  readonly coldBecause?: string;
  /** The rules in its metadata; absent: none. */
  readonly rules?: readonly PolicyRule[];
}

/** Bytes of modules after which optimizing the rewriting code pays: a policy in Rust has a hundred KiB. */
const FEW_BYTES = 256 * 1024;

/** Makes the engine read branch hints, which metered modules have at their charges: they cost less then. An engine without this option ignores it. */
const BRANCH_HINTS = "--experimental-wasm-branch-hinting";

/** A module of an Extism plugin beside its main module. */
export interface NamedModule {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Known properties of a module's bytes. */
interface AboutBytes {
  /** `sha256:<hex>`; absent: it has not been computed. */
  readonly digest?: string;
  /** Whether they may be transferred to a thread; default: no. */
  readonly isOwn?: boolean;
}

interface Making {
  readonly bytes: Uint8Array;
  readonly digest: string;
  readonly memoryPages: number;
  readonly configured: ExecutionMode | undefined;
  readonly others: readonly NamedModule[];
  readonly isOwn: boolean;
}

/** Prepares modules, the same bytes once. */
export class ModuleStore {
  readonly #cache = new LRUCache<string, Promise<PreparedModule>>({ max: CACHED_MODULES });
  #nextId = 1;
  /** Bytes of all modules so far. */
  #bytes = 0;
  #thread: RewritingThread | undefined;

  constructor() {
    setFlagsFromString(BRANCH_HINTS);
  }

  /**
   * @param memoryPages most pages of its memory; modules are prepared once for each limit
   * @param configured the `executionMode` of the configuration, if it has one
   * @param others the modules of an Extism plugin beside its main module; the limit holds for each
   * @param about known properties of the bytes
   * @throws WasmLoadError
   */
  prepare(
    bytes: Uint8Array,
    memoryPages: number,
    configured?: ExecutionMode,
    others: readonly NamedModule[] = [],
    about: AboutBytes = {},
  ): Promise<PreparedModule> {
    const digest = digestOf(bytes, others, about.digest);
    const key = `${digest} ${memoryPages} ${configured ?? ""}`;
    const known = this.#cache.get(key);
    if (known) return known;
    const made = this.#make({ bytes, digest, memoryPages, configured, others, isOwn: about.isOwn ?? false });
    this.#cache.set(key, made);
    made.catch(() => this.#cache.delete(key));
    return made;
  }

  /** Makes modules be rewritten on a separate thread from now on: the main thread has requests to answer. */
  leaveMainThread(): void {
    this.#thread ??= new RewritingThread();
  }

  close(): void {
    this.#thread?.close();
  }

  /**
   * Rewrites a module. The engine does not optimize the rewriting code for the first modules: most servers have a few, and optimizing takes longer
   * than running it.
   */
  #rewrite(order: RewriteOrder, isOwn: boolean): Rewritten | Promise<Rewritten> {
    if (this.#thread) return this.#thread.rewrite(order, isOwn);
    this.#bytes += order.bytes.length;
    if (this.#bytes > FEW_BYTES) return rewritten(order);
    setFlagsFromString("--no-opt");
    try {
      return rewritten(order);
    } finally {
      setFlagsFromString("--opt");
    }
  }

  /** A module beside the main one. */
  async #linked({ name, bytes }: NamedModule, maximumPages: number, isOwn: boolean): Promise<LinkedModule> {
    const made = await this.#rewrite({ bytes, maximumPages, role: "beside" }, isOwn);
    return { name, module: await compile(made.bytes) };
  }

  async #make({ bytes, digest, memoryPages, configured, others, isOwn }: Making): Promise<PreparedModule> {
    const order = { bytes, maximumPages: memoryPages, role: others.length > 0 ? "main" : "only" } as const;
    const { memory, marking, image, coldBecause, limited, ...made } = await this.#rewrite(order, isOwn);
    const module = await compile(made.bytes);
    const metadata = readMetadata(module);
    const mode = executionMode(module, metadata, configured);
    checkMetadata(metadata, mode);
    const linked = await Promise.all(others.map((other) => this.#linked(other, memoryPages, isOwn)));
    if (linked.length > 0) checkLinks(module, linked, (entry) => served("extism", entry));
    const imports = WebAssembly.Module.imports(module).filter((entry) => !isLinked(entry, linked));
    // The main module of a plugin may have its memory from another one.
    const isOthers =
      linked.length > 0 && !imports.some(({ module: from, name }) => from === HOST_MODULE && name === MEMORY_NAME);
    const importedMemory = isOthers ? undefined : memory;
    checkImports(imports, mode);
    checkExports({
      bytes: limited,
      mode,
      hasMemory: memory !== undefined,
      importsMemory: imports.some(isRegoMemory),
      usesMemory: imports.some((entry) => entry.module === WASI_MODULE),
    });
    const exports = new Set(
      WebAssembly.Module.exports(module)
        .map(({ name }) => name)
        .filter((name) => !name.startsWith(HIDDEN_PREFIX)),
    );
    return {
      id: this.#nextId++,
      module,
      digest,
      mode,
      exports,
      inlineAfter:
        linked.length > 0 ? Number.POSITIVE_INFINITY : shortCallsBefore(limited, importedMemory, marking !== undefined),
      ...(importedMemory && { importedMemory, image: image ?? emptySnapshot(importedMemory.initial) }),
      ...(coldBecause === undefined ? { isResettable: true } : { coldBecause }),
      ...(marking && { marking }),
      ...(made.floor && { floor: compiledWhenAsked(made.floor) }),
      ...(linked.length > 0 && { linked }),
      ...(metadata && { rules: metadata.rules }),
    };
  }
}

/** A floor whose module without it is compiled once, when it is first asked for. */
function compiledWhenAsked(floor: NonNullable<Rewritten["floor"]>): Floor {
  let made: Promise<WebAssembly.Module> | undefined;
  return {
    address: floor.address,
    without: () => {
      made ??= compile(withoutFloor(floor));
      return made;
    },
  };
}

function digestOf(bytes: Uint8Array, others: readonly NamedModule[], known?: string): string {
  const own = known ?? `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  if (others.length === 0) return own;
  const list = [[MAIN_MODULE, own], ...others.map((other) => [other.name, digestOf(other.bytes, [])])];
  return `sha256:${createHash("sha256").update(JSON.stringify(list)).digest("hex")}`;
}

async function compile(bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(bytes);
  } catch (error) {
    const reason = compileErrorText(errorText(error), process.versions.node);
    throw new WasmLoadError("wasm-invalid", `invalid wasm file: ${reason}`, { cause: error });
  }
}

function checkMetadata(metadata: PolicyMetadata | undefined, mode: ExecutionMode): void {
  const wanted = metadata?.minimumKubewardenVersion;
  if (wanted !== undefined && minor(wanted) > minor(KUBEWARDEN_VERSION))
    throw new WasmLoadError(
      "wasm-version",
      `Policy required Kubewarden version ${wanted} but is running on ${KUBEWARDEN_VERSION}`,
    );
  if (mode !== "kubewarden-wapc" || !metadata) return;
  const { protocolVersion } = metadata;
  if (protocolVersion === undefined)
    throw new WasmLoadError(
      "wasm-protocol",
      "Policy is missing protocol version, which is required for KubewardenWapc execution mode",
    );
  if (protocolVersion.toLowerCase() !== "v1")
    throw new WasmLoadError(
      "wasm-protocol",
      `Policy uses protocol version ${protocolVersion} but only V1 is supported`,
    );
}

/** Major and minor as one number that can be compared. */
function minor(version: string): number {
  const [major, second] = version.replace(/^v/, "").split(".");
  return Number(major) * 1_000_000 + Number(second ?? 0);
}

/** Refuses a module with an import that the host does not have, by name. */
function checkImports(imports: readonly WebAssembly.ModuleImportDescriptor[], mode: ExecutionMode): void {
  const missing = imports
    .filter((entry) => entry.module !== HOST_MODULE && !served(mode, entry))
    .map(({ module: from, name, kind }) => `${from}.${name}${kind === "function" ? "" : ` (a ${kind})`}`);
  if (missing.length > 0)
    throw new WasmLoadError(
      "wasm-imports",
      `the module imports what ${mode === "extism" || mode === "opa" ? "an" : "a"} ${mode} policy is not given: ${missing.join(", ")}`,
    );
}

const isRegoMemory = ({ module, name, kind }: WebAssembly.ModuleImportDescriptor): boolean =>
  kind === "memory" && module === "env" && name === "memory";

/** Guests import functions; only Rego's also import their memory. */
function served(mode: ExecutionMode, entry: WebAssembly.ModuleImportDescriptor): boolean {
  const { module, name, kind } = entry;
  if (kind !== "function") return (mode === "opa" || mode === "gatekeeper") && isRegoMemory(entry);
  switch (mode) {
    case "extism":
      return (
        (module === EXTISM_MODULE && EXTISM_FUNCTIONS.has(name)) ||
        (module === HOST_CALL_MODULE && name === HOST_CALL_NAME) ||
        (module === WASI_MODULE && WASI_FUNCTIONS.has(name))
      );
    case "kubewarden-wapc":
      return (module === "wapc" && WAPC_IMPORTS.has(name)) || (module === WASI_MODULE && WASI_FUNCTIONS.has(name));
    case "wasi":
      return (
        (HOST_IMPORT_MODULES.has(module) && name === "call") || (module === WASI_MODULE && WASI_FUNCTIONS.has(name))
      );
    case "opa":
    case "gatekeeper":
      return module === "env" && OPA_IMPORTS.has(name);
  }
}
