import { parseJson, stringifyJson, UNIQUE_KEYS } from "../../data/json.js";
import { isJsonObject } from "../../data/same-value.js";
import type { Deny, Outcome } from "../../policy/outcome.js";
import type { PreparedSettings, Protocol } from "../guest-protocol.js";
import { regoLoadCall, regoLoadProblem, regoOutcome } from "../rego.js";
import { byPlural } from "../rego-data.js";

/** OPA policies: settings are data, the answer is an AdmissionResponse, spec kubewarden.md 6.5. */
export const opa: Protocol = {
  dataDocument: {
    plurals: true,
    text: (settings, resources) =>
      resources.length === 0 ? settings.text : withKubernetes(settings, byPlural(resources)),
  },
  loadCall: regoLoadCall,
  loadProblem: regoLoadProblem,
  validateCall: (review, _settings, data) => ({
    operation: "validate",
    input: `{"request":${review.requestText()}}`,
    data,
  }),
  outcome: (result) => regoOutcome(result, "cannot interpret OPA policy result", admissionResponse),
};

/** The settings with the key `kubernetes`, which overrides a setting of that name. */
function withKubernetes({ value }: PreparedSettings, kubernetes: unknown): string {
  return stringifyJson({ ...(value as Record<string, unknown>), kubernetes });
}

/** Reads `[0].result.response`. */
function admissionResponse(result: unknown): Outcome {
  const response = record(record(result).response);
  const { allowed, uid } = response;
  if (typeof allowed !== "boolean" || typeof uid !== "string") throw new Error("no response");
  const shared = {
    ...(Array.isArray(response.warnings) && { warnings: response.warnings.map(String) }),
    ...(isJsonObject(response.auditAnnotations) && { auditAnnotations: texts(response.auditAnnotations) }),
    ...patchOf(response),
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

/** A base64 JSON Patch that the policy made itself. */
function patchOf(response: Readonly<Record<string, unknown>>): { mutation?: { kind: "patch"; patch: string } } {
  const { patch } = response;
  if (patch === undefined || patch === null) return {};
  if (typeof patch !== "string") throw new Error("the patch is no text");
  // Read here, so that a patch that is none is the policy's failure and not the client's surprise.
  const operations = parseJson(Buffer.from(patch, "base64").toString("utf8"), { unique: UNIQUE_KEYS });
  if (!Array.isArray(operations)) throw new Error("the patch is no list");
  return { mutation: { kind: "patch", patch } };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) throw new Error("not an object");
  return value;
}

function texts(map: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, String(value)]));
}
