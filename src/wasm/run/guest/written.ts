/** Parts of a memory that may have been written to since it was last restored. */
export interface Written {
  /** Notes a write of the host: address and length in bytes; both may be signed. */
  note(address: number, length: number): void;
  /** Sets the instance that writes from now on. */
  entered(instance: WebAssembly.Instance): void;
  /**
   * Returns the parts, and resets them.
   * @param bytes the size of the memory
   * @returns begin and end of each part, in order
   */
  take(bytes: number): readonly number[];
}
