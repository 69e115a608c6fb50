/** The limit that an expression has exceeded, and its origin: for the log and the command line. Answers have the reference's words, which name none. */
import type { Failure } from "../../../policy/outcome.js";
import { NOT_IN_TIME } from "./interruption.js";

/** Most characters of an expression that are shown. */
const MAX_SHOWN = 120;

/** A limit that was exceeded. */
export interface PassedLimit {
  /** The source of the expression that exceeded it. */
  readonly source: string;
  /** The limit in units of cost. */
  readonly limit: number;
  /** The subject of the limit. */
  readonly of: "one expression" | "all expressions that are evaluated together";
  /** The value of `--cel-cost-factor`. */
  readonly costFactor: number;
}

/** The limit in one sentence. */
export function costDetail({ source, limit, of, costFactor }: PassedLimit): string {
  const setter =
    costFactor === 1
      ? "the limit of its kind of policy; --cel-cost-factor raises it"
      : `as --cel-cost-factor ${costFactor} makes it`;
  return `the expression ${shown(source)} passed the limit of ${limit} units of cost for ${of}, ${setter}`;
}

/** The detail of an expression that was stopped; none for a time-out, which is reported by its owner. */
export const stopDetail = (source: string, stopped: Failure): string | undefined =>
  stopped === NOT_IN_TIME
    ? undefined
    : `the expression ${shown(source)} was stopped; the limit is the server's own, and no option changes it`;

function shown(source: string): string {
  const text = source.trim().replace(/\s+/g, " ");
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
