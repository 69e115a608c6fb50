/** Members of an object that are made when they are first read. */

/** The maker of a member, and later its value. */
interface Member {
  readonly make: () => unknown;
  made?: { readonly value: unknown };
}

class Itself {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the returned object gets the fields of a class below it
    return object;
  }
}

/**
 * Stores the makers of an object's members in the object, where no other code sees them. They must not be in the members' accessors: the engine records these
 * in the object's shape, which lives longer than the object and would keep everything they refer to until its next large collection.
 */
class Later extends Itself {
  readonly #members = new Map<string, Member>();

  static members(object: object): Map<string, Member> | undefined {
    return #members in object ? object.#members : undefined;
  }
}

/** The accessors by name: all objects have the same. */
const accessors = new Map<string, PropertyDescriptor>();

function accessorOf(name: string): PropertyDescriptor {
  const known = accessors.get(name);
  if (known) return known;
  const get = function (this: object): unknown {
    const member = Later.members(this)?.get(name);
    if (member === undefined) return undefined;
    // It stays an accessor: an object that changes its shape once more would be slower for all its readers.
    member.made ??= { value: member.make() };
    return member.made.value;
  };
  const accessor = { get, enumerable: true, configurable: true };
  accessors.set(name, accessor);
  return accessor;
}

/**
 * Has a member of an object made when it is first read, in whatever way: by name, by a copy of the object, by its text. Its place among the object's keys
 * does not change; it is better if it does not exist yet: the engine keeps an object in a slow form when one of its values becomes an accessor.
 * @param name one of few, which are known beforehand
 */
export function makeLater(object: object, name: string, make: () => unknown): void {
  if (Later.members(object) === undefined) new Later(object);
  Later.members(object)?.set(name, { make });
  Object.defineProperty(object, name, accessorOf(name));
}
