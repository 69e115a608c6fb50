/** The limits of one patch's work on the main thread. */

/** Bytes of JSON that all `copy` operations of a patch may add: the API server's own limit (`JSONPatchMaxCopyBytes`). */
export const COPY_MAX_BYTES = 3 * 1024 * 1024;

/** Work of one patch, in units of about a nanosecond: some 50 ms, enough for 10,000 operations on an object of 3 MiB. */
export const PATCH_MAX_WORK = 50_000_000;

/** Work of an operation, and of each step of its paths. */
export const OPERATION_WORK = 500;
/** Work of a member of an object that operations reach into. */
export const MEMBER_WORK = 100;
/** Work of an item of a list that operations reach into, or that is moved. */
export const ITEM_WORK = 2;
/** Work of a value that is written and read again. */
export const REREAD_WORK = 10;
/** Work of a value that is compared or measured; its texts count by their characters. */
export const VALUE_WORK = 100;

/** Ends the application of a patch; thrown within this folder only, since it may happen anywhere in a tree. */
export class PatchStop extends Error {
  /** @param reason `panic`: an error that ends the server's own handling of the request, with Go's text */
  constructor(
    readonly reason: "panic" | "too-large",
    message: string,
  ) {
    super(message);
  }
}

/** Counts the work of one patch down (disposable). */
export class Work {
  /** JSON that does not change when it is written and read again. */
  readonly reread: Set<object> | undefined;
  #left = PATCH_MAX_WORK;

  constructor(reread?: Set<object>) {
    this.reread = reread;
  }

  /** Throws a {@link PatchStop} when no work is left. */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0)
      throw new PatchStop("too-large", "the patch takes too much work: apply fewer operations, or to smaller lists");
  }
}
