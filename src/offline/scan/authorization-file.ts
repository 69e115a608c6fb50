/** Reads files with one request each to be authorized (spec kyverno.md 6.3). */
import { readFileSync } from "node:fs";
import {
  type AuthorizationMode,
  type AuthorizationRequest,
  readRequest,
} from "../../kinds/kyverno/authorization/index.js";
import { reasonOf } from "./input-files.js";
import { ScanError } from "./scan-error.js";

/**
 * Reads a request.
 * @throws ScanError with the reason for an invalid file
 */
export function readAuthorizationFile(mode: AuthorizationMode, path: string): AuthorizationRequest {
  let written: string;
  try {
    written = readFileSync(path, "utf8");
  } catch (error) {
    const what = mode === "HTTP" ? "HTTP" : "envoy";
    const reason = reasonOf(error as NodeJS.ErrnoException);
    throw new ScanError(`failed to read ${what} payload file ${path}: open ${path}: ${reason}`, { cause: error });
  }
  const read = readRequest(mode, written);
  if (!read.ok) throw new ScanError(read.error);
  return read.request;
}
