/** `convert`: policies of other programs become policies that are served here. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { identityOf, opened } from "../../config/documents/documents.js";
import { eachMistake } from "../../config/documents/each-mistake.js";
import { comparePlaces, type Problem } from "../../config/documents/problem.js";
import { problemLine } from "../../config/documents/problem-line.js";
import { parseResources, type SourceDocument } from "../../config/documents/source-document.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import { EXIT } from "../../data/exit-codes.js";
import { fileProblem } from "../../data/file-problem.js";
import { manifestFiles } from "../../data/manifest-files.js";
import { printable } from "../../data/printable.js";
import { yamlText } from "../../data/yaml.js";
import { buildsOf, convert, filesOf, printed, type Target } from "../../offline/convert/index.js";
import { writeAll } from "../scaffold/write.js";

/** Options of the command. */
export interface ConvertOptions {
  readonly to: Target;
  /** A folder for the results; absent: standard output. */
  readonly output?: string;
  readonly force?: boolean;
}

/** Largest file that is read, in bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Converts what is in files and folders.
 * @param paths files, folders, and `-` for standard input
 * @throws UsageError when one can't be read, or a file is there already; then nothing is written
 */
export async function convertCommand(
  paths: readonly string[],
  options: ConvertOptions,
  io: CommandIo,
): Promise<number> {
  const { to: target, output, force = false } = options;
  if (output === "") throw new UsageError("--output needs the name of a folder");
  const inputs = new Inputs();
  for (const path of paths) await inputs.read(path, io);
  if (inputs.problems.length > 0) {
    for (const problem of inputs.problems.flatMap(eachMistake)) say(io.stderr, problemLine(problem));
    throw new UsageError("nothing is converted, because an input can't be read");
  }
  const { commentsOf } = inputs;
  const made = convert(inputs.documents, { commentsOf, hasFolder: output !== undefined });
  for (const problem of made.problems.flatMap(eachMistake).sort(comparePlaces)) say(io.stderr, told(problem));
  if (output !== undefined) {
    const files = [...filesOf(made.policies, target)].map(([path, content]) => ({ path, content, replaces: force }));
    await writeAll(output, files);
    for (const { path } of files) say(io.stdout, join(output, path));
    for (const build of buildsOf(made.policies)) say(io.stderr, `to be built in ${output}: ${build}`);
  } else if (made.policies.length > 0) io.stdout.write(printed(made.policies, target));
  const failed = made.problems.filter(({ severity }) => severity === "error").length;
  const left = made.others + inputs.foreign;
  const isEmpty = made.policies.length === 0 && failed === 0;
  const rest = left === 0 ? "" : `; ${counted(left, "document")} of other kinds left out`;
  const done = `${counted(made.policies.length, "policy", "policies")} converted`;
  const reasons = failed === 0 ? "" : `, ${counted(failed, "reason")} why something is not`;
  say(io.stderr, `${isEmpty ? "there is nothing to convert: nothing is Gatekeeper's" : `${done}${reasons}`}${rest}`);
  if (isEmpty) return EXIT.NOTHING_JUDGED;
  return failed > 0 ? EXIT.NO : EXIT.FINE;
}

/** A problem in a line: what is not converted, or a note about what is. */
function told(problem: Problem): string {
  const mark = problem.severity === "error" ? "not converted: " : "note: ";
  const line = problemLine({ ...problem, severity: "error" });
  const place = `${problem.file}:${problem.line}:${problem.column}: `;
  return `${place}${mark}${line.slice(place.length)}`;
}

/** All inputs of a run. */
class Inputs {
  readonly documents: SourceDocument[] = [];
  /** Why some can't be read. */
  readonly problems: Problem[] = [];
  /** Number of documents without apiVersion or kind. */
  foreign = 0;
  readonly #lines = new Map<string, readonly string[]>();

  async read(path: string, io: CommandIo): Promise<void> {
    if (path === "-") return this.#take(await buffer(io.stdin), "-", true);
    try {
      if (statSync(path).isDirectory()) for (const file of manifestFiles(path)) this.#file(file, false);
      else this.#file(path, true);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      throw new UsageError(`cannot read ${path}: ${fileProblem(error)}`, { cause: error });
    }
  }

  #file(path: string, isNamed: boolean): void {
    if (statSync(path).size > MAX_BYTES) throw new UsageError(`${path} has more than ${MAX_BYTES / 1024 / 1024} MiB`);
    this.#take(readFileSync(path), path, isNamed);
  }

  #take(bytes: Buffer, file: string, isNamed: boolean): void {
    if (bytes.length > MAX_BYTES) throw new UsageError(`${file} has more than ${MAX_BYTES / 1024 / 1024} MiB`);
    const text = yamlText(bytes);
    const { documents, problems } = parseResources(text, file);
    this.problems.push(...problems);
    this.#lines.set(file, text.split(/\r?\n/));
    const objects = documents.filter((document) => {
      const { kind, version } = identityOf(document);
      return kind !== "" && version !== "";
    });
    if (isNamed && objects.length === 0 && documents.length > 0)
      throw new UsageError(`${file} has no Kubernetes object: nothing in it has apiVersion and kind`);
    this.foreign += documents.length - objects.length;
    this.documents.push(...opened(objects));
  }

  /** The comment lines right above a document. */
  readonly commentsOf = (document: SourceDocument): readonly string[] => {
    const lines = this.#lines.get(document.file) ?? [];
    const end = document.positionOf([]).line - 1;
    let start = end;
    while (start > 0 && /^\s*#/.test(lines[start - 1] ?? "")) start--;
    return lines.slice(start, end).map((line) => printable(line.replace(/^\s*#\s?/, "")));
  };
}
