/** Files in folders that hold no Kubernetes object: values.yaml, Chart.yaml, kustomization.yaml, configurations of CI. */
import { parseYamlDocuments, yamlText } from "../../data/yaml.js";
import { parseApiVersion } from "../../kubernetes/names.js";
import { isObject, member, text } from "../../kubernetes/object.js";
import { beginningOf, type InputFile } from "./input-files.js";

/** API groups of files that programs read, and no cluster. */
const OF_PROGRAMS: ReadonlySet<string> = new Set([
  "cli.kyverno.io",
  "kind.x-k8s.io",
  "kpt.dev",
  "kustomize.config.k8s.io",
  "skaffold",
]);

/** Largest file that is looked at: a larger one does not configure a program. */
const MAX_BYTES = 1024 * 1024;

/**
 * Whether a document of a folder is none for a cluster. One that has at least two of `apiVersion`, `kind` and `metadata` was meant to be an object:
 * what it lacks is a mistake.
 */
export function isForeign(document: unknown): boolean {
  if (!isObject(document)) return true;
  const apiVersion = text(document, "apiVersion");
  const kind = text(document, "kind");
  if (OF_PROGRAMS.has(parseApiVersion(apiVersion)?.group ?? "")) return true;
  // A kubeconfig.
  if (apiVersion === "v1" && kind === "Config") return true;
  return [apiVersion !== "", kind !== "", isObject(member(document, "metadata"))].filter(Boolean).length < 2;
}

/** The files without those of folders that hold only foreign documents; and their number. A broken file stays: it is a mistake. */
export async function withoutForeign(
  files: readonly InputFile[],
): Promise<{ readonly files: readonly InputFile[]; readonly leftOut: number }> {
  const own: InputFile[] = [];
  for (const file of files) if (!file.inFolder || !(await holdsNoObject(file))) own.push(file);
  return { files: own, leftOut: files.length - own.length };
}

async function holdsNoObject(file: InputFile): Promise<boolean> {
  if (file.bytes > MAX_BYTES || /\.(?:csr|jsonl|ndjson)$/.test(file.name)) return false;
  const written = yamlText(await beginningOf(file));
  // Most files of a folder are objects, and need no second reading.
  if (OBJECT.every((line) => line.test(written)) && ![...OF_PROGRAMS].some((group) => written.includes(group))) {
    return false;
  }
  try {
    const documents = parseYamlDocuments(written);
    return documents.length > 0 && documents.every(isForeign);
  } catch {
    return false;
  }
}

const OBJECT = [
  /^(?:apiVersion:|[ {]*"apiVersion")/m,
  /^(?:kind:|[ {]*"kind")/m,
  /^(?:metadata:|[ {]*"metadata"|items:|[ {]*"items")/m,
];

/** A line for the user about files that were left out; `undefined`: none were. */
export function leftOutText(count: number): string | undefined {
  if (count === 0) return undefined;
  return count === 1
    ? "1 file in a folder holds no Kubernetes object, and is left out"
    : `${count} files in folders hold no Kubernetes object, and are left out`;
}
