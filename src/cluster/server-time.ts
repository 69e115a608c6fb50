/** The API server's clock, to which that of a replica is compared. */
import { isObject, member, text } from "../kubernetes/object.js";

/**
 * The API server's clock, read from an object that it has just written.
 * @returns milliseconds since 1970, in whole seconds; `undefined` when the object has no time
 */
export function serverTime(object: unknown): number | undefined {
  const metadata = member(object, "metadata");
  const managed = member(metadata, "managedFields");
  const times = (Array.isArray(managed) ? managed : [])
    .filter(isObject)
    .map((entry) => Date.parse(text(entry, "time")));
  const known = [...times, Date.parse(text(metadata, "creationTimestamp"))].filter((time) => !Number.isNaN(time));
  return known.length === 0 ? undefined : Math.max(...known);
}

/**
 * Why a replica's clock cannot be relied on; `undefined`: it can.
 * @param written an object as the API server has just written it
 * @param wall milliseconds since 1970, by the replica's clock
 * @param skew allowed difference in milliseconds
 */
export function clockProblem(written: unknown, wall: number, skew: number): string | undefined {
  const server = serverTime(written);
  if (server === undefined || Math.abs(server - wall) <= skew) return undefined;
  return `the clock of this replica (${new Date(wall).toISOString()}) and the API server's (${new Date(server).toISOString()}) are too far apart`;
}

/**
 * The milliseconds by which the API server's clock is ahead of a replica's, to be added to its times; 0 where both may agree, as the times of objects have whole
 * seconds.
 * @param written an object as the API server has just written it
 * @param wall milliseconds since 1970, by the replica's clock
 */
export function clockOffset(written: unknown, wall: number): number {
  const least = (serverTime(written) ?? wall) - wall;
  return least > 0 ? least : Math.min(0, least + 1_000);
}
