/** JSON lines in, JSON lines out: the bulk modes of commands. */
import { createInterface } from "node:readline";
import type { CommandIo } from "../commands/io.js";
import { parseJson } from "../data/json.js";

/** A JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

/** Whether a value is one. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Number);

/** Lines of output gathered before they are written: fewer, larger writes. */
const LINES_PER_WRITE = 100;

/**
 * Answers each line of standard input with one line of standard output, in order; blank lines are skipped. A line that is no JSON object is
 * named on standard error and ends the run.
 * @returns 0, or 2 when a line could not be read
 */
export async function answerLines(io: CommandIo, answer: (line: JsonObject) => unknown): Promise<number> {
  let number = 0;
  let lines: string[] = [];
  const flush = async (): Promise<void> => {
    if (lines.length === 0) return;
    const text = `${lines.join("\n")}\n`;
    lines = [];
    if (!io.stdout.write(text)) await new Promise((resolve) => io.stdout.once("drain", resolve));
  };
  for await (const line of createInterface({ input: io.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (line.trim() === "") continue;
    const problem = readLine(line);
    if ("problem" in problem) {
      await flush();
      io.stderr.write(`line ${number}: ${problem.problem}\n`);
      return 2;
    }
    lines.push(JSON.stringify(answer(problem.value)));
    if (lines.length >= LINES_PER_WRITE) await flush();
  }
  await flush();
  return 0;
}

function readLine(line: string): { readonly value: JsonObject } | { readonly problem: string } {
  try {
    const value = parseJson(line);
    return isObject(value) ? { value } : { problem: "not a JSON object" };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
