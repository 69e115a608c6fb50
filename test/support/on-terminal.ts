/** Commands of `policy-server` as docs show them: run in process, as on a terminal without colours. */
import { writeFileSync } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommandLine } from "../../src/cli/command-line.js";

/**
 * @param line what stands behind `policy-server`; words may be quoted, and `> FILE` at the end is understood
 * @returns what is on the screen then: both streams
 */
export async function onTerminal(line: string): Promise<string> {
  const [, written = "", , file] = /^(.*?)( > (\S+))?$/.exec(line) ?? [];
  const screen = Object.assign(new PassThrough(), { isTTY: true });
  const stdout = file === undefined ? screen : new PassThrough();
  const io = { env: { NO_COLOR: "1" }, stdin: Readable.from([]), stdout, stderr: screen };
  await runCommandLine(wordsOf(written), io);
  if (file !== undefined) writeFileSync(file, await text(stdout.end()));
  screen.end();
  return text(screen);
}

const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? "");
