/** Where one instance of a module after the other lives. */
export interface InstancePlace {
  /** What the module imports; it holds what its instances begin with. */
  readonly memory: WebAssembly.Memory;
  /** The host writes here: so many bytes from an address on, both unsigned 32 bits in a number that may be signed. */
  note(address: number, length: number): void;
  /** An instance of which this memory is lives here now. */
  entered(instance: WebAssembly.Instance): void;
  /**
   * The instances that were made here, by what they were made with, when all that code may change of them is in their memory and their globals. One that was
   * made with what is gone, such as the kernel of an Extism plugin that failed, goes with it.
   */
  readonly used: WeakMap<WebAssembly.Imports, UsedInstance>;
}

/** An instance that has been asked. With its memory and its globals as they were, nothing tells it from a new one. */
export interface UsedInstance {
  readonly instance: WebAssembly.Instance;
  /** What its globals were when it had been made. */
  readonly globals: readonly (number | bigint)[];
}
