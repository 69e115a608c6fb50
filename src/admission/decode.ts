/**
 * Decodes the body of `/validate`, `/audit` and `/validate_raw`: JSON text to a question for policies, or the error that answers it
 * (spec kubewarden.md 3.2, 3.4, 3.5).
 */

import { isAscii, isUtf8 } from "node:buffer";
import {
  JsonError,
  type JsonLimits,
  type JsonScan,
  readJson,
  readJsonInSteps,
  scanJson,
  type WantedCuts,
} from "../data/json.js";
import { type JsonParts, readJsonParts } from "../data/json-parts.js";
import { mayHaveMoreValues, tooManyIn } from "../data/json-values.js";
import { printedOnce } from "../data/printed-once.js";
import { makeLater } from "../data/read-later.js";
import { isJsonObject } from "../data/same-value.js";
import type { AdmissionRequest } from "./admission-request.js";
import { formatPath, positionOf } from "./json-position.js";
import { type ReadLater, readAdmissionRequest } from "./read-admission-request.js";
import { admissionText, once, RAW_CUTS, REVIEW_CUTS, type ReadBody, rawBytes } from "./request-bytes.js";
import { notJson, type RequestProblem, tooMany, wrongShape } from "./request-problem.js";
import { fieldNames, missing, refuseMisspelt, required, ShapeError, wrongType } from "./shape.js";

/** The same bytes as a Buffer. */
const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A body as text, or the problem with one that is not UTF-8. */
function bodyText(bytes: Uint8Array): string | RequestProblem {
  const buffer = asBuffer(bytes);
  // One byte a character is cheaper to make, to keep and to parse.
  if (isAscii(buffer)) return buffer.toString("latin1");
  if (isUtf8(buffer)) return buffer.toString("utf8");
  const before = buffer.toString("utf8").split("\ufffd", 1)[0] ?? "";
  const line = before.split("\n").length;
  const column = Buffer.byteLength(before.slice(before.lastIndexOf("\n") + 1)) + 1;
  return notJson(`invalid unicode code point at line ${line} column ${column}`);
}

/** An AdmissionReview's request. The shape of the policy room's `AdmissionQuestion`. */
export interface DecodedAdmission {
  readonly kind: "admission";
  readonly request: AdmissionRequest;
  /** The request in the form for guests, UTF-8: known fields, absent ones left out. Made at the first call and kept. */
  readonly requestBytes: () => Uint8Array;
  /** The same in pieces. */
  readonly requestPieces?: () => readonly Uint8Array[];
  /** True when the texts of its objects begin with the apiVersion and kind of `request.kind`; absent, or false: that is not known. */
  readonly saysKind?: () => boolean;
}

/** A raw review's request. The shape of the policy room's `RawQuestion`. */
export interface DecodedRaw {
  readonly kind: "raw";
  readonly payload: unknown;
  readonly requestBytes: () => Uint8Array;
}

const REVIEW = { ...fieldNames("request"), inOrder: ["kind", "apiVersion", "request"] };

/**
 * Largest share of all values in one object: a wide object is what takes the engine longest, for each key and for each reader. Objects in a cluster
 * have 1.5 MiB: 30 bytes for each of so many members.
 */
const VALUES_FOR_A_MEMBER = 4;

/**
 * Repeated fields of a review are refused, because parsers differ in which one they use. Inside of objects the last
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

/** The same for questions to guests. */
const REVIEW_FOR_GUESTS: JsonLimits = { ...REVIEW_KEYS, cuts: REVIEW_CUTS };

/** The same for raw reviews: the review and the members of its request. */
const RAW_FOR_GUESTS: JsonLimits = { unique: { depth: 2 }, cuts: RAW_CUTS };

/** The members that make up most of a body. Policies in WebAssembly get their text, and they are parsed when others read them. */
const LATER: ReadonlySet<string> = new Set(["object", "oldObject"]);
const RAW_LATER: ReadonlySet<string> = new Set([RAW_CUTS.member]);

/**
 * Reads an AdmissionReview. `kind` and `apiVersion` of the review are ignored, since the audit client leaves them out. The request's objects are read when they
 * are first used, where that can't fail.
 * @param body as it was sent; it must not change afterwards
 * @param maxValues most JSON values of the text
 */
export const decodeAdmissionReview = (
  body: Uint8Array,
  maxValues = Number.POSITIVE_INFINITY,
): DecodedAdmission | RequestProblem => decodeOnce(body, maxValues, ADMISSION);

/** {@link decodeAdmissionReview} of a large body, in steps of a few milliseconds. @param guest whether a guest is asked, which gets the objects' text */
export const admissionReviewInSteps = (body: Uint8Array, maxValues: number, guest: boolean): Steps<DecodedAdmission> =>
  decodeInSteps(body, maxValues, ADMISSION, guest);

const ADMISSION: Reading<DecodedAdmission> = {
  limits: REVIEW_FOR_GUESTS,
  cuts: REVIEW_CUTS,
  later: LATER,
  read: (review, body, parts) => {
    const request = requestOf(review, parts && laterOf(parts));
    const { requestPieces, requestBytes } = admissionText(request, body);
    // Objects that are parsed already need no such check of their text.
    const saysKind = parts && once(() => beginAs(request.kind, body.bytes, parts.cuts));
    return { kind: "admission", request, requestPieces, requestBytes, ...(saysKind && { saysKind }) };
  },
};

function requestOf(review: unknown, later?: ReadLater): AdmissionRequest {
  if (!isJsonObject(review)) throw wrongType(review, "struct AdmissionReviewRequest");
  refuseMisspelt(review, REVIEW);
  return required("request", review.request, (value) => readAdmissionRequest(value, later));
}

/**
 * Whether the objects' texts begin with their kind and apiVersion as the API server writes them, in either order; otherwise they have to be parsed. A
 * body that is read in parts has no repeated keys.
 */
function beginAs(
  { group, version, kind }: AdmissionRequest["kind"],
  bytes: Uint8Array,
  cuts: JsonParts["cuts"],
): boolean {
  const apiVersion = group === "" ? version : `${group}/${version}`;
  // Names with other characters may be written in several ways.
  if (!PLAIN_NAMES.test(apiVersion) || !PLAIN_NAMES.test(kind)) return false;
  for (const { name, start } of cuts) {
    if (!LATER.has(name)) continue;
    const beginning =
      bytes[start + 2] === FIRST_OF_KIND
        ? `{"kind":"${kind}","apiVersion":"${apiVersion}",`
        : `{"apiVersion":"${apiVersion}","kind":"${kind}",`;
    for (let i = 0; i < beginning.length; i++) if (bytes[start + i] !== beginning.charCodeAt(i)) return false;
  }
  return true;
}

const PLAIN_NAMES = /^[\w./-]+$/;
/** The letter k, behind a brace and a quote. */
const FIRST_OF_KIND = 0x6b;

/** How objects are read that were left out. */
function laterOf({ cuts, read }: JsonParts): ReadLater {
  return (name) => {
    const cut = cuts.find((each) => each.name === name);
    return cut && (() => read(cut));
  };
}

/** The versions of reviews. Their fields are the same. */
export type ReviewVersion = "admission.k8s.io/v1" | "admission.k8s.io/v1beta1";

/** An AdmissionReview's request, with the version for its answer. */
export interface VersionedReview {
  readonly kind: "review";
  readonly request: AdmissionRequest;
  /** The version; v1 for a review that names none, or an unknown one. */
  readonly apiVersion: ReviewVersion;
}

/** Reads an AdmissionReview with its version. `maxValues` as for {@link decodeAdmissionReview}. */
export function decodeVersionedReview(body: Uint8Array, maxValues: number): VersionedReview | RequestProblem {
  return decode(body, maxValues, VERSIONED);
}

const VERSIONED: Pick<Reading<VersionedReview>, "limits" | "read"> = {
  limits: REVIEW_KEYS,
  read: (review) => {
    const request = requestOf(review);
    const beta = isJsonObject(review) && review.apiVersion === "admission.k8s.io/v1beta1";
    return { kind: "review", request, apiVersion: beta ? "admission.k8s.io/v1beta1" : "admission.k8s.io/v1" };
  },
};

/** Reads `{"request": <any JSON>}`. `maxValues` as for {@link decodeAdmissionReview}, and the payload is read as the objects there. */
export const decodeRawReview = (body: Uint8Array, maxValues = Number.POSITIVE_INFINITY): DecodedRaw | RequestProblem =>
  decodeOnce(body, maxValues, RAW);

/** {@link decodeRawReview} of a large body; see {@link admissionReviewInSteps}. */
export const rawReviewInSteps = (body: Uint8Array, maxValues: number, guest: boolean): Steps<DecodedRaw> =>
  decodeInSteps(body, maxValues, RAW, guest);

const RAW: Reading<DecodedRaw> = {
  limits: RAW_FOR_GUESTS,
  cuts: RAW_CUTS,
  later: RAW_LATER,
  read: (review, body, parts) => {
    if (!isJsonObject(review)) throw wrongType(review, "struct RawReviewRequest");
    refuseMisspelt(review, REVIEW);
    if (!Object.hasOwn(review, "request")) throw missing("request");
    const question: DecodedRaw = {
      kind: "raw",
      payload: review.request,
      requestBytes: rawBytes(() => question.payload, body),
    };
    const [cut] = parts?.cuts ?? [];
    if (cut !== undefined) makeLater(question, "payload", () => parts?.read(cut));
    return question;
  },
};

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

/** How a body is read. */
interface Reading<T> {
  readonly limits: JsonLimits;
  /** The values to find in it, and those of them to read later. */
  readonly cuts: WantedCuts;
  readonly later: ReadonlySet<string>;
  /** Makes a question from it. @throws ShapeError */
  readonly read: (value: unknown, body: ReadBody, parts?: JsonParts) => T;
}

/** Reads a body step by step. */
export type Steps<T> = Generator<undefined, T | RequestProblem, undefined>;

/** Reads a body: in parts where that is possible. */
function decodeOnce<T>(bytes: Uint8Array, maxValues: number, reading: Reading<T>): T | RequestProblem {
  const scan = scanned(bytes, maxValues, reading);
  return (scan && decodeInParts(bytes, scan, reading)) ?? decode(bytes, maxValues, reading, scan);
}

/** The scan of a body; undefined when it is not JSON, or so long that it may have too many values. */
const scanned = <T>(bytes: Uint8Array, maxValues: number, { limits, cuts }: Reading<T>): JsonScan | undefined =>
  mayHaveMoreValues(bytes.length, maxValues) ? undefined : scanJson(bytes, limits.unique?.depth ?? 0, cuts);

function decodeInParts<T>(
  bytes: Uint8Array,
  scan: JsonScan,
  { cuts, later, read }: Reading<T>,
): T | RequestProblem | undefined {
  const parts = readJsonParts(asBuffer(bytes), scan, cuts, later);
  if (parts === undefined) return undefined;
  try {
    return read(parts.value, { bytes, document: { cuts: parts.cuts, isUnique: true, plain: true } }, parts);
  } catch (error) {
    const text = bodyText(bytes);
    return typeof text === "string" ? problemOf(error, text) : text;
  }
}

function* decodeInSteps<T>(bytes: Uint8Array, maxValues: number, reading: Reading<T>, guest: boolean): Steps<T> {
  const scan = guest ? scanned(bytes, maxValues, reading) : undefined;
  const inParts = scan && decodeInParts(bytes, scan, reading);
  if (inParts !== undefined) return inParts;
  const text = bodyText(bytes);
  if (typeof text !== "string") return text;
  yield;
  const problem = tooManyOf(text, maxValues);
  if (problem !== undefined) return problem;
  yield;
  try {
    const document = yield* readJsonInSteps(text, reading.limits, bytes);
    return reading.read(document.value, { bytes, document });
  } catch (error) {
    return problemOf(error, text);
  }
}

function decode<T>(
  bytes: Uint8Array,
  maxValues: number,
  { limits, read }: Pick<Reading<T>, "limits" | "read">,
  scan?: JsonScan,
): T | RequestProblem {
  const text = textWithin(bytes, maxValues);
  if (typeof text !== "string") return text;
  try {
    const document = readJson(text, limits, bytes, scan);
    return read(document.value, { bytes, document });
  } catch (error) {
    return problemOf(error, text);
  }
}

function tooManyOf(text: string, values: number): RequestProblem | undefined {
  const bounds = { values, members: Math.ceil(values / VALUES_FOR_A_MEMBER) };
  const what = tooManyIn(text, bounds);
  return what && tooMany(what, bounds[what]);
}

function textWithin(bytes: Uint8Array, maxValues: number): string | RequestProblem {
  const text = bodyText(bytes);
  return typeof text === "string" ? (tooManyOf(text, maxValues) ?? text) : text;
}

/** The problem of a body, with its place. */
function problemOf(error: unknown, text: string): RequestProblem {
  if (error instanceof JsonError) return notJson(`${prefix(formatPath(error.path))}${error.message}`);
  if (!(error instanceof ShapeError)) throw error;
  return wrongShape(`${prefix(formatPath(error.path))}${error.reason} at ${positionOf(text, error.path)}`);
}

function prefix(path: string): string {
  return path === "" ? "" : `${path}: `;
}
