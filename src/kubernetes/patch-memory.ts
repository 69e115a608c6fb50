/**
 * Keeps facts about the parts of an object while it is patched again and again (disposable, for one request): a patch leaves nearly all of an object as it
 * was, and unchanged parts need not be checked again. Values are never changed in place.
 */
export class PatchMemory {
  /** Values in the form that Go gives a type, with their type. */
  readonly shaped = new Map<object, object>();
  /** Values that fit a type of structured merge, with their type; for an item, the type of its list. */
  readonly fitting = new Map<object, object>();
  /** JSON that does not change when it is written and read again. */
  readonly reread = new Set<object>();
}

/** Least size of lists and maps that are kept, and of lists whose items are: checking a smaller one is as cheap as keeping it. */
export const REMEMBERED_SIZE = 16;
