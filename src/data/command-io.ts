/** The streams of a command, and the error about its input. */
import { writeFile } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { printableLines } from "./printable.js";

/** Standard input and output. */
export interface LineStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** Variables of the environment by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The streams of a command; passed in, so that tests run commands in process. */
export interface CommandIo extends LineStreams {
  readonly env: Environment;
}

/** A command line, or a file that it names, that cannot be used; the message is for the user, the exit code is 2. */
export class UsageError extends Error {
  readonly code = "USAGE";
  /** The wrong part of the input, by its key in a case of a test file; undefined: the whole, or a part without a key. */
  readonly key: string | undefined;

  constructor(message: string, options: ErrorOptions & { readonly key?: string } = {}) {
    super(message, options);
    this.key = options.key;
  }
}

/**
 * Writes a file that a command line names.
 * @throws UsageError
 */
export async function writeNamed(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((cause: Error) => {
    throw new UsageError(`cannot write ${file}: ${cause.message}`, { cause });
  });
}

/** Says something to a person, on standard error as a rule: what it quotes of others passes for no line of ours. */
export const say = (stream: LineStreams["stderr"], text: string): void => {
  stream.write(`${printableLines(text)}\n`);
};
