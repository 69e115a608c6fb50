/** Bulk modes of commands: JSON lines in, JSON lines out. */
import type { Readable, Writable } from "node:stream";
import { EXIT, nothingJudged } from "../../data/exit-codes.js";
import { parseJson, stringifyJson } from "../../data/json.js";
import { LineReader } from "../../data/line-reader.js";
import { printableLines } from "../../data/printable.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";

/** Streams of a bulk mode. */
export interface LineStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** Lines of output collected before they are written: a write per line costs more than most answers. */
const LINES_PER_WRITE = 100;

/**
 * Answers each line of standard input with one line of standard output, in order; blank lines are skipped. A line that is not a JSON object is
 * reported on standard error and ends the run.
 * @returns 0; 2 when a line could not be read, 3 when there is none
 */
export async function answerLines(
  { stdin, stdout, stderr }: LineStreams,
  answer: (line: JsonObject) => unknown,
): Promise<number> {
  let number = 0;
  let answered = 0;
  let lines: string[] = [];
  const flush = async (): Promise<void> => {
    if (lines.length === 0) return;
    const text = `${lines.join("\n")}\n`;
    lines = [];
    if (!stdout.write(text)) await new Promise((resolve) => stdout.once("drain", resolve));
  };
  for await (const line of linesOf(stdin)) {
    number++;
    if (line.trim() === "") continue;
    const read = readLine(line);
    if ("problem" in read) {
      await flush();
      stderr.write(`${printableLines(`line ${number}: ${read.problem}`)}\n`);
      return EXIT.NOT_ASKED;
    }
    answered++;
    lines.push(stringifyJson(await answer(read.value)));
    if (lines.length >= LINES_PER_WRITE) await flush();
  }
  await flush();
  return answered === 0 ? nothingJudged("standard input has no line", { stderr }) : EXIT.FINE;
}

/** Reports why a bulk mode does not start; returns the exit code. */
export function refuse({ stderr }: LineStreams, message: string): number {
  stderr.write(`${printableLines(`Error: ${message}`)}\n`);
  return EXIT.NOT_ASKED;
}

/** The lines of a stream, divided at line feeds only: JSON may contain other separators unescaped. */
async function* linesOf(stream: Readable): AsyncIterable<string> {
  const lines = new LineReader();
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    for (const line of lines.push(Buffer.from(chunk))) yield line.toString("utf8");
  }
  yield lines.take().toString("utf8");
}

function readLine(line: string): { readonly value: JsonObject } | { readonly problem: string } {
  try {
    const value = parseJson(line);
    return isObject(value) ? { value } : { problem: "not a JSON object" };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
