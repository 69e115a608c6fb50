/** One kind of fuzzing. */
export interface Fuzzer {
  readonly name: string;
  /** Tries for so many milliseconds. Answers what it found, one text each. */
  run(milliseconds: number, seed: number): readonly string[] | Promise<readonly string[]>;
}
