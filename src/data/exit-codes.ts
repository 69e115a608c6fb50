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
