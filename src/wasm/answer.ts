/** The JSON answers of Kubewarden's guest protocols, which Extism guests share: spec kubewarden.md 4.1, 6.3. */
import { JsonError, parseJson, stringifyJson, UNIQUE_KEYS } from "../data/json.js";
import { diff, PatchTooLong } from "../data/json-patch.js";
import { isJsonObject } from "../data/same-value.js";
import type { Allow, Deny, Findings, Mutation, Outcome } from "../policy/outcome.js";
import { WasmLoadError } from "./errors.js";
import { fail } from "./failures.js";
import { mostPatchBytes } from "./limits.js";
import type { Question, ReadAnswer } from "./question.js";
import { GuestLimitError } from "./run/guest/guest.js";

/**
 * The mutation of a changed object; undefined when it equals the request's. The request is parsed from the guest's payload, and only here: most
 * policies change nothing.
 * @throws GuestLimitError when the patch is too long
 */
function mutationTo(mutated: unknown, question: Question): Mutation | undefined {
  const before = originalOf(question);
  if (before === undefined) return { kind: "of-nothing" };
  const most = mostPatchBytes(question.input.length);
  try {
    const operations = diff(before, mutated, most);
    if (operations.length === 0) return undefined;
    const bytes = Buffer.from(stringifyJson(operations));
    if (bytes.length <= most) return { kind: "patch", patch: bytes.toString("base64") };
  } catch (error) {
    if (!(error instanceof PatchTooLong)) throw error;
  }
  throw new GuestLimitError(`the patch that makes the policy's object of the request's is longer than ${most} bytes`);
}

/** The object that the policy may change; undefined without one, as with DELETE. */
function originalOf({ review, input }: Question): unknown {
  const text = Buffer.from(input.buffer, input.byteOffset, input.length).toString();
  const { request } = parseJson(text) as { readonly request: unknown };
  return review === "raw" ? request : ((request as { readonly object?: unknown }).object ?? undefined);
}

/** Error of an answer that breaks the protocol; the message says where. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";
}

/** Highest value of an answer's `code`: an unsigned 16-bit number. */
const HIGHEST_CODE = 65_535;

/** Answers of Extism and waPC policies to reviews. */
export const readCallAnswer: ReadAnswer = (text, question) =>
  validationOutcome(text, question, "invalid response from policy");

/** Answers of WASI policies to reviews. */
export const readWasiAnswer: ReadAnswer = (text, question) =>
  validationOutcome(text, question, "Cannot deserialize policy validation response");

/** The answer of Kubewarden's SDKs that accepts without a message: most answers. Parsing it takes as long as a small guest. */
const ACCEPTANCE = '{"accepted":true}';
const ACCEPTED: Outcome = { verdict: "allow" };

function validationOutcome(text: string, question: Question, unreadable: string): Outcome {
  if (text === ACCEPTANCE) return ACCEPTED;
  try {
    return readValidation(text, question);
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    return fail("protocol", `internal server error: ${unreadable}: ${error.message}`);
  }
}

/**
 * Reads a ValidationResponse. Unknown fields are ignored, null counts as absent, anything else that does not fit is an error.
 * @throws AnswerError
 * @throws GuestLimitError
 */
export function readValidation(text: string, question: Question): Outcome {
  const fields = readObject(text);
  if (fields.accepted === undefined) throw new AnswerError(`missing field \`accepted\` at ${endOf(text)}`);
  if (typeof fields.accepted !== "boolean") throw invalid("accepted", "a boolean", fields.accepted);
  const mutated = fields.mutated_object ?? undefined;
  const mutation = mutated === undefined ? undefined : mutationTo(mutated, question);
  // Without an object there is nothing to change. The denial keeps the attempt: the verdict has a message for it, and in a group it is an error.
  if (mutation?.kind === "of-nothing") return { verdict: "deny", mutation };
  const shared = {
    ...optional("message", textOf(fields, "message")),
    ...optional("code", code(fields.code)),
    ...optional("mutation", mutation),
    ...findings(fields),
  };
  return fields.accepted
    ? ({ verdict: "allow", ...shared } satisfies Allow)
    : ({ verdict: "deny", ...shared } satisfies Deny);
}

/**
 * Reads a SettingsValidationResponse.
 * @returns the reason why the settings are refused, or undefined when they are valid
 * @throws AnswerError
 */
export function readSettingsVerdict(text: string): string | undefined {
  const fields = readObject(text);
  if (fields.valid === undefined) throw new AnswerError(`missing field \`valid\` at ${endOf(text)}`);
  if (typeof fields.valid !== "boolean") throw invalid("valid", "a boolean", fields.valid);
  return fields.valid ? undefined : (textOf(fields, "message") ?? "no message");
}

/**
 * Turns a verdict about settings into the error of the load, spec kubewarden.md 1.4.
 * @param verdict the reason why they are refused, or undefined; may throw {@link AnswerError}
 * @param unreadable text before the reason why an answer could not be read
 */
export function settingsRefused(verdict: () => string | undefined, unreadable: string): WasmLoadError | undefined {
  let problem: string | undefined;
  try {
    problem = verdict();
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    problem = `${unreadable}${error.message}`;
  }
  return problem === undefined
    ? undefined
    : new WasmLoadError("wasm-settings", `Policy settings are invalid: ${problem}`);
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJson(text, { unique: UNIQUE_KEYS });
  } catch (error) {
    if (error instanceof JsonError) throw new AnswerError(error.message, { cause: error });
    throw error;
  }
  if (!isJsonObject(value)) throw new AnswerError(`invalid type: expected an object at ${endOf(text)}`);
  return value;
}

function findings(fields: Readonly<Record<string, unknown>>): Findings {
  const warnings = fields.warnings ?? undefined;
  const annotations = fields.audit_annotations ?? undefined;
  return {
    ...optional("warnings", warnings === undefined ? undefined : strings(warnings)),
    ...optional("auditAnnotations", annotations === undefined ? undefined : stringMap(annotations)),
  };
}

function textOf(fields: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = fields[name] ?? undefined;
  if (value !== undefined && typeof value !== "string") throw invalid(name, "a string", value);
  return value;
}

function code(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > HIGHEST_CODE)
    throw invalid("code", "u16", value);
  return value;
}

function strings(value: unknown): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string"))
    throw invalid("warnings", "a list of strings", value);
  return value;
}

function stringMap(value: unknown): Record<string, string> {
  if (!isJsonObject(value) || !Object.values(value).every((item) => typeof item === "string"))
    throw invalid("audit_annotations", "a map of strings", value);
  return value as Record<string, string>;
}

function invalid(name: string, expected: string, value: unknown): AnswerError {
  const kind =
    value === null
      ? "null"
      : Array.isArray(value)
        ? "a list"
        : `a ${value instanceof Number ? "number" : typeof value}`;
  return new AnswerError(`invalid type for \`${name}\`: ${kind}, expected ${expected}`);
}

function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: V });
}

/** The place of the document's end, in the words of a parser that has read it all. */
function endOf(text: string): string {
  const lines = text.trimEnd().split("\n");
  return `line ${lines.length} column ${(lines.at(-1) ?? "").length}`;
}
