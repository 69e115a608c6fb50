import type { Readable, Writable } from "node:stream";

/** What a command reads and writes; passed in, so that tests run commands in process. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** A command line that cannot be carried out; the message is for the user, the exit code is 2. */
export class UsageError extends Error {
  readonly code = "USAGE";
}
