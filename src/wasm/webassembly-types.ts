/**
 * The part of the WebAssembly JavaScript API that this project uses. TypeScript declares it only together with the browser's whole DOM, whose global
 * names (`name`, `event`, `status`) would then hide mistakes everywhere.
 */
declare global {
  namespace WebAssembly {
    type ImportExportKind = "function" | "global" | "memory" | "table" | "tag";
    type ExportedFunction = (...parameters: (number | bigint)[]) => number | bigint | undefined;
    type ExportValue = ExportedFunction | Memory | object;
    type ModuleImports = Record<string, ((...parameters: never[]) => unknown) | ExportValue>;
    type Imports = Record<string, ModuleImports>;

    interface ModuleExportDescriptor {
      readonly name: string;
      readonly kind: ImportExportKind;
    }

    interface ModuleImportDescriptor extends ModuleExportDescriptor {
      readonly module: string;
    }

    class Module {
      constructor(bytes: Uint8Array<ArrayBuffer>);
      static exports(module: Module): ModuleExportDescriptor[];
      static imports(module: Module): ModuleImportDescriptor[];
      static customSections(module: Module, name: string): ArrayBuffer[];
    }

    class Instance {
      constructor(module: Module, imports?: Imports);
      readonly exports: Readonly<Record<string, ExportValue>>;
    }

    class Memory {
      /** In pages of 64 KiB. */
      constructor(shape: { initial: number; maximum?: number });
      readonly buffer: ArrayBuffer;
    }

    /** A trap. */
    class RuntimeError extends Error {}

    /** An exception of the guest's own; not an Error. */
    class Exception {}

    /** @throws an Error, when the bytes are not a module that the engine accepts */
    function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>;
  }
}

export {};
