/** Makes questions for policies from objects, whole AdmissionReviews, or any JSON. */
import type { AdmissionRequest } from "../admission/admission-request.js";
import { buildRequest, readRequest } from "../admission/build-request.js";
import { admissionQuestion, rawQuestion } from "../admission/decode.js";
import { UsageError } from "../data/command-io.js";
import { parseJson, stringifyJson } from "../data/json.js";
import type { Review } from "../policy/index.js";
import { checkOptions, JSON_VALUE, OBJECT, OptionError, SWITCH, TEXT } from "./options.js";

/** A question about a Kubernetes object: the request is built around it. */
export interface ObjectReview {
  /** The object; with DELETE the one to be deleted. Plain JSON values; integers beyond 2^53 as bigint. */
  readonly object: unknown;
  /** Its former state; with it the operation is UPDATE. */
  readonly oldObject?: unknown;
  readonly operation?: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** Default: the object's, or `default` for a namespaced kind; `""`: none. */
  readonly namespace?: string;
  /** The requester. Default: an administrator. */
  readonly userInfo?: AdmissionRequest["userInfo"];
  /** Default false. */
  readonly dryRun?: boolean;
}

/** A whole AdmissionReview, or its `request`. */
export interface RequestReview {
  readonly request: unknown;
}

/** Any JSON, as in `request` of `/validate_raw`. */
export interface RawReview {
  readonly raw: unknown;
}

const SHAPES = {
  object: OBJECT,
  oldObject: OBJECT,
  operation: TEXT,
  namespace: TEXT,
  userInfo: OBJECT,
  dryRun: SWITCH,
  request: OBJECT,
  raw: JSON_VALUE,
} as const;

/**
 * Creates a question for any number of policies.
 * @throws OptionError when it does not have exactly one of `object`, `request` and `raw`, or when that one is invalid
 */
export function createReview(about: ObjectReview | RequestReview | RawReview): Review {
  checkOptions("createReview", about, SHAPES);
  const written: Readonly<Record<string, unknown>> = { ...about };
  const given = ["object", "request", "raw"].filter((key) => written[key] !== undefined);
  if (given.length !== 1) throw new OptionError("createReview: give exactly one of object, request and raw");
  try {
    const copy = copyOf(about) as typeof about;
    if ("raw" in copy) return rawQuestion(copy.raw ?? null);
    if ("request" in copy) return readRequest(copy.request, "request");
    const { userInfo, dryRun, ...parts } = copy;
    const built = buildRequest(parts);
    const request = { ...built, ...(userInfo && { userInfo }), ...(dryRun !== undefined && { dryRun }) };
    // The requester has a shape of its own, and is parsed as in the server.
    return userInfo === undefined ? admissionQuestion(request) : readRequest(request, "userInfo");
  } catch (error) {
    if (error instanceof UsageError)
      throw new OptionError(`createReview: ${error.message.replace("use --raw for", "use raw for")}`, { cause: error });
    throw error;
  }
}

/** Copies a value as JSON has it: later changes by the program don't change the question, and a value that is not JSON is found here. */
function copyOf(value: object): unknown {
  try {
    return parseJson(stringifyJson(value));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OptionError(`createReview: that can't be written as JSON: ${reason}`, { cause: error });
  }
}
