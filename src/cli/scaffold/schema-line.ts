/** The first line by which editors complete and check a scaffolded file. */
import { existsSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import type { PlannedFile } from "./plan.js";

const DOCS = "node_modules/policy-group-gateway/docs";

/**
 * The file with the line, where the package lies in a folder of the project, or is going to.
 * @param folder that the files are made in
 * @param own below it, a folder that gets packages of its own
 */
export function withSchemaLine(file: PlannedFile, folder: string, own?: string): PlannedFile {
  const { path, content } = file;
  const name = /\.test\.yaml$/.test(path) ? "tests" : /^policies\.ya?ml$/.test(basename(path)) ? "policies" : undefined;
  if (name === undefined) return file;
  const schema = `${DOCS}/${name}.schema.json`;
  if (own === undefined && !existsSync(join(folder, schema))) return file;
  const way = posix.relative(dirname(path), posix.join(own ?? "", schema));
  return { path, content: `# yaml-language-server: $schema=${way.startsWith(".") ? way : `./${way}`}\n${content}` };
}
