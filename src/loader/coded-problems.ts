/** Gives codes to problems that kinds of policies report without one. */
import { addressHint, type ConfigEntry, moduleKey, type PolicyEntry, type Problem } from "../config/index.js";
import { wholeText } from "../data/public-text.js";
import { FetchError } from "../fetch/index.js";
import { LoadError } from "../kinds/load-error.js";
import { WasmLoadError } from "../wasm/index.js";

/** A problem for an error that is not a LoadError, at the key of the entry's kind. */
export function unforeseen(entry: PolicyEntry, cause: unknown): Problem {
  const place = entry.kind === "module" ? [moduleKey(entry)] : [];
  return coded(entry.origin.error(place, wholeText(cause)), cause, entry);
}

/**
 * The problem with a code, so that every message about a file has a page that explains it.
 * @param cause the error, a LoadError or another
 * @param entry the entry that could not be loaded
 */
export function coded(problem: Problem, cause?: unknown, entry?: ConfigEntry): Problem {
  if (problem.code !== undefined) return problem;
  const code = problem.severity !== "error" ? "POLICY_DOUBT" : codeOf(cause);
  const hint = code === "MODULE_INVALID" && entry?.kind === "module" ? addressHint(entry.module) : undefined;
  return { ...problem, code, ...(hint !== undefined && { hint }) };
}

function codeOf(cause: unknown): NonNullable<Problem["code"]> {
  const reason = cause instanceof LoadError ? cause.cause : cause;
  if (reason instanceof WasmLoadError) return reason.code === "wasm-settings" ? "SETTINGS_INVALID" : "MODULE_INVALID";
  if (reason instanceof FetchError) return reason.stage === "download" ? "MODULE_FETCH" : "MODULE_VERIFICATION";
  return "POLICY_INVALID";
}
