/** What is said where nobody knows a policy. */
import type { Config } from "../../config/index.js";
import { didYouMean } from "../../data/suggest.js";
import { UsageError } from "../io.js";

/** Ids that are listed: more than that nobody reads. */
const MAX_LISTED = 20;

/** The error, with the nearest id and those that there are. */
export function unknownPolicy(id: string, { entries }: Config, file: string): UsageError {
  const ids = entries.map((entry) => entry.id);
  const members = entries.flatMap((entry) =>
    entry.kind === "group" ? entry.members.map(({ name }) => `${entry.id}/${name}`) : [],
  );
  const listed = ids.slice(0, MAX_LISTED).join(", ");
  const more = ids.length > MAX_LISTED ? ` and ${ids.length - MAX_LISTED} more` : "";
  const known = ids.length === 0 ? `${file} has no policies` : `known are ${listed}${more}`;
  return new UsageError(`unknown policy: ${id}${didYouMean(id, [...ids, ...members])} (${known})`);
}
