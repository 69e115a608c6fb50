/** Which limit an expression has passed, and who has set it: for the log and the command line. Answers have the reference's words, which name none. */
import type { Failure } from "../../../policy/outcome.js";
import { NOT_IN_TIME } from "./interruption.js";

/** The most characters of an expression that are shown. */
const MAX_SHOWN = 120;

/** Whose limit an expression has passed. */
export interface PassedLimit {
  /** Of the expression that passed it. */
  readonly source: string;
  /** In units of cost. */
  readonly limit: number;
  /** What it is a limit of. */
  readonly of: "one expression" | "all expressions that are evaluated together";
  /** What `--cel-cost-factor` is. */
  readonly costFactor: number;
}

/** One sentence. */
export function costDetail({ source, limit, of, costFactor }: PassedLimit): string {
  const setter =
    costFactor === 1
      ? "the limit of its kind of policy; --cel-cost-factor raises it"
      : `as --cel-cost-factor ${costFactor} makes it`;
  return `the expression ${shown(source)} passed the limit of ${limit} units of cost for ${of}, ${setter}`;
}

/** Of an expression that was stopped, unless it is time that was up: whoever has set that says so. */
export const stopDetail = (source: string, stopped: Failure): string | undefined =>
  stopped === NOT_IN_TIME
    ? undefined
    : `the expression ${shown(source)} was stopped; the limit is the server's own, and no option changes it`;

function shown(source: string): string {
  const text = source.trim().replace(/\s+/g, " ");
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
