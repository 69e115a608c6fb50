/** `docs`: prints the reference of the command line. */
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { fileProblem } from "../../data/file-problem.js";
import { commandReference } from "./reference.js";

/**
 * Writes the reference.
 * @param output a file or a folder; absent: standard output
 * @returns the exit code
 */
export async function docsCommand(program: Command, output: string | undefined, io: CommandIo): Promise<number> {
  const text = commandReference(program);
  if (output === undefined) {
    io.stdout.write(text);
    return 0;
  }
  const isFolder = /[/\\]$/.test(output) || (await stat(output).catch(() => undefined))?.isDirectory() === true;
  const file = isFolder ? join(output, `${program.name()}.md`) : output;
  try {
    await writeFile(file, text);
  } catch (cause) {
    throw new UsageError(`cannot write ${file}: ${fileProblem(cause)}`);
  }
  say(io.stderr, `${file}: written`);
  return 0;
}
