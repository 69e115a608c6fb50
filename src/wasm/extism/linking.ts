/**
 * Plugins of several modules: each import whose module has a name of the plugin's own comes from there, all others from the host. As in Extism's SDK for
 * JavaScript, who is imported from is made first, and functions may be imported in circles.
 */
import { GuestStartError } from "../guest/guest.js";
import { newInstance } from "../guest/start-functions.js";
import { wasiImports } from "../guest/wasi-preview1.js";
import type { LinkedModule } from "../worker/messages.js";
import { MAIN_MODULE } from "./names.js";
import { PluginCall, type Started, start } from "./plugin-call.js";

const WASI_MODULE = "wasi_snapshot_preview1";

/**
 * Makes instances of the main module and of those that it needs.
 * @param call the main module's
 * @param host what the host offers, by import module
 * @throws GuestStartError
 */
export function instantiateLinked(
  call: PluginCall,
  main: WebAssembly.Module,
  linked: readonly LinkedModule[],
  host: WebAssembly.Imports,
): Started {
  return new Linking(call, main, linked, host).main();
}

/** One plugin on its way to be made (disposable). */
class Linking {
  readonly #call: PluginCall;
  readonly #host: WebAssembly.Imports;
  readonly #modules: ReadonlyMap<string, WebAssembly.Module>;
  /** By name; undefined: it is being made. */
  readonly #made = new Map<string, WebAssembly.Instance["exports"] | undefined>();

  constructor(call: PluginCall, main: WebAssembly.Module, linked: readonly LinkedModule[], host: WebAssembly.Imports) {
    this.#call = call;
    this.#host = host;
    this.#modules = new Map([[MAIN_MODULE, main], ...linked.map(({ name, module }) => [name, module] as const)]);
  }

  main(): Started {
    return this.#make(MAIN_MODULE);
  }

  #make(name: string): Started {
    this.#made.set(name, undefined);
    const module = this.#modules.get(name);
    if (!module) throw new Error(`there is no module ${name}`);
    const isMain = name === MAIN_MODULE;
    const call = isMain ? this.#call : new PluginCall(this.#call.host, undefined);
    const imports = this.#importsOf(name, module, isMain ? this.#host : this.#hostFor(module, call));
    // Only the main module may have a memory of the host's.
    const exports = isMain ? call.instantiate(module, imports) : call.own(newInstance(module, imports));
    const started = start(exports);
    this.#made.set(name, exports);
    return started;
  }

  /** A module's WASI works on that module's memory. */
  #hostFor(module: WebAssembly.Module, call: PluginCall): WebAssembly.Imports {
    const usesWasi = WebAssembly.Module.imports(module).some((entry) => entry.module === WASI_MODULE);
    return usesWasi
      ? { ...this.#host, [WASI_MODULE]: wasiImports(() => call) as WebAssembly.ModuleImports }
      : this.#host;
  }

  #importsOf(name: string, module: WebAssembly.Module, host: WebAssembly.Imports): WebAssembly.Imports {
    const imports: Record<string, WebAssembly.ModuleImports> = { ...host };
    const own = new Map<string, WebAssembly.ModuleImports>();
    for (const entry of WebAssembly.Module.imports(module)) {
      if (!this.#modules.has(entry.module)) continue;
      const values = own.get(entry.module) ?? {};
      own.set(entry.module, values);
      values[entry.name] = this.#value(name, entry);
    }
    for (const [from, values] of own) imports[from] = values;
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
