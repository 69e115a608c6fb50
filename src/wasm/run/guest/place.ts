/** The place of a module's consecutive instances. */
export interface InstancePlace {
  /** The memory that the module imports, with the first content of its instances. */
  readonly memory: WebAssembly.Memory;
  /** Notes a write of the host: address and length in bytes, both unsigned 32 bits in a number that may be signed. */
  note(address: number, length: number): void;
  /** Notes a new instance with this memory. */
  entered(instance: WebAssembly.Instance): void;
  /**
   * The instances that were made here, by their imports, if their code changes only memory and globals. An instance whose imports are discarded, such
   * as the kernel of a failed Extism plugin, is discarded as well.
   */
  readonly used: WeakMap<WebAssembly.Imports, UsedInstance>;
}

/** A used instance. With its memory and its globals restored, it equals a new one. */
export interface UsedInstance {
  readonly instance: WebAssembly.Instance;
  /** The first values of its globals. */
  readonly globals: readonly (number | bigint)[];
}
