/** Codes of what kinds of policies say without one. */
import { addressHint, type ConfigEntry, moduleKey, type PolicyEntry, type Problem } from "../config/index.js";
import { wholeText } from "../data/public-text.js";
import { FetchError } from "../fetch/index.js";
import { LoadError } from "../kinds/load-error.js";
import { WasmLoadError } from "../wasm/index.js";

/** A mistake that is thrown as something else than a LoadError, at the key that says what the entry is. */
export function unforeseen(entry: PolicyEntry, cause: unknown): Problem {
  const place = entry.kind === "module" ? [moduleKey(entry)] : [];
  return coded(entry.origin.error(place, wholeText(cause)), cause, entry);
}

/**
 * The problem with a code, so that everything that is said about a file has a page that explains it.
 * @param cause what was thrown, a LoadError or another
 * @param entry what could not be loaded
 */
export function coded(problem: Problem, cause?: unknown, entry?: ConfigEntry): Problem {
  if (problem.code !== undefined) return problem;
  const code = problem.severity === "warning" ? "POLICY_DOUBT" : codeOf(cause);
  const hint = code === "MODULE_INVALID" && entry?.kind === "module" ? addressHint(entry.module) : undefined;
  return { ...problem, code, ...(hint !== undefined && { hint }) };
}

function codeOf(cause: unknown): NonNullable<Problem["code"]> {
  const reason = cause instanceof LoadError ? cause.cause : cause;
  if (reason instanceof WasmLoadError) return reason.code === "wasm-settings" ? "SETTINGS_INVALID" : "MODULE_INVALID";
  if (reason instanceof FetchError) return reason.stage === "download" ? "MODULE_FETCH" : "MODULE_VERIFICATION";
  return "POLICY_INVALID";
}
