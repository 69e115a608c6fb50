/**
 * What is known of the parts of an object while it is patched again and again (disposable, for one request): a patch leaves nearly all of an object as it
 * was, and what was looked at before need not be looked at again. Values are never changed in place.
 */
export class PatchMemory {
  /** What has the form that Go gives values of a type; by the value its type. */
  readonly shaped = new Map<object, object>();
  /** What fits a type of structured merge; by the value its type, of an item that of its list. */
  readonly fitting = new Map<object, object>();
  /** JSON that comes back as it is when it is written and read again. */
  readonly reread = new Set<object>();
}

/** Lists and maps of so many members are remembered, and the items of such lists: of anything smaller looking costs as little as remembering. */
export const REMEMBERED_SIZE = 16;
