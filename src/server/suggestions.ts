/**
 * The text of a 404 or 405 for people: what was requested, what may have been meant, and how to request it. By spec kubewarden.md 3.1
 * these answers have no body; status and headers are those of the spec, and machines read only these.
 */
import { didYouMean } from "../data/suggest.js";

/** Longest part of a request that the text repeats. */
const MAX_SHOWN = 100;
/** Most names that are compared with a mistaken one: each takes some microseconds of the thread that answers all requests. */
const MAX_COMPARED = 200;
/** Longest name that is compared; the time grows with the square of it. */
const MAX_COMPARED_LENGTH = 63;
/** Most edits between a name and its suggestion. */
const MAX_DIFFERENCE = 4;

/** The served names, for suggestions. */
export interface Suggestible {
  /** Ids of policies; read for each suggestion, because they change. */
  readonly ids: () => Iterable<string>;
  /** All other paths. */
  readonly paths: readonly string[];
}

/** Explains why a path has no answer, in one line or two. */
export type Suggest = (method: string, path: string, allowed?: string) => string;

const REVIEW = /^\/(validate|validate_raw|audit)\/(.+)$/;

/** Suggestions among what is served. */
export function suggestions({ ids, paths }: Suggestible): Suggest {
  return (method, path, allowed) => {
    const review = REVIEW.exec(path);
    const asked = `${shown(method)} ${shown(path)}`;
    if (allowed !== undefined) {
      const how = `${asked}: this path is asked by ${allowed}`;
      return `${how}${review === null ? "" : aboutPolicy(review, ids)}\n`;
    }
    const guess = nearestOf(path, paths);
    const start = "POST an AdmissionReview to /validate/<policy>; GET /policies lists what is served";
    return `${asked}: nothing is served here${guess}\n${start}\n`;
  };
}

/** The text for a person who has opened the address of a policy. */
function aboutPolicy([, route = "", encoded = ""]: RegExpExecArray, ids: Suggestible["ids"]): string {
  const id = decoded(encoded);
  const known = [...ids()];
  const body = route === "validate_raw" ? '{"request": …}' : "an AdmissionReview";
  if (known.includes(id)) return `, with ${body} as JSON in the body`;
  return `, and no policy is named ${JSON.stringify(shown(id))}${nearestOf(id, known)}`;
}

/** ` (did you mean "x"?)`, or nothing. */
function nearestOf(name: string, candidates: readonly string[]): string {
  if (name.length > MAX_COMPARED_LENGTH) return "";
  const near = candidates.filter((each) => Math.abs(each.length - name.length) <= MAX_DIFFERENCE);
  return didYouMean(name, near.slice(0, MAX_COMPARED));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The text as printable ASCII of bounded length. */
function shown(text: string): string {
  const plain = text.replace(/[^\x20-\x7e]/g, "?");
  return plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN)}...` : plain;
}
