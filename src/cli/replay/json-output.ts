/** What would change, for a program: one document, written while it is found, so that no list of changes is kept. */
import { stringifyJson } from "../../data/json.js";
import { aboutOf, type Changed } from "../../offline/replay/changed.js";
import type { Output, Summary } from "../../offline/replay/output.js";

/** JSON on standard output. */
export class JsonOutput implements Output {
  readonly #write: (text: string) => Promise<void>;
  #isFirst = true;

  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  async change({ policy, change, question, before, after }: Changed): Promise<void> {
    const { place, time, redacted, doubts } = question;
    const one = {
      policy,
      change,
      place,
      ...(time !== undefined && time !== "" && { time }),
      request: aboutOf(question),
      before: before ?? null,
      after,
      ...(redacted && { redacted }),
      ...(doubts.length > 0 && { doubts }),
    };
    await this.#write(`${this.#isFirst ? '{"changes":[\n' : ",\n"}${stringifyJson(defined(one))}`);
    this.#isFirst = false;
  }

  async end({ tally, unreadable, skipped, doubts }: Summary): Promise<void> {
    const rest = {
      policies: Object.fromEntries(tally.policies),
      total: tally.total,
      unreadable,
      skipped: Object.fromEntries(skipped),
      doubts: Object.fromEntries(doubts),
    };
    const begin = this.#isFirst ? '{"changes":[' : "\n";
    await this.#write(`${begin}],\n${stringifyJson(rest).slice(1)}\n`);
  }
}

/** Without members that are undefined. */
function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(defined);
  if (typeof value !== "object" || value === null || value instanceof Number) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, defined(member)]])),
  );
}
