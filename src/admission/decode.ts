/**
 * The body of `/validate`, `/audit` and `/validate_raw`: JSON text to a question for policies, or the error that answers it
 * (spec kubewarden.md 3.2, 3.4, 3.5).
 */
import { JsonError, type JsonLimits, readJson, stringifyJson } from "../data/json.js";
import { hasMoreValues } from "../data/json-values.js";
import { isJsonObject } from "../data/same-value.js";
import type { AdmissionRequest } from "./admission-request.js";
import { formatPath, positionOf } from "./json-position.js";
import { readAdmissionRequest } from "./read-admission-request.js";
import { notJson, type RequestProblem, tooManyValues, wrongShape } from "./request-problem.js";
import { fieldNames, missing, refuseMisspelt, required, ShapeError, wrongType } from "./shape.js";

/** An AdmissionReview's request. The shape of the policy room's `AdmissionQuestion`. */
export interface DecodedAdmission {
  readonly kind: "admission";
  readonly request: AdmissionRequest;
  /** The request as guests get it: known fields, absent ones left out. Made at the first call and kept. */
  readonly requestText: () => string;
}

/** A raw review's request. The shape of the policy room's `RawQuestion`. */
export interface DecodedRaw {
  readonly kind: "raw";
  readonly payload: unknown;
  readonly requestText: () => string;
}

const REVIEW = fieldNames("request");

/**
 * Which of two equal fields is meant, one parser takes for granted and another the other way round: none is believed. Inside of objects the last
 * one counts, as for the API server, whose own reviews have none.
 */
const REVIEW_KEYS: JsonLimits = {
  unique: {
    // The review, the request, its members such as `userInfo`, and their members such as `extra`.
    depth: 4,
    except: ([first, second]) => first === "request" && OBJECTS.has(second),
  },
};
const OBJECTS: ReadonlySet<unknown> = new Set(["object", "oldObject", "options"]);

/** The same of raw reviews: the review and the members of its request. */
const RAW_KEYS: JsonLimits = { unique: { depth: 2 } };

/**
 * Reads an AdmissionReview. `kind` and `apiVersion` of the review are not looked at; the audit client leaves them out.
 * @param maxValues most JSON values that the text may hold
 */
export function decodeAdmissionReview(
  text: string,
  maxValues = Number.POSITIVE_INFINITY,
): DecodedAdmission | RequestProblem {
  return decode(text, maxValues, REVIEW_KEYS, (review, plain) => {
    if (!isJsonObject(review)) throw wrongType(review, "struct AdmissionReviewRequest");
    refuseMisspelt(review, REVIEW);
    return admissionQuestion(required(review, "request", readAdmissionRequest), plain);
  });
}

/** The versions of reviews. Their fields are the same. */
export type ReviewVersion = "admission.k8s.io/v1" | "admission.k8s.io/v1beta1";

/** An AdmissionReview's request, for whoever answers in its version. */
export interface VersionedReview {
  readonly kind: "review";
  readonly request: AdmissionRequest;
  /** Of a review that names none, or one that there is not: v1. */
  readonly apiVersion: ReviewVersion;
}

/** Reads an AdmissionReview with its version. `maxValues` as for {@link decodeAdmissionReview}. */
export function decodeVersionedReview(text: string, maxValues: number): VersionedReview | RequestProblem {
  return decode(text, maxValues, REVIEW_KEYS, (review) => {
    if (!isJsonObject(review)) throw wrongType(review, "struct AdmissionReviewRequest");
    refuseMisspelt(review, REVIEW);
    const beta = review.apiVersion === "admission.k8s.io/v1beta1";
    const request = required(review, "request", readAdmissionRequest);
    return { kind: "review", request, apiVersion: beta ? "admission.k8s.io/v1beta1" : "admission.k8s.io/v1" };
  });
}

/** Reads `{"request": <any JSON>}`. `maxValues` as for {@link decodeAdmissionReview}. */
export function decodeRawReview(text: string, maxValues = Number.POSITIVE_INFINITY): DecodedRaw | RequestProblem {
  return decode(text, maxValues, RAW_KEYS, (review, plain) => {
    if (!isJsonObject(review)) throw wrongType(review, "struct RawReviewRequest");
    refuseMisspelt(review, REVIEW);
    if (!Object.hasOwn(review, "request")) throw missing("request");
    return rawQuestion(review.request, plain);
  });
}

/**
 * A question about an AdmissionRequest that has been read already.
 * @param plain true when it holds no bigint and no boxed double
 */
export function admissionQuestion(request: AdmissionRequest, plain = false): DecodedAdmission {
  return { kind: "admission", request, requestText: printedOnce(request, plain) };
}

/** A question about any JSON value. `plain` as for {@link admissionQuestion}. */
export function rawQuestion(payload: unknown, plain = false): DecodedRaw {
  return { kind: "raw", payload, requestText: printedOnce(payload, plain) };
}

function printedOnce(value: unknown, plain: boolean): () => string {
  let text: string | undefined;
  return () => {
    text ??= stringifyJson(value, plain);
    return text;
  };
}

function decode<T>(
  text: string,
  maxValues: number,
  limits: JsonLimits,
  read: (value: unknown, plain: boolean) => T,
): T | RequestProblem {
  if (hasMoreValues(text, maxValues)) return tooManyValues(maxValues);
  try {
    const { value, plain } = readJson(text, limits);
    return read(value, plain);
  } catch (error) {
    if (error instanceof JsonError) return notJson(`${prefix(formatPath(error.path))}${error.message}`);
    if (!(error instanceof ShapeError)) throw error;
    const path = prefix(formatPath(error.path));
    return wrongShape(`${path}${error.reason} at ${positionOf(text, error.path)}`);
  }
}

function prefix(path: string): string {
  return path === "" ? "" : `${path}: `;
}
