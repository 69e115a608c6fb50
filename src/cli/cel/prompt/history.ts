/** What was typed at the prompt before: in a file of the user's own. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Lines that are kept. */
const LINES = 1000;
/** A longer line was pasted: it is not kept. */
const LONGEST = 4096;

/** Where the history is kept (https://specifications.freedesktop.org/basedir-spec); undefined where nobody has a home. */
export function historyFile(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { XDG_STATE_HOME: state = "", HOME: home = "" } = env;
  // A relative path counts as none, says the specification.
  if (state.startsWith("/")) return join(state, "policy-server", "cel-history");
  return home === "" ? undefined : join(home, ".local", "state", "policy-server", "cel-history");
}

/** The lines, oldest first; none where there is no file that can be read. */
export function readHistory(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "" && line.length <= LONGEST)
      .slice(-LINES);
  } catch {
    return [];
  }
}

/** Adds lines. Another prompt may have added its own meanwhile. @returns why not, if not */
export function addToHistory(file: string, typed: readonly string[]): string | undefined {
  const kept = typed.filter((line) => line.trim() !== "" && line.length <= LONGEST);
  if (kept.length === 0) return undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const lines = [...readHistory(file), ...kept];
    const once = lines.filter((line, index) => line !== lines[index + 1]).slice(-LINES);
    // It may hold what should not be seen by others: names, and values that were typed.
    const next = `${file}.${process.pid}`;
    writeFileSync(next, `${once.join("\n")}\n`, { mode: 0o600 });
    renameSync(next, file);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
