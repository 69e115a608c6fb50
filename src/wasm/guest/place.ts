/** Where one instance of a module after the other lives. */
export interface InstancePlace {
  /** What the module imports; it holds what its instances begin with. */
  readonly memory: WebAssembly.Memory;
  /** The instance that was made here, when all that code may change of it is in its memory and its globals. */
  used: UsedInstance | undefined;
}

/** An instance that has been asked. With its memory and its globals as they were, nothing tells it from a new one. */
export interface UsedInstance {
  readonly instance: WebAssembly.Instance;
  /** What it was made with. */
  readonly imports: WebAssembly.Imports;
  /** What its globals were when it had been made. */
  readonly globals: readonly (number | bigint)[];
}
