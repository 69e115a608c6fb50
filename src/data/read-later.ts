/**
 * Has a member of an object made when it is first asked for, in whatever way: by name, by a copy of the object, by its text. It stands among the object's keys
 * where it did.
 */
export function makeLater(object: object, name: string, make: () => unknown): void {
  let isMade = false;
  let value: unknown;
  const get = (): unknown => {
    if (!isMade) {
      value = make();
      isMade = true;
    }
    return value;
  };
  // It stays as it is when it has been made: an object that changes its shape once more would be slower for all who read it.
  Object.defineProperty(object, name, { get, enumerable: true, configurable: true });
}
