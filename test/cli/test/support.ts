/** Runs `test` in process, on files of a folder of its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after } from "node:test";
import { runCommandLine } from "../../../src/cli/command-line.js";

/** A folder that is gone after the tests, and what is done in it. */
export function testFolder(): {
  readonly folder: string;
  /** Writes a file; its path. */
  readonly write: (name: string, content: string) => string;
  /** `test` with these arguments; paths in what it prints begin in the folder. */
  readonly run: (...args: string[]) => Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
} {
  const folder = mkdtempSync(join(tmpdir(), "own-tests-"));
  after(() => rmSync(folder, { recursive: true }));
  const write = (name: string, content: string): string => {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  const run = async (...args: string[]) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const io = { env: {}, stdin: Readable.from([]), stdout, stderr };
    const code = await runCommandLine(["test", ...args, "--policies", join(folder, "policies.yaml")], io);
    stdout.end();
    stderr.end();
    const [out, err] = await Promise.all([text(stdout), text(stderr)]);
    return { code, out: out.replaceAll(`${folder}/`, ""), err: err.replaceAll(`${folder}/`, "") };
  };
  return { folder, write, run };
}
