import { type CommandIo, say } from "./command-io.js";

/** Exit codes, which mean the same for every command (docs/command-line.md). */
export const EXIT = {
  /** Everything is as it should be. */
  FINE: 0,
  /** The answer is no: a mistake, a denial, a failed case. */
  NO: 1,
  /** The question could not be asked: a wrong command line, or an unreadable input. */
  NOT_ASKED: 2,
  /** Nothing was judged: no policy matched an object. `--allow-empty` says that this is meant. */
  NOTHING_JUDGED: 3,
} as const;

/**
 * Says that nothing was judged.
 * @param why such as `no policy matched a resource`
 * @returns the exit code
 */
export function nothingJudged(why: string, { stderr }: Pick<CommandIo, "stderr">): number {
  say(stderr, `nothing was judged: ${why} (--allow-empty: exit 0 all the same)`);
  return EXIT.NOTHING_JUDGED;
}

/** The worst of exit codes: what could not be asked counts more than a no, and a no more than nothing. */
export const worstOf = (codes: readonly number[]): number =>
  BY_WEIGHT.find((code) => codes.includes(code)) ?? EXIT.FINE;

const BY_WEIGHT: readonly number[] = [EXIT.NOT_ASKED, EXIT.NO, EXIT.NOTHING_JUDGED];
