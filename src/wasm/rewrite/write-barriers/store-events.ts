/** What the search for stores has found in one function, and which marks are the cheapest for it. */
import { Integers } from "../binary/integers.js";
import { FARTHEST } from "./marking.js";
import { CONSTANT } from "./operand-stack.js";

/** What is marked at a place of the code. */
export const MARK = {
  /** The value of a local. */
  local: 0,
  /** The address on top of the stack, with a constant added to it. */
  top: 1,
  /** A constant address. */
  address: 2,
  /** All of the memory. */
  all: 3,
} as const;
/** Numbers of a mark: where, what, its value, its weight. */
export const MARK_SIZE = 4;

/** Numbers of a definition: the local, where, its weight, what it is made of, what is added to that. */
const DEFINITION_SIZE = 5;
/** Definitions of locals followed from one to the next. */
const LONGEST_CHAIN = 8;

/** A store through a local. */
interface LocalStore {
  /** Where its address is on top. */
  readonly at: number;
  readonly local: number;
  readonly weight: number;
  /** Whether another mark of the same address, if its local's stores are marked, comes before it. */
  readonly isCovered: boolean;
}

/** A local through which something is written, or which another such local comes from. */
interface LocalUse {
  readonly definitions: number[];
  definitionWeight: number;
  readonly isParameter: boolean;
  /** Of its last definition: what it was made of, and what was added. */
  base: number;
  added: number;
  /** The largest distance of a store from its value. */
  reach: number;
  storeWeight: number;
}

/** Of one function at a time. */
export class StoreEvents {
  readonly #locals = new Map<number, LocalUse>();
  /** As they come: most functions have definitions, and many no stores, for which they would have to be looked at. */
  readonly #definitions = new Integers();
  #parameters = 0;
  #entry = 0;
  #stores: LocalStore[] = [];
  #marks: [at: number, what: number, value: number, weight: number][] = [];

  /** Forgets the last function and begins one with so many parameters. */
  begin(parameters: number, entry: number): void {
    this.#clear();
    this.#parameters = parameters;
    this.#entry = entry;
  }

  /** Forgets all of the function but that it writes somewhere. */
  markAll(entry: number): void {
    this.#clear();
    this.#marks.push([entry, MARK.all, 0, 1]);
  }

  /** A local gets a value. @param at behind that */
  define(local: number, at: number, weight: number, base: number, added: number): void {
    const definitions = this.#definitions;
    definitions.push(local);
    definitions.push(at);
    definitions.push(weight);
    definitions.push(base);
    definitions.push(added);
  }

  /** A store at a local's value, past or present, and no farther than {@link FARTHEST} behind it. */
  storeThrough(store: LocalStore, reach: number): void {
    this.#stores.push(store);
    const use = this.#use(store.local);
    use.reach = Math.max(use.reach, reach);
  }

  /** A mark for one store. */
  mark(at: number, what: number, value: number, weight: number): void {
    this.#marks.push([at, what, value, weight]);
  }

  /** Adds the function's marks to others, in order. */
  addTo(marks: Integers): void {
    if (this.#stores.length > 0) {
      this.#readDefinitions();
      this.#choose();
    }
    this.#marks.sort(([a], [b]) => a - b);
    for (const mark of this.#marks) for (const value of mark) marks.push(value);
  }

  #clear(): void {
    this.#locals.clear();
    this.#definitions.clear();
    this.#stores = [];
    this.#marks = [];
  }

  #readDefinitions(): void {
    const definitions = this.#definitions;
    for (let at = 0; at < definitions.length; at += DEFINITION_SIZE) {
      const use = this.#use(definitions.at(at));
      use.definitions.push(definitions.at(at + 1));
      use.definitionWeight += definitions.at(at + 2);
      use.base = definitions.at(at + 3);
      use.added = definitions.at(at + 4);
    }
  }

  #use(local: number): LocalUse {
    const known = this.#locals.get(local);
    if (known) return known;
    const isParameter = local < this.#parameters;
    const use: LocalUse = {
      definitions: isParameter ? [this.#entry] : [],
      definitionWeight: isParameter ? 1 : 0,
      isParameter,
      base: 0,
      added: 0,
      reach: 0,
      storeWeight: 0,
    };
    this.#locals.set(local, use);
    return use;
  }

  #choose(): void {
    const roots = new Map<number, number>();
    for (const { local } of this.#stores) if (!roots.has(local)) roots.set(local, this.#rootOf(local));
    for (const { local, weight, isCovered } of this.#stores)
      if (!isCovered) this.#use(roots.get(local) ?? local).storeWeight += weight;
    const marked = new Set<number>();
    for (const store of this.#stores) {
      const root = roots.get(store.local) ?? store.local;
      if (root === CONSTANT) {
        this.#marks.push([store.at, MARK.address, this.#use(store.local).added, store.weight]);
        continue;
      }
      const use = this.#use(root);
      // A store may be jumped over, too.
      if (use.definitionWeight >= use.storeWeight) {
        if (!store.isCovered) this.#marks.push([store.at, MARK.top, 0, store.weight]);
      } else if (!marked.has(root)) {
        marked.add(root);
        for (const at of use.definitions) this.#marks.push([at, MARK.local, root, 1]);
      }
    }
  }

  /**
   * The local whose values, with what is added to them, are those of a local that is set once. Before it is set it is 0, and what is a little behind 0 is
   * always taken to be written to.
   */
  #rootOf(local: number): number {
    let root = local;
    let { reach } = this.#use(local);
    for (let left = LONGEST_CHAIN; left > 0; left--) {
      const { isParameter, definitions, base, added } = this.#use(root);
      if (isParameter || definitions.length !== 1) break;
      if (base === CONSTANT && root === local) return CONSTANT;
      if (base < 0 || reach + added > FARTHEST) break;
      reach += added;
      root = base;
    }
    return root;
  }
}
