/** PolicyExceptions out of files (spec kyverno.md 5.1). */
import { readFile } from "node:fs/promises";
import { parseYamlDocuments } from "../data/yaml.js";
import type { ExceptionResource } from "../kinds/kyverno/index.js";
import { readResource } from "../kinds/kyverno/read.js";
import { EXCEPTION_KIND } from "../kinds/kyverno/resource.js";
import { text } from "../kubernetes/object.js";
import { reasonOf } from "./input-files.js";
import { ScanError } from "./scan-error.js";

/** Exceptions for other kinds of policies, which have no effect on these. */
const LEGACY = /^kyverno\.io\/v2(?:beta1)?$/;

/**
 * Reads exceptions of all versions.
 * @throws ScanError for everything else
 */
export async function readExceptions(paths: readonly string[]): Promise<ExceptionResource[]> {
  const exceptions: ExceptionResource[] = [];
  for (const path of paths) {
    const written = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      throw failed(`unable to read yaml (open ${path}: ${reasonOf(error)})`);
    });
    let documents: unknown[];
    try {
      documents = parseYamlDocuments(written);
    } catch (error) {
      throw failed(`unable to load exceptions (${error instanceof Error ? error.message : String(error)})`);
    }
    for (const document of documents) exceptions.push(...exceptionOf(document));
  }
  return exceptions;
}

function exceptionOf(document: unknown): readonly ExceptionResource[] {
  const read = readResource(document);
  if (read.kind === "exception") return [read.resource];
  if (read.kind === "unreadable") throw failed(`unable to load exceptions (${read.text})`);
  const [apiVersion, kind] = [text(document, "apiVersion"), text(document, "kind")];
  if (kind === EXCEPTION_KIND && LEGACY.test(apiVersion)) return [];
  const named = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  throw failed(`unable to load exceptions (policy exception type not supported ${named}, Kind=${kind})`);
}

const failed = (reason: string): ScanError => new ScanError(`Error: failed to load exceptions (${reason})`);
