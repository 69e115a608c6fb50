/** What bounds the work of one patch on the main thread. */

/** Bytes of JSON that all `copy` operations of a patch may add: the API server's own limit (`JSONPatchMaxCopyBytes`). */
export const COPY_MAX_BYTES = 3 * 1024 * 1024;

/**
 * Work of one patch, in units of about a nanosecond: some 50 ms. An operation counts for some hundred of them, and for each member of objects, each item
 * of lists and each character of texts that it has to look at; one on a list that moves its items, for each item one.
 */
export const PATCH_MAX_WORK = 50_000_000;

export const OPERATION_WORK = 300;
/** Of a member or item that is made a node of its own. */
export const MEMBER_WORK = 100;
/** Of a value that is looked at. */
export const VALUE_WORK = 20;

/** What ends the application of a patch; thrown within this folder only, since it may be met anywhere in a tree. */
export class PatchStop extends Error {
  /** @param reason `panic`: what ends the server's own handling of the request, with Go's text */
  constructor(
    readonly reason: "panic" | "too-large",
    message: string,
  ) {
    super(message);
  }
}

/** Counts the work of one patch down (disposable). */
export class Work {
  #left = PATCH_MAX_WORK;

  /** Throws a {@link PatchStop} when there is no more. */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0)
      throw new PatchStop("too-large", "the patch takes too much work: apply fewer operations, or to smaller lists");
  }
}
