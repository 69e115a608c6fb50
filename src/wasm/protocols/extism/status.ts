/** The status that a function of a plugin returns: as in Extism's runtime an i32, or nothing, which is 0. */

/** What a function of any other type returns is no status: it has failed, as with Extism's runtime. */
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

/** Reads statuses; the types of a module's functions are looked at once. */
export class StatusReader {
  readonly #forms = [importing(I32), importing()];
  readonly #known = new WeakMap<WebAssembly.Module, Map<string, boolean>>();

  /**
   * The status that a function has returned. In JavaScript 0 of a double, and no object, look like 0 of an i32.
   * @param module where it comes from, which exports it by this name
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
