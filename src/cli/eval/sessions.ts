/** What guests ask of the host: recorded, replayed, or neither. */
import { readFile, writeFile } from "node:fs/promises";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { yamlText } from "../../data/yaml.js";
import { type Executor, recordSession, replaySession, SessionError } from "../../loader/index.js";

/** A session file to write, or one to answer guests from. */
export interface SessionOptions {
  readonly recordHostCapabilities?: string;
  readonly replayHostCapabilities?: string;
}

/** Who answers guests. */
export interface Session {
  readonly execute: Executor;
  /** After the last question. */
  end(io: CommandIo): Promise<void>;
}

/** The session of the options; undefined where the host answers. */
export async function sessionOf({
  recordHostCapabilities: record,
  replayHostCapabilities: replay,
}: SessionOptions): Promise<Session | undefined> {
  if (record !== undefined && replay !== undefined)
    throw new UsageError("a session is either recorded or replayed: give one of the two options");
  if (record !== undefined) {
    const { execute, text: written } = recordSession();
    return { execute, end: () => writeFile(record, written()) };
  }
  if (replay === undefined) return undefined;
  const content = await readFile(replay).catch(() => undefined);
  if (content === undefined) throw new UsageError(`cannot read ${replay}`);
  try {
    const { execute, left } = replaySession(yamlText(content));
    const end = async (io: CommandIo) => {
      if (left() > 0) say(io.stderr, `warning: ${left()} recorded exchanges of ${replay} were not asked for`);
    };
    return { execute, end };
  } catch (error) {
    if (error instanceof SessionError) throw new UsageError(`${replay}: ${error.message}`);
    throw error;
  }
}
