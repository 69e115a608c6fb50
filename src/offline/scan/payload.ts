/** Reads JSON payloads (spec kyverno.md 6.1 and 6.2). */
import { withDoubles } from "../../data/doubles.js";
import { parseJson } from "../../data/json.js";
import { parseYamlDocuments } from "../../data/yaml.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";
import { textOf } from "./input-files.js";
import { ScanError } from "./scan-error.js";

/**
 * Reads a payload: one of JSON has only doubles, one of YAML has integers as written.
 * @param shown the payload's name in messages; absent: none
 * @throws ScanError for a payload that is not a map
 */
export function readPayload(path: string, shown = ""): JsonObject {
  const named = shown === "" ? "failed to load JSON payload" : `error: failed to load JSON payload ${shown}`;
  const refused = (reason: string) => new ScanError(`${named} (${reason})`);
  const payload = contentOf(path, textOf(path, refused), refused);
  const about = `error: JSON payload ${shown === "" ? path : shown}`;
  if (payload === null || payload === undefined) throw new ScanError(`${about} is empty or nil`);
  if (!isObject(payload)) throw new ScanError(`${about} must be a top-level object (map)`);
  return payload;
}

function contentOf(path: string, written: string, refused: (reason: string) => Error): unknown {
  try {
    if (/\.json$/i.test(path)) return withDoubles(parseJson(written));
    if (/\.ya?ml$/i.test(path)) {
      const documents = parseYamlDocuments(written, { dialect: "go-yaml-3", uniqueKeys: true });
      return documents.length === 1 ? documents[0] : documents;
    }
  } catch (error) {
    throw refused(error instanceof Error ? error.message : String(error));
  }
  throw refused(`unrecognized payload format, must be yaml or json (${path})`);
}
