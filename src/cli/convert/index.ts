/** `convert`: policies of other programs become policies that are served here. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { identityOf } from "../../config/documents/documents.js";
import { eachMistake } from "../../config/documents/each-mistake.js";
import { comparePlaces, type Problem } from "../../config/documents/problem.js";
import { problemLine } from "../../config/documents/problem-line.js";
import { parseResources, type SourceDocument } from "../../config/documents/source-document.js";
import { type CommandIo, say, UsageError } from "../../data/command-io.js";
import { counted } from "../../data/counted.js";
import { EXIT } from "../../data/exit-codes.js";
import { fileProblem } from "../../data/file-problem.js";
import { manifestFiles } from "../../data/manifest-files.js";
import { yamlText } from "../../data/yaml.js";
import { buildsOf, convert, filesOf, printed, type Target } from "../../offline/convert/index.js";
import { writeAll } from "../scaffold/write.js";

/** Options of the command. */
export interface ConvertOptions {
  /** Absent: what fits the program best. */
  readonly to?: Target;
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
  { to: target, output, force = false }: ConvertOptions,
  io: CommandIo,
): Promise<number> {
  if (output === "") throw new UsageError("--output needs the name of a folder");
  const objects: SourceDocument[] = [];
  const [broken, problems]: [Problem[], Problem[]] = [[], []];
  let left = 0;
  for await (const { file, isNamed, bytes } of inputsOf(paths, io)) {
    const read = parseResources(yamlText(bytes), file);
    broken.push(...read.problems);
    problems.push(...read.warnings);
    const own = read.documents.filter((document) => {
      const { kind, version } = identityOf(document);
      return kind !== "" && version !== "";
    });
    if (isNamed && own.length === 0 && read.documents.length > 0)
      throw new UsageError(`${file} has no Kubernetes object: nothing in it has apiVersion and kind`);
    left += read.documents.length - own.length;
    objects.push(...own);
  }
  if (broken.length > 0) {
    for (const problem of broken.flatMap(eachMistake)) say(io.stderr, problemLine(problem));
    throw new UsageError("nothing is converted, because an input can't be read");
  }
  const made = convert(objects, output !== undefined, target);
  problems.push(...made.problems);
  for (const problem of problems.flatMap(eachMistake).sort(comparePlaces)) say(io.stderr, told(problem));
  const { policies } = made;
  if (output !== undefined) {
    const files = [...filesOf(policies, target)].map(([path, content]) => ({ path, content, replaces: force }));
    await writeAll(output, files);
    for (const { path } of files) say(io.stdout, join(output, path));
    for (const build of buildsOf(policies)) say(io.stderr, `to be built in ${output}: ${build}`);
  } else if (policies.length > 0) io.stdout.write(printed(policies, target));
  const failed = made.problems.filter(({ severity }) => severity === "error").length;
  left += made.others;
  const isEmpty = policies.length === 0 && failed === 0;
  const rest = left === 0 ? "" : `; ${counted(left, "document")} of other kinds left out`;
  const done = `${counted(policies.length, "policy", "policies")} converted`;
  const reasons = failed === 0 ? "" : `, ${counted(failed, "reason")} why something is not`;
  say(
    io.stderr,
    `${isEmpty ? "there is nothing to convert: nothing is Gatekeeper's or Kyverno's" : `${done}${reasons}`}${rest}`,
  );
  if (isEmpty) return EXIT.NOTHING_JUDGED;
  return failed > 0 ? EXIT.NO : EXIT.FINE;
}

/** A problem in a line: what is not converted, or a note about what is. */
function told(problem: Problem): string {
  const mark = problem.severity === "error" ? "not converted: " : "note: ";
  const place = `${problem.file}:${problem.line}:${problem.column}: `;
  return `${place}${mark}${problemLine({ ...problem, severity: "error" }).slice(place.length)}`;
}

/** The contents of files and folders. */
async function* inputsOf(paths: readonly string[], { stdin }: CommandIo) {
  for (const path of paths) {
    const isNamed = path === "-" || !attempt(path, () => statSync(path).isDirectory());
    for (const file of isNamed ? [path] : attempt(path, () => manifestFiles(path))) {
      const isLarge = file !== "-" && attempt(file, () => statSync(file).size > MAX_BYTES);
      const bytes = isLarge ? undefined : file === "-" ? await buffer(stdin) : attempt(file, () => readFileSync(file));
      if (bytes === undefined || bytes.length > MAX_BYTES)
        throw new UsageError(`${file} has more than ${MAX_BYTES / 1024 / 1024} MiB`);
      yield { file, isNamed, bytes };
    }
  }
}

function attempt<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${fileProblem(error)}`, { cause: error });
  }
}
