/** Answers that take a while. */

/** The answer of a host function that is not there yet: evaluation stops, and is repeated when `ready` settles. */
export class Suspended {
  constructor(readonly ready: Promise<unknown>) {}
}
