/**
 * The body of `/validate`, `/audit` and `/validate_raw`: JSON text to a question for policies, or the error that answers it
 * (spec kubewarden.md 3.2, 3.4, 3.5).
 */
import { JsonError, type JsonLimits, readJson } from "../data/json.js";
import { hasMoreValues } from "../data/json-values.js";
import { printedOnce } from "../data/printed-once.js";
import { isJsonObject } from "../data/same-value.js";
import type { AdmissionRequest } from "./admission-request.js";
import { bodyText } from "./body-text.js";
import { formatPath, positionOf } from "./json-position.js";
import { readAdmissionRequest } from "./read-admission-request.js";
import { admissionBytes, RAW_CUTS, REVIEW_CUTS, type ReadBody, rawBytes } from "./request-bytes.js";
import { notJson, type RequestProblem, tooManyValues, wrongShape } from "./request-problem.js";
import { fieldNames, missing, refuseMisspelt, required, ShapeError, wrongType } from "./shape.js";

/** An AdmissionReview's request. The shape of the policy room's `AdmissionQuestion`. */
export interface DecodedAdmission {
  readonly kind: "admission";
  readonly request: AdmissionRequest;
  /** The request as guests get it, UTF-8: known fields, absent ones left out. Made at the first call and kept. */
  readonly requestBytes: () => Uint8Array;
}

/** A raw review's request. The shape of the policy room's `RawQuestion`. */
export interface DecodedRaw {
  readonly kind: "raw";
  readonly payload: unknown;
  readonly requestBytes: () => Uint8Array;
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
const OBJECTS: ReadonlySet<unknown> = new Set(REVIEW_CUTS.inner);

/** For whoever asks guests. */
const REVIEW_FOR_GUESTS: JsonLimits = { ...REVIEW_KEYS, cuts: REVIEW_CUTS };

/** The same of raw reviews: the review and the members of its request. */
const RAW_FOR_GUESTS: JsonLimits = { unique: { depth: 2 }, cuts: RAW_CUTS };

/**
 * Reads an AdmissionReview. `kind` and `apiVersion` of the review are not looked at; the audit client leaves them out.
 * @param body as it was sent; it must not change afterwards
 * @param maxValues most JSON values that the text may hold
 */
export function decodeAdmissionReview(
  body: Uint8Array,
  maxValues = Number.POSITIVE_INFINITY,
): DecodedAdmission | RequestProblem {
  return decode(body, maxValues, REVIEW_FOR_GUESTS, (review, read) => {
    const request = requestOf(review);
    return { kind: "admission", request, requestBytes: admissionBytes(request, read) };
  });
}

function requestOf(review: unknown): AdmissionRequest {
  if (!isJsonObject(review)) throw wrongType(review, "struct AdmissionReviewRequest");
  refuseMisspelt(review, REVIEW);
  return required(review, "request", readAdmissionRequest);
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
export function decodeVersionedReview(body: Uint8Array, maxValues: number): VersionedReview | RequestProblem {
  return decode(body, maxValues, REVIEW_KEYS, (review) => {
    const request = requestOf(review);
    const beta = isJsonObject(review) && review.apiVersion === "admission.k8s.io/v1beta1";
    return { kind: "review", request, apiVersion: beta ? "admission.k8s.io/v1beta1" : "admission.k8s.io/v1" };
  });
}

/** Reads `{"request": <any JSON>}`. `maxValues` as for {@link decodeAdmissionReview}. */
export function decodeRawReview(body: Uint8Array, maxValues = Number.POSITIVE_INFINITY): DecodedRaw | RequestProblem {
  return decode(body, maxValues, RAW_FOR_GUESTS, (review, read) => {
    if (!isJsonObject(review)) throw wrongType(review, "struct RawReviewRequest");
    refuseMisspelt(review, REVIEW);
    if (!Object.hasOwn(review, "request")) throw missing("request");
    const payload = review.request;
    return { kind: "raw", payload, requestBytes: rawBytes(payload, read) };
  });
}

/**
 * A question about an AdmissionRequest that has been read already.
 * @param plain true when it holds no bigint and no boxed double
 */
export function admissionQuestion(request: AdmissionRequest, plain = false): DecodedAdmission {
  return { kind: "admission", request, requestBytes: printedOnce(request, plain) };
}

/** A question about any JSON value. `plain` as for {@link admissionQuestion}. */
export function rawQuestion(payload: unknown, plain = false): DecodedRaw {
  return { kind: "raw", payload, requestBytes: printedOnce(payload, plain) };
}

function decode<T>(
  bytes: Uint8Array,
  maxValues: number,
  limits: JsonLimits,
  read: (value: unknown, body: ReadBody) => T,
): T | RequestProblem {
  const text = bodyText(bytes);
  if (typeof text !== "string") return text;
  if (hasMoreValues(text, maxValues)) return tooManyValues(maxValues);
  try {
    const document = readJson(text, limits, bytes);
    return read(document.value, { bytes, document });
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
