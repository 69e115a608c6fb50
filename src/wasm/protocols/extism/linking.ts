/**
 * Plugins of several modules: an import from a module of the plugin comes from there, all others from the host. As in Extism's SDK for JavaScript,
 * imported modules are instantiated first, and functions may be imported in cycles.
 */

import { MAIN_MODULE } from "../../names.js";
import type { InstanceSource } from "../../run/guest/call.js";
import { GuestStartError } from "../../run/guest/guest.js";
import type { InstanceImports } from "../../run/guest/instance-call.js";
import { wasiImports } from "../../run/guest/wasi-preview1.js";
import { PluginCall, type Started, start } from "./plugin-call.js";

const WASI_MODULE = "wasi_snapshot_preview1";

/**
 * Makes instances of the main module and of those that it needs.
 * @param call the main module's
 * @param imports the host's imports for each
 * @throws GuestStartError
 */
export function instantiateLinked(call: PluginCall, source: InstanceSource, imports: InstanceImports): Started {
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
