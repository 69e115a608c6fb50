import { parseJson, UNIQUE_KEYS } from "../../../data/json.js";
import { isJsonObject } from "../../../data/same-value.js";
import type { Deny, Outcome } from "../../../policy/outcome.js";
import { mostPatchBytes } from "../../limits.js";
import type { Question, ReadAnswer } from "../../question.js";
import { readRegoResult } from "../../rego-result.js";
import { GuestLimitError } from "../../run/guest/guest.js";

/** Answers of OPA policies: an AdmissionResponse, `[0].result.response` (spec kubewarden.md 6.5). */
export const readOpaAnswer: ReadAnswer = (text, question) =>
  readRegoResult(text, "cannot interpret OPA policy result", (result) => admissionResponse(result, question));

function admissionResponse(result: unknown, question: Question): Outcome {
  const response = record(record(result).response);
  const { allowed, uid } = response;
  if (typeof allowed !== "boolean" || typeof uid !== "string") throw new Error("no response");
  const shared = {
    ...(Array.isArray(response.warnings) && { warnings: response.warnings.map(String) }),
    ...(isJsonObject(response.auditAnnotations) && { auditAnnotations: texts(response.auditAnnotations) }),
    ...patchOf(response, question),
  };
  const status = isJsonObject(response.status) ? response.status : undefined;
  const ownStatus = {
    ...(typeof status?.message === "string" && { message: status.message }),
    ...(typeof status?.code === "number" && { code: status.code }),
  };
  if (allowed) return { verdict: "allow", ...ownStatus, ...shared };
  return {
    verdict: "deny",
    ...ownStatus,
    ...(typeof status?.reason === "string" && { reason: status.reason }),
    ...(status && { status }),
    ...shared,
  } satisfies Deny;
}

/** A JSON Patch in base64 from the policy. */
function patchOf(
  response: Readonly<Record<string, unknown>>,
  { input }: Question,
): { mutation?: { kind: "patch"; patch: string } } {
  const { patch } = response;
  if (patch === undefined || patch === null) return {};
  if (typeof patch !== "string") throw new Error("the patch is not a text");
  const most = mostPatchBytes(input.length);
  if (Buffer.byteLength(patch, "base64") > most)
    throw new GuestLimitError(`the policy's patch is longer than ${most} bytes`);
  // Parsed here, so that an invalid patch is the policy's failure, not the client's.
  const operations = parseJson(Buffer.from(patch, "base64").toString("utf8"), { unique: UNIQUE_KEYS });
  if (!Array.isArray(operations)) throw new Error("the patch is not a list");
  return { mutation: { kind: "patch", patch } };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) throw new Error("not an object");
  return value;
}

function texts(map: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, String(value)]));
}
