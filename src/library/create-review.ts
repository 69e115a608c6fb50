/** Questions for policies, made of objects, whole AdmissionReviews, or any JSON. */
import type { AdmissionRequest } from "../admission/admission-request.js";
import { buildRequest, readRequest } from "../admission/build-request.js";
import { admissionQuestion, rawQuestion } from "../admission/decode.js";
import { UsageError } from "../data/command-io.js";
import { parseJson, stringifyJson } from "../data/json.js";
import type { Review } from "../policy/index.js";
import { checkOptions, JSON_VALUE, OBJECT, OptionError, SWITCH, TEXT } from "./options.js";

/** About a Kubernetes object: the request is built around it. */
export interface ObjectReview {
  /** The object; with DELETE the one that is to go. Plain JSON values; integers beyond 2^53 as bigint. */
  readonly object: unknown;
  /** Its former state: makes the operation UPDATE. */
  readonly oldObject?: unknown;
  readonly operation?: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  /** Default: the object's. */
  readonly namespace?: string;
  /** Who asks. Default: an administrator. */
  readonly userInfo?: AdmissionRequest["userInfo"];
  /** Default false. */
  readonly dryRun?: boolean;
}

/** A whole AdmissionReview, or what is in its `request`. */
export interface RequestReview {
  readonly request: unknown;
}

/** Any JSON, as `/validate_raw` takes it as `request`. */
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
 * A question for policies. It may be put to as many as one likes.
 * @throws OptionError when it says not exactly one of `object`, `request` and `raw`, or what it says is none
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
    // Who asks has a shape of its own, and is read as the server reads it.
    return userInfo === undefined ? admissionQuestion(request) : readRequest(request, "userInfo");
  } catch (error) {
    if (error instanceof UsageError)
      throw new OptionError(`createReview: ${error.message.replace("use --raw for", "use raw for")}`, { cause: error });
    throw error;
  }
}

/** As JSON has it: what the program changes later changes no question, and what is no JSON is found here. */
function copyOf(value: object): unknown {
  try {
    return parseJson(stringifyJson(value));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OptionError(`createReview: that can't be written as JSON: ${reason}`, { cause: error });
  }
}
