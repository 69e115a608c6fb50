import { readFileSync, statSync } from "node:fs";
import { yamlText } from "../../data/yaml.js";

/** Largest file whose lines are shown, in bytes: as large as a configuration may be. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Most files whose lines are kept: problems come in order of file. */
const MAX_KEPT = 8;

/** The lines of files in which something is wrong, read once more for being shown. */
export class SourceLines {
  readonly #kept = new Map<string, readonly string[]>();

  /** @param given files that are read already, by name, such as standard input */
  constructor(given: ReadonlyMap<string, string> = new Map()) {
    for (const [file, text] of given) this.#kept.set(file, linesOf(text));
  }

  /** A line, 1-based; undefined where there is none, or no such file any more. */
  line(file: string, line: number): string | undefined {
    let lines = this.#kept.get(file);
    if (lines === undefined) {
      lines = read(file);
      const [oldest] = this.#kept.keys();
      if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
      this.#kept.set(file, lines);
    }
    return lines[line - 1];
  }
}

function read(file: string): readonly string[] {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= MAX_BYTES ? linesOf(yamlText(readFileSync(file))) : [];
  } catch {
    return [];
  }
}

/** Lines end as places count them: at LF, CR LF or a CR of its own. */
const linesOf = (text: string): readonly string[] => text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
