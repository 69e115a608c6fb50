/** What of a memory may have been written to since it was last brought back. */
export interface Written {
  /** The host writes so many bytes from an address on; both may be given as signed. */
  note(address: number, length: number): void;
  /** The instance that writes from now on. */
  entered(instance: WebAssembly.Instance): void;
  /**
   * Where that is, which it forgets.
   * @param bytes of the memory
   * @returns where each part begins and ends, in order
   */
  take(bytes: number): readonly number[];
}
