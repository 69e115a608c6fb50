/** Colours of what commands print: on a terminal only, so that pipes and files get plain text. */

/** The meaning of a text, not its look: only this file has the codes. */
export type Tone = "good" | "bad" | "doubt" | "quiet" | "strong" | "name";

const CODES: Readonly<Record<Tone, string>> = {
  good: "32",
  bad: "31",
  doubt: "33",
  quiet: "2",
  strong: "1",
  name: "36",
};

/** Paints a text, or returns it unchanged. */
export type Paint = (tone: Tone, text: string) => string;

/** Without colour. */
export const plain: Paint = (_tone, text) => text;

/** With colour, on any stream. */
export const painted: Paint = (tone, text) => (text === "" ? "" : `\u001b[${CODES[tone]}m${text}\u001b[0m`);

/**
 * The paint for a stream: colours on a terminal, unless the user disables them (`NO_COLOR`, https://no-color.org, or a dumb terminal), or always with
 * `FORCE_COLOR`.
 */
export function paintFor(stream: unknown, env: Readonly<Record<string, string | undefined>>): Paint {
  const { NO_COLOR: no = "", FORCE_COLOR: force = "", TERM: terminal } = env;
  if (no !== "") return plain;
  if (force !== "" && force !== "0") return painted;
  return isTerminal(stream) && terminal !== "dumb" ? painted : plain;
}

/** Whether a stream is a terminal. */
export const isTerminal = (stream: unknown): boolean => (stream as { isTTY?: boolean }).isTTY === true;
