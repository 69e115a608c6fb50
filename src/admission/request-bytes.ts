/**
 * The text of a request for guests (spec kubewarden.md 3.2): known fields only, absent ones left out. Large values that need no change are cut
 * from the body as they are.
 */
import { type Cut, hasRepeatedKeys, type JsonDocument, stringifyJson, type WantedCuts } from "../data/json.js";
import type { AdmissionRequest } from "./admission-request.js";

/** The values that are cut from an AdmissionReview. */
export const REVIEW_CUTS = {
  member: "request",
  inner: ["object", "oldObject", "options"],
  mayRepeat: true,
  // The managed fields: a third to a half of most objects, and not used by policies.
  part: ["metadata", "managedFields"],
} as const satisfies WantedCuts;

/** The values that are cut from a raw review. */
export const RAW_CUTS = { member: "request", mayRepeat: false } as const satisfies WantedCuts;

/** A body and its parsed form. */
export interface ReadBody {
  /** UTF-8. */
  readonly bytes: Uint8Array;
  readonly document: Pick<JsonDocument, "cuts" | "isUnique" | "plain">;
}

/** A request's text for guests, UTF-8. Made at the first call, and kept. */
export interface RequestText {
  readonly requestPieces: () => readonly Uint8Array[];
  /** The pieces as one. */
  readonly requestBytes: () => Uint8Array;
}

/** The AdmissionRequest of a body. */
export function admissionText(request: AdmissionRequest, body: ReadBody): RequestText {
  const requestPieces = once(() => piecesOf(request, body));
  return { requestPieces, requestBytes: once(() => Buffer.concat(requestPieces())) };
}

function piecesOf(request: AdmissionRequest, body: ReadBody): readonly Uint8Array[] {
  const head = stringifyJson(headOf(request), body.document.plain);
  const pieces: Uint8Array[] = [Buffer.from(head.slice(0, -1))];
  for (const name of REVIEW_CUTS.inner) {
    const cut = cutOf(name, body);
    if (cut !== undefined && body.document.isUnique)
      pieces.push(MEMBERS[name], body.bytes.subarray(cut.start, cut.end));
    else if (request[name] !== undefined) pieces.push(MEMBERS[name], textOf(cut, request[name], body));
  }
  pieces.push(END);
  return pieces;
}

/**
 * The same of a raw review.
 * @param payload makes the payload, where other readers may read its own text differently
 */
export function rawBytes(payload: () => unknown, body: ReadBody): () => Uint8Array {
  return once(() => {
    const cut = cutOf(RAW_CUTS.member, body);
    return cut !== undefined && body.document.isUnique
      ? body.bytes.subarray(cut.start, cut.end)
      : textOf(cut, payload(), body);
  });
}

const MEMBERS: Readonly<Record<(typeof REVIEW_CUTS.inner)[number], Uint8Array>> = {
  object: Buffer.from(',"object":'),
  oldObject: Buffer.from(',"oldObject":'),
  options: Buffer.from(',"options":'),
};
const END = Buffer.from("}");

/** The members that are never cut out. */
function headOf(request: AdmissionRequest): object {
  const { uid, kind, resource, operation, userInfo, subResource, requestKind, requestResource } = request;
  const { requestSubResource, name, namespace, dryRun } = request;
  // Undefined members are not printed.
  return {
    uid,
    kind,
    resource,
    operation,
    userInfo,
    subResource,
    requestKind,
    requestResource,
    requestSubResource,
    name,
    namespace,
    dryRun,
  };
}

const cutOf = (name: string, { document }: ReadBody): Cut | undefined =>
  document.cuts.find((each) => each.name === name);

/** A value's own text; or its printed form where other readers may read its own text differently. */
function textOf(cut: Cut | undefined, value: unknown, { bytes, document }: ReadBody): Uint8Array {
  if (cut !== undefined && !hasRepeatedKeys(cut, value)) return bytes.subarray(cut.start, cut.end);
  return Buffer.from(stringifyJson(value, document.plain));
}

/** A function whose result is made at the first call and kept. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
