/** Which replica looks after an object: one of those that live, told by the object's uid. */
import { combined, hashText } from "./text-hash.js";

/**
 * Whether an object is this replica's. All replicas that see the same ones agree; when one comes or goes, only objects that it has or had change hands.
 * @param live names of all
 * @param own one of them; a replica that nobody knows looks after everything: twice is better than never
 */
export function shardOf(live: readonly string[], own: string): (uid: string) => boolean {
  const mine = hashText(own);
  const others = live.filter((name) => name !== own).map((name) => hashText(name));
  if (!live.includes(own) || others.length === 0) return () => true;
  return (uid) => {
    const object = hashText(uid);
    const weight = combined(object, mine);
    return others.every((other) => {
      const theirs = combined(object, other);
      return weight > theirs || (weight === theirs && mine > other);
    });
  };
}
