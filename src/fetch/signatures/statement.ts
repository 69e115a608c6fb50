/** In-toto statements in DSSE envelopes, as cosign signs them about images (spec kubewarden.md 1.8). */
import type { Envelope } from "@sigstore/bundle";
import { JsonError, readJson, readJsonInSteps, scanJson, UNIQUE_KEYS } from "../../data/json.js";
import { hasMoreValues } from "../../data/json-values.js";
import { loadedOnce } from "../../data/loaded-once.js";
import { isJsonObject } from "../../data/same-value.js";
import { MAX_ANSWER_VALUES } from "../limits.js";

/** Sigstore's reader of bundles, loaded at first use. */
export const bundleLibrary = loadedOnce(() => import("@sigstore/bundle"));

/** The statement that cosign signs for an image. Others say something about it: none of them is a signature. */
export const SIGN_PREDICATE = "https://sigstore.dev/cosign/sign/v1";
const STATEMENT = "application/vnd.in-toto+json";
const STATEMENT_TYPES: ReadonlySet<unknown> = new Set([
  "https://in-toto.io/Statement/v1",
  "https://in-toto.io/Statement/v0.1",
]);
/** Most JSON values of a statement: lists of some thousand packages have them. */
export const MAX_STATEMENT_VALUES = 200_000;
/** Texts up to this number of bytes are parsed in one go, within some milliseconds. */
const SHORT_TEXT = 64 * 1024;

/** The reason why a signature does not count: part of a sentence about it, such as `it is about another image`. */
export class SignatureProblem extends Error {
  override readonly name = "SignatureProblem";
}

/** The result of some reading; undefined where the signature can't be read. */
export function readableOnly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SignatureProblem) return undefined;
    throw error;
  }
}

type JsonMembers = Readonly<Record<string, unknown>>;

/**
 * Reads a JSON object that must mean the same to every reader.
 * @param what its name in the reason
 * @throws SignatureProblem for a text with repeated keys, keys with escapes, or too many values
 */
export function strictJson(bytes: Uint8Array, what: string): JsonMembers {
  const { text, scan } = strictText(bytes, what, MAX_ANSWER_VALUES);
  return membersOf(() => readJson(text, { unique: UNIQUE_KEYS }, bytes, scan).value, what);
}

function strictText(bytes: Uint8Array, what: string, most: number) {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  if (hasMoreValues(text, most)) throw new SignatureProblem(`${what} has more than ${most} values`);
  const scan = scanJson(bytes, UNIQUE_KEYS.depth);
  // Sigstore's library reads some texts again, with the built-in parser: it must see what is seen here.
  if (scan !== undefined && scan.escapedKeys !== 0) throw new SignatureProblem(`${what} has keys with escapes`);
  return { text, scan };
}

function membersOf(read: () => unknown, what: string): JsonMembers {
  let value: unknown;
  try {
    value = read();
  } catch (error) {
    const repeated = error instanceof JsonError && error.reason.startsWith("duplicate field");
    throw new SignatureProblem(repeated ? `${what} has a repeated key` : `${what} is not JSON`);
  }
  if (!isJsonObject(value)) throw new SignatureProblem(`${what} is not a JSON object`);
  return value;
}

/** {@link strictJson} of a long statement, in turns with other work. */
async function strictStatement(bytes: Uint8Array, turn: () => Promise<void>): Promise<JsonMembers> {
  const what = "its statement";
  if (bytes.length <= SHORT_TEXT) return strictJson(bytes, what);
  const { text } = strictText(bytes, what, MAX_STATEMENT_VALUES);
  await turn();
  const steps = readJsonInSteps(text, { unique: UNIQUE_KEYS }, bytes);
  for (;;) {
    let step: ReturnType<typeof steps.next> | undefined;
    const value = membersOf(() => {
      step = steps.next();
      return step.done === true ? step.value.value : {};
    }, what);
    if (step?.done === true) return value;
    await turn();
  }
}

/** The statement to look for. */
export interface Expected {
  /** The digest of the image that it must be about. */
  readonly digest: string;
  readonly predicateType: string;
  /** Bytes of bundles that may still be fetched; absent: as many as there are. */
  readonly room?: { bytes: number };
}

/** A signature with what it signs, unverified. */
export interface Signed {
  /** The signed bytes. */
  readonly payload: Buffer;
  readonly signature: Buffer;
  /** The digest of the image that it is about. */
  readonly imageDigest: string;
  /** The signer's annotations. */
  readonly annotations: Readonly<Record<string, unknown>>;
  /** The in-toto statement that is signed; absent in payloads of other forms. */
  readonly statement?: JsonMembers;
}

/**
 * A signed statement about the image, or about another one.
 * @throws SignatureProblem for an envelope without a statement of this type
 */
export async function statementIn(
  { payloadType, payload, signatures }: Envelope,
  { digest, predicateType: wanted }: Expected,
  turn: () => Promise<void>,
): Promise<Signed> {
  if (payloadType !== STATEMENT) throw new SignatureProblem("its envelope holds no in-toto statement");
  const statement = await strictStatement(payload, turn);
  const { _type, predicateType, subject } = statement;
  if (!STATEMENT_TYPES.has(_type)) throw new SignatureProblem("its envelope holds no in-toto statement");
  if (predicateType !== wanted) throw new SignatureProblem("its statement is of another predicate type");
  const subjects = (Array.isArray(subject) ? subject : []).filter(isJsonObject);
  const named = subjects.map((one) => ({ digest: digestIn(one, digest), annotations: one.annotations }));
  const found = named.find((one) => one.digest === digest) ?? named[0];
  const head = Buffer.from(`DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `);
  return {
    payload: Buffer.concat([head, payload]),
    signature: Buffer.from(signatures[0]?.sig ?? ""),
    imageDigest: found?.digest ?? "",
    annotations: isJsonObject(found?.annotations) ? found.annotations : {},
    statement,
  };
}

/** The digest of a statement's subject, by the algorithm of the image's digest. */
function digestIn(subject: JsonMembers, like: string): string {
  const [algorithm = ""] = like.split(":");
  const { digest } = subject;
  const value = isJsonObject(digest) && Object.hasOwn(digest, algorithm) ? digest[algorithm] : undefined;
  return typeof value === "string" ? `${algorithm}:${value}` : "";
}
