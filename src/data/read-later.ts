/** Members of an object that are made when somebody asks for them. */

/** How a member is made, and then what it is. */
interface Member {
  readonly make: () => unknown;
  made?: { readonly value: unknown };
}

class Itself {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: what a constructor returns is what gets the fields of a class below it
    return object;
  }
}

/**
 * Puts the makers of an object's members into the object, where nobody else sees them. They must not be in the members' accessors: the engine notes these in the object's
 * shape, which lives longer than the object and would hold all that they hold until its next large collection.
 */
class Later extends Itself {
  readonly #members = new Map<string, Member>();

  static members(object: object): Map<string, Member> | undefined {
    return #members in object ? object.#members : undefined;
  }
}

/** By name: all objects have the same. */
const accessors = new Map<string, PropertyDescriptor>();

function accessorOf(name: string): PropertyDescriptor {
  const known = accessors.get(name);
  if (known) return known;
  const get = function (this: object): unknown {
    const member = Later.members(this)?.get(name);
    if (member === undefined) return undefined;
    // It stays an accessor: an object that changes its shape once more would be slower for all who read it.
    member.made ??= { value: member.make() };
    return member.made.value;
  };
  const accessor = { get, enumerable: true, configurable: true };
  accessors.set(name, accessor);
  return accessor;
}

/**
 * Has a member of an object made when it is first asked for, in whatever way: by name, by a copy of the object, by its text. It stands among the object's keys
 * where it did; better is one that is not there yet: the engine keeps an object in a slow form of which a value became an accessor.
 * @param name one of few, which are known beforehand
 */
export function makeLater(object: object, name: string, make: () => unknown): void {
  if (Later.members(object) === undefined) new Later(object);
  Later.members(object)?.set(name, { make });
  Object.defineProperty(object, name, accessorOf(name));
}
