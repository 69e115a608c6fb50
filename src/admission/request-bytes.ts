/**
 * A request as guests get it (spec kubewarden.md 3.2): known fields only, absent ones left out. What is large and has nothing that must be changed is cut
 * out of the body as it stands there.
 */
import { type Cut, hasRepeatedKeys, type JsonDocument, stringifyJson, type WantedCuts } from "../data/json.js";
import type { AdmissionRequest } from "./admission-request.js";

/** What is cut out of an AdmissionReview. */
export const REVIEW_CUTS = {
  member: "request",
  inner: ["object", "oldObject", "options"],
  mayRepeat: true,
  // Who owns which field: a third to a half of most objects, and no policy asks for it.
  part: ["metadata", "managedFields"],
} as const satisfies WantedCuts;

/** What is cut out of a raw review. */
export const RAW_CUTS = { member: "request", mayRepeat: false } as const satisfies WantedCuts;

/** A body and what was read of it. */
export interface ReadBody {
  /** UTF-8. */
  readonly bytes: Uint8Array;
  readonly document: Pick<JsonDocument, "cuts" | "isUnique" | "plain">;
}

/** A request's text as guests get it, UTF-8. Made at the first call, and kept. */
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
 * @param payload makes it, where its own text may say something else to another reader
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

/** All but what may be cut out. */
function headOf(request: AdmissionRequest): object {
  const { uid, kind, resource, operation, userInfo, subResource, requestKind, requestResource } = request;
  const { requestSubResource, name, namespace, dryRun } = request;
  // What is undefined is not printed.
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

/** A value's own text; or what is printed of it where its own text may say something else to another reader. */
function textOf(cut: Cut | undefined, value: unknown, { bytes, document }: ReadBody): Uint8Array {
  if (cut !== undefined && !hasRepeatedKeys(cut, value)) return bytes.subarray(cut.start, cut.end);
  return Buffer.from(stringifyJson(value, document.plain));
}

/** What a function makes, made at the first call and kept. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
