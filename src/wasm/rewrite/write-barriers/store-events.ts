/** Stores and definitions in one function, and the cheapest marks for them. */
import { Integers } from "../binary/integers.js";
import { FARTHEST } from "./marking.js";
import { CONSTANT } from "./operand-stack.js";

/** Kinds of marks at a place of the code. */
export const MARK = {
  /** The value of a local. */
  local: 0,
  /** The address on top of the stack, with a constant added to it. */
  top: 1,
  /** A constant address. */
  address: 2,
  /** The whole memory. */
  all: 3,
} as const;
/** Numbers of a mark: its position, kind, value and weight. */
export const MARK_SIZE = 4;

/** Numbers of a definition: its local, position, weight, source, and the constant added to the source. */
const DEFINITION_SIZE = 5;
/** Most definitions of locals that are followed from one to the next. */
const LONGEST_CHAIN = 8;

/** A store through a local. */
interface LocalStore {
  /** Position where its address is on top. */
  readonly at: number;
  readonly local: number;
  readonly weight: number;
  /** Whether another mark of the same address, if its local's stores are marked, comes before it. */
  readonly isCovered: boolean;
}

/** A local that stores write through, or the source of such a local. */
interface LocalUse {
  readonly definitions: number[];
  definitionWeight: number;
  readonly isParameter: boolean;
  /** Source of its last definition, and the constant added. */
  base: number;
  added: number;
  /** The largest distance of a store from its value. */
  reach: number;
  storeWeight: number;
}

/** Events of one function at a time. */
export class StoreEvents {
  readonly #locals = new Map<number, LocalUse>();
  /** Definitions, in order: most functions have some, and many have no stores, for which they would be needed. */
  readonly #definitions = new Integers();
  #parameters = 0;
  #entry = 0;
  #stores: LocalStore[] = [];
  #marks: [at: number, what: number, value: number, weight: number][] = [];

  /** Begins a function with this many parameters. */
  begin(parameters: number, entry: number): void {
    this.#clear();
    this.#parameters = parameters;
    this.#entry = entry;
  }

  /** Marks the whole memory in place of the function's stores. */
  markAll(entry: number): void {
    this.#clear();
    this.#marks.push([entry, MARK.all, 0, 1]);
  }

  /** Notes a definition of a local. @param at the position behind it */
  define(local: number, at: number, weight: number, base: number, added: number): void {
    const definitions = this.#definitions;
    definitions.push(local);
    definitions.push(at);
    definitions.push(weight);
    definitions.push(base);
    definitions.push(added);
  }

  /** Notes a store at a present or past value of a local, no farther than {@link FARTHEST} behind it. */
  storeThrough(store: LocalStore, reach: number): void {
    this.#stores.push(store);
    const use = this.#use(store.local);
    use.reach = Math.max(use.reach, reach);
  }

  /** Adds a mark for one store. */
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
   * The source of a local that is set once: its values, with the constant added, cover those of the local. Before it is set the local is 0, and
   * addresses shortly behind 0 always count as written.
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
