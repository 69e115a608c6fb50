/**
 * Finds the policies that can match a request, by the groups and resources of their rules, so that a request only reads those.
 */
import type { GroupVersionResource } from "../../../kubernetes/names.js";
import { groupsSharing } from "../../../kubernetes/shared-storage.js";
import type { PreparedMatch } from "./match-resources.js";

/** Most resources for which candidates are kept; a cluster has a few hundred. */
const MAX_REMEMBERED = 1_000;

/** An index over items with match criteria. Immutable, apart from its cache. */
export class MatchIndex<T> {
  readonly #items: readonly T[];

  /** Positions of items by operation, group and resource, each possibly `*`. */
  readonly #positions = new Map<string, number[]>();
  /** Items that can match anything. */
  readonly #always: number[] = [];
  readonly #remembered = new Map<string, readonly T[]>();

  /** @param matchOf the criteria of an item; `undefined` when every request concerns it */
  constructor(items: readonly T[], matchOf: (item: T) => PreparedMatch | undefined) {
    this.#items = items;

    items.forEach((item, i) => {
      const match = matchOf(item);
      // Without selectors or rules a policy answers every request: with an error, or because it wants all.
      if (match === undefined || match.namespaceSelector === undefined || match.objectSelector === undefined) {
        this.#always.push(i);
      } else if (match.rules.length === 0) this.#always.push(i);
      else for (const key of keysOf(match)) this.#add(key, i);
    });
  }

  #add(key: string, position: number): void {
    const list = this.#positions.get(key);
    if (list === undefined) this.#positions.set(key, [position]);
    else if (list.at(-1) !== position) list.push(position);
  }

  /** For tests: number of kept answers. */
  get rememberedCount(): number {
    return this.#remembered.size;
  }

  /**
   * The items that can match, in their order: a superset of those that do.
   * @param converted the resource that the API server has converted the request to: an equivalent, even if it is not known here
   */
  candidates(operation: string, group: string, resource: string, converted?: GroupVersionResource): readonly T[] {
    if (this.#items.length <= 1) return this.#items;
    const other = converted === undefined ? "" : ` ${converted.group}/${converted.resource}`;
    const memo = `${operation} ${group}/${resource}${other}`;
    const known = this.#remembered.get(memo);
    if (known !== undefined) return known;
    const groups = groupsSharing(group, resource);
    const found =
      converted === undefined
        ? this.#find(operation, groups, [resource])
        : this.#find(operation, [...groups, converted.group], [resource, converted.resource]);
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(memo, found);
    return found;
  }

  #find(operation: string, groups: readonly string[], resources: readonly string[]): readonly T[] {
    const found = new Set(this.#always);
    for (const op of [operation, "*"]) {
      for (const group of [...groups, "*"]) {
        for (const name of [...resources, "*"]) {
          for (const position of this.#positions.get(`${op} ${group}/${name}`) ?? []) found.add(position);
        }
      }
    }
    return [...found].sort((a, b) => a - b).map((position) => this.#items[position] as T);
  }
}

function* keysOf({ rules }: PreparedMatch): Iterable<string> {
  for (const { operations, groups, resources } of rules) {
    for (const operation of operations) {
      for (const group of groups) {
        for (const { resource } of resources) yield `${operation} ${group}/${resource}`;
      }
    }
  }
}
