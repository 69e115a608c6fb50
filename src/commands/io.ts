import type { LineStreams } from "../batch/json-lines.js";

/** What a command reads and writes; passed in, so that tests run commands in process. */
export interface CommandIo extends LineStreams {
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A command line that cannot be carried out; the message is for the user, the exit code is 2. */
export class UsageError extends Error {
  readonly code = "USAGE";
}
