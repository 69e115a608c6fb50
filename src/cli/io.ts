import { printableLines } from "../data/printable.js";
import type { LineStreams } from "../offline/cases/json-lines.js";

/** What a command reads and writes; passed in, so that tests run commands in process. */
export interface CommandIo extends LineStreams {
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A command line that cannot be carried out; the message is for the user, the exit code is 2. */
export class UsageError extends Error {
  readonly code = "USAGE";
  /** What of its input is wrong, by the key that it has in a case of a test file; undefined: the whole, or what has none. */
  readonly key: string | undefined;

  constructor(message: string, options: ErrorOptions & { readonly key?: string } = {}) {
    super(message, options);
    this.key = options.key;
  }
}

/** Says something to a person, on standard error as a rule: what it quotes of others passes for no line of ours. */
export const say = (stream: LineStreams["stderr"], text: string): void => {
  stream.write(`${printableLines(text)}\n`);
};
