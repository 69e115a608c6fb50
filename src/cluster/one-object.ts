/** One object of the cluster, followed by its name: the right to this one is enough. */
import type { Clock } from "../data/clock.js";
import { followUntil } from "../kubernetes/client/follow.js";
import type { Cluster } from "../kubernetes/client/index.js";
import { collectionPath, type ResourcePlace } from "../kubernetes/client/paths.js";
import type { ListTarget } from "../kubernetes/client/watched-list.js";
import { isObject, type JsonObject, nameOf } from "../kubernetes/object.js";

/** The object, and the callbacks. */
export interface FollowedObject {
  readonly resource: ResourcePlace;
  readonly namespace: string;
  readonly name: string;
  /** Called with the object, `undefined` for none, and again whenever it changes. */
  readonly seen: (object: JsonObject | undefined) => void;
  /** Called with each reason why it cannot be read, and whether that is a refusal. */
  readonly failed: (error: unknown, refused: boolean) => void;
}

/** Follows an object until the signal is aborted. */
export function followObject(
  cluster: Pick<Cluster, "follow">,
  clock: Clock,
  signal: AbortSignal,
  { resource, namespace, name, seen, failed }: FollowedObject,
): void {
  let listed: OneObject | undefined;
  followUntil(signal, {
    clock,
    failed,
    begin: () =>
      cluster.follow({
        path: collectionPath(resource, namespace),
        query: { fieldSelector: `metadata.name=${name}` },
        target: () => new OneObject(name),
        listed: (target) => {
          listed = target;
          seen(target.object);
        },
        changed: () => seen(listed?.object),
      }),
  });
}

class OneObject implements ListTarget {
  readonly #name: string;
  object: JsonObject | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  put(object: unknown): void {
    if (isObject(object) && nameOf(object) === this.#name) this.object = object;
  }

  delete(object: unknown): void {
    if (nameOf(object) === this.#name) this.object = undefined;
  }
}
