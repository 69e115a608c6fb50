/** Runs calls of Extism plugins: Extism 1.x, with our own kernel for the memory of plugin and host (kernel.wat). */

import { MAIN_MODULE, START_ONLY } from "../../names.js";
import type { InstanceSource } from "../../run/guest/call.js";
import {
  type GuestAnswer,
  type GuestInput,
  GuestStartError,
  type RunGuest,
  startGuest,
} from "../../run/guest/guest.js";
import { CurrentCall, InstanceCall, InstanceImports } from "../../run/guest/instance-call.js";
import { afterExit, callStart } from "../../run/guest/start-functions.js";
import { ExitStatus, wasiArguments, wasiImports } from "../../run/guest/wasi-preview1.js";
import { EnvironmentReader } from "./environment.js";
import { compileKernel, Kernel } from "./kernel.js";

const ARGUMENTS = wasiArguments("policy.wasm");

/** Start functions; the first one that a module has is called. */
const START_FUNCTIONS = ["_initialize", "_start", "__wasm_call_ctors"] as const;

type Exports = WebAssembly.Instance["exports"];

/** One call of a plugin's module. */
class PluginCall extends InstanceCall {
  readonly args = ARGUMENTS;
}

/** A started instance. */
interface Started {
  readonly exports: Exports;
  /** Whether it ended by an exit with status 0, as a command may. */
  readonly exited: boolean;
}

/**
 * Runs the start functions before the first call: Haskell's runtime, or a WASI reactor's or command's start, or else the constructors of static
 * objects (which the others run themselves).
 * @throws GuestStartError
 */
function start(exports: Exports): Started {
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

// Plugins of several modules: an import from a module of the plugin comes from there, all others from the host. As in Extism's SDK for JavaScript,
// imported modules are instantiated first, and functions may be imported in cycles.

const WASI_MODULE = "wasi_snapshot_preview1";

/**
 * Makes instances of the main module and of those that it needs.
 * @param call the main module's
 * @param imports the host's imports for each
 * @throws GuestStartError
 */
function instantiateLinked(call: PluginCall, source: InstanceSource, imports: InstanceImports): Started {
  return new Linking(call, source, imports).main();
}

/** Instantiates one plugin (disposable). */
class Linking {
  readonly #call: PluginCall;
  readonly #imports: InstanceImports;
  readonly #modules: ReadonlyMap<string, InstanceSource>;
  /** Exports by module; undefined: being instantiated. */
  readonly #made = new Map<string, WebAssembly.Instance["exports"] | undefined>();

  constructor(call: PluginCall, source: InstanceSource, imports: InstanceImports) {
    this.#call = call;
    this.#imports = imports;
    const { linked = [] } = source;
    this.#modules = new Map<string, InstanceSource>([
      [MAIN_MODULE, source],
      ...linked.map((each) => [each.name, each] as const),
    ]);
  }

  main(): Started {
    return this.#make(MAIN_MODULE);
  }

  #make(name: string): Started {
    this.#made.set(name, undefined);
    const source = this.#modules.get(name);
    if (!source) throw new Error(`there is no module ${name}`);
    const entries = WebAssembly.Module.imports(source.module);
    const others = this.#fromOthers(name, entries);
    // Only the main module may have a memory of the host's; any other module's WASI uses its own memory.
    const call = name === MAIN_MODULE ? this.#call : new PluginCall(this.#call.host, undefined);
    const usesWasi = call !== this.#call && entries.some(({ module }) => module === WASI_MODULE);
    const wasi = usesWasi ? { [WASI_MODULE]: wasiImports(() => call) } : {};
    const started = start(call.instantiate(source, this.#imports, { ...wasi, ...others }));
    this.#made.set(name, started.exports);
    return started;
  }

  /** Imports of a module from others, which are instantiated now. */
  #fromOthers(importer: string, entries: readonly WebAssembly.ModuleImportDescriptor[]): WebAssembly.Imports {
    const imports: Record<string, WebAssembly.ModuleImports> = {};
    for (const entry of entries) {
      if (!this.#modules.has(entry.module)) continue;
      const values = imports[entry.module] ?? {};
      imports[entry.module] = values;
      values[entry.name] = this.#value(importer, entry);
    }
    return imports;
  }

  #value(importer: string, { module, name, kind }: WebAssembly.ModuleImportDescriptor): WebAssembly.ExportValue {
    const exports = this.#made.has(module) ? this.#made.get(module) : this.#make(module).exports;
    if (exports) return exports[name] as WebAssembly.ExportValue;
    if (kind !== "function")
      throw new GuestStartError(
        `from module "${importer}": cannot import "${module}" "${name}"; circular imports of type="${kind}" are not supported`,
      );
    return (...values: (number | bigint)[]) => {
      const found = this.#made.get(module)?.[name];
      if (typeof found !== "function")
        throw new Error(`from module instance "${importer}": target module "${module}" was never instantiated`);
      return found(...values);
    };
  }
}

// The status that a function of a plugin returns: as in Extism's runtime an i32, or nothing, which is 0.

/** Status of a function with any other result: it has failed, as in Extism's runtime. */
const NO_STATUS = -1;

/** A module that imports one function without parameters, of these results, and does nothing: it links with a function of that very type only. */
const importing = (...results: readonly number[]): WebAssembly.Module =>
  new WebAssembly.Module(
    // Magic and version; one type; one import of it, whose names are empty.
    Uint8Array.of(
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...[1, 4 + results.length, 1, 0x60, 0, results.length, ...results],
      ...[2, 5, 1, 0, 0, 0, 0],
    ),
  );

const I32 = 0x7f;

/** Reads statuses; the types of a module's functions are checked once. */
class StatusReader {
  readonly #forms = [importing(I32), importing()];
  readonly #known = new WeakMap<WebAssembly.Module, Map<string, boolean>>();

  /**
   * The status that a function has returned. In JavaScript 0 of a double, and null, look like 0 of an i32.
   * @param module the module that exports the function by this name
   */
  of(returned: unknown, module: WebAssembly.Module, name: string, from: WebAssembly.ExportValue): number {
    return this.#hasStatus(module, name, from) ? Number(returned ?? 0) : NO_STATUS;
  }

  #hasStatus(module: WebAssembly.Module, name: string, from: WebAssembly.ExportValue): boolean {
    const known = this.#known.get(module) ?? new Map<string, boolean>();
    this.#known.set(module, known);
    const is = known.get(name) ?? this.#forms.some((form) => links(form, from));
    known.set(name, is);
    return is;
  }
}

function links(form: WebAssembly.Module, from: WebAssembly.ExportValue): boolean {
  try {
    return new WebAssembly.Instance(form, { "": { "": from } }) !== undefined;
  } catch {
    return false;
  }
}

/** The answer to {@link START_ONLY}. */
const NOTHING = new Uint8Array();

/**
 * Makes a {@link RunGuest} for Extism plugins. It keeps its kernel from one call to the next, wiped: an answer's bytes are valid until then. A call
 * that does not return discards its kernel.
 */
export function extismRunner(): RunGuest {
  const compiled = compileKernel();
  const environments = new EnvironmentReader();
  const statuses = new StatusReader();
  let kept: KernelWithImports | undefined;
  const current = new CurrentCall<PluginCall>();
  const wasi = wasiImports(current.get);
  const withImports = (kernel: Kernel): KernelWithImports => ({
    kernel,
    imports: new InstanceImports({ ...kernel.imports, wasi_snapshot_preview1: wasi }, () => current.get().host),
  });
  return (source, input, host, place) => {
    const used = kept ?? withImports(new Kernel(compiled, host));
    kept = undefined;
    const { kernel, imports } = used;
    kernel.begin(host, environments.read(input.data));
    const call = new PluginCall(host, place);
    const answer = current.during(call, () => run(kernel, source, call, input, imports, statuses));
    if (kernel.reusable) kept = used;
    return answer;
  };
}

interface KernelWithImports {
  readonly kernel: Kernel;
  readonly imports: InstanceImports;
}

function run(
  kernel: Kernel,
  source: InstanceSource,
  call: PluginCall,
  { operation: name, input }: GuestInput,
  imports: InstanceImports,
  statuses: StatusReader,
): GuestAnswer {
  const { host } = call;
  const { exports, exited } = startGuest(() => {
    if (source.linked) return instantiateLinked(call, source, imports);
    const made = call.instantiate(source, imports);
    return source.state ? { exports: made, exited: source.state.exited } : start(made);
  });
  if (host.started && !source.linked && kernel.isUntouched) host.started({ exports, memory: call.memory, exited });
  if (name === START_ONLY) return { kind: "answer", bytes: NOTHING };
  const operation = exports[name];
  if (typeof operation !== "function") throw new GuestStartError(`the module does not export ${name}`);
  kernel.input(input);
  host.enterCall();
  try {
    const returned: unknown = operation();
    const error = kernel.error();
    if (error !== undefined) return { kind: "guest-error", text: error };
    const status = statuses.of(returned, source.module, name, operation);
    if (status !== 0) return { kind: "guest-error", text: `returned non-zero exit code: ${status}` };
  } catch (error) {
    if (error instanceof ExitStatus) return { kind: "guest-error", text: error.message };
    throw exited && error instanceof WebAssembly.RuntimeError ? afterExit(error) : error;
  }
  return { kind: "answer", bytes: kernel.output() };
}
