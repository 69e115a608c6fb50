/** Reads PolicyExceptions from files (spec kyverno.md 5.1). */
import { parseSuspectYaml, warningText } from "../../data/yaml.js";
import {
  type ExceptionResource,
  isOldException,
  type KnownPolicy,
  readOldExceptions,
} from "../../kinds/kyverno/index.js";
import { readResource } from "../../kinds/kyverno/read.js";
import { formatPath } from "../../kubernetes/field-error.js";
import { isObject, member, nameOf, text } from "../../kubernetes/object.js";
import { textOf } from "./input-files.js";
import { ScanError } from "./scan-error.js";

/** Makes the error of a reason. */
type Refused = (reason: string) => Error;

const failed: Refused = (reason) => new ScanError(`Error: failed to load exceptions (${reason})`);

/**
 * The exceptions that were found among other documents.
 * @throws ScanError when one of them can't be read: what it exempts from, and how long, is not known
 */
export function exceptionsOrThrow(found: {
  readonly exceptions: readonly ExceptionResource[];
  readonly unreadable: readonly string[];
}): readonly ExceptionResource[] {
  const [reason] = found.unreadable;
  if (reason !== undefined) throw new ScanError(`failed to load exceptions (${reason})`);
  return found.exceptions;
}

/**
 * Reads exceptions of all versions, items of lists among them.
 * @param warn receives warnings about skipped parts of a file, with the place
 * @throws for everything else, a ScanError unless the caller makes another error
 */
export async function readExceptions(
  paths: readonly string[],
  warn: (line: string) => void,
  refused: Refused = failed,
): Promise<ExceptionResource[]> {
  const exceptions: ExceptionResource[] = [];
  const unloadable: Refused = (reason) => refused(`unable to load exceptions (${reason})`);
  for (const path of paths) {
    const written = textOf(path, (reason) => refused(`unable to read yaml (${reason})`));
    let documents: unknown[];
    try {
      documents = parseSuspectYaml(written, (doubt) => warn(warningText(doubt, path)), { uniqueKeys: true });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw unloadable(
        `failed to parse document (failed to parse yaml: error converting YAML to JSON: yaml: ${reason})`,
      );
    }
    for (const document of documents) exceptions.push(...exceptionOf(document, unloadable));
  }
  return exceptions;
}

/**
 * Exceptions with those of the old language converted.
 * @param known the policies of that language
 * @param warn receives why some exempt from nothing
 */
export function convertedExceptions(
  all: readonly ExceptionResource[],
  known: readonly KnownPolicy[],
  warn: (line: string) => void,
): readonly ExceptionResource[] {
  const { exceptions, idle } = readOldExceptions(all, known);
  for (const { exception, reason } of idle)
    warn(`PolicyException ${nameOf(exception)} exempts from nothing: ${formatPath(reason.path)}: ${reason.message}`);
  return exceptions;
}

function exceptionOf(document: unknown, unloadable: Refused): readonly ExceptionResource[] {
  const items = member(document, "items");
  const [, ofItems] = /^(.*)List$/.exec(text(document, "kind")) ?? [];
  if (ofItems !== undefined && Array.isArray(items)) {
    const told = ofItems === "" ? {} : { apiVersion: text(document, "apiVersion"), kind: ofItems };
    return items.flatMap((item: unknown) => exceptionOf(isObject(item) ? { ...told, ...item } : item, unloadable));
  }
  const read = readResource(document);
  if (read.kind === "exception") return [read.resource];
  if (read.kind === "unreadable") throw unloadable(read.text);
  const [apiVersion, kind] = [text(document, "apiVersion"), text(document, "kind")];
  // It is converted when the policies are known.
  if (isOldException(document)) return [document as unknown as ExceptionResource];
  if (apiVersion === "" && kind === "") throw unloadable("failed to parse document (GVK cannot be empty)");
  // Only Kyverno's own kinds are validated.
  if (!/kyverno\.io\//.test(apiVersion)) {
    const missing = `failed to locate OpenAPI spec for GV: ${apiVersion}`;
    throw unloadable(`failed to parse document (failed to retrieve validator: ${missing})`);
  }
  throw unloadable(`policy exception type not supported ${apiVersion}, Kind=${kind}`);
}
