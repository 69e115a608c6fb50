/** Checks at load that the modules of an Extism plugin fit together, with the messages of Extism's SDK for JavaScript. */
import { WasmLoadError } from "../errors.js";
import { EXTISM_MODULE, HOST_MODULE, MAIN_MODULE } from "../names.js";
import type { LinkedModule } from "../run/guest/call.js";

type Import = WebAssembly.ModuleImportDescriptor;

/** Import modules of the host, which no other module may replace. */
const RESERVED: ReadonlySet<string> = new Set([EXTISM_MODULE, HOST_MODULE, "wasi_snapshot_preview1"]);

/** Most errors in a message. */
const LISTED = 8;

/** Whether something is imported from another module of the plugin. */
export const isLinked = (
  entry: Import,
  linked: readonly LinkedModule[],
  kind: WebAssembly.ImportExportKind = entry.kind,
): boolean => entry.kind === kind && linked.some(({ name }) => name === entry.module);

/**
 * Refuses modules with an import that neither the host nor another module has.
 * @param hosted whether the host has it
 * @throws WasmLoadError `wasm-imports`, with all missing imports in one message
 */
export function checkLinks(
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
