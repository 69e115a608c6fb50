/**
 * A request that can't be answered with a review: HTTP status and text, exactly those of spec kubewarden.md 3.5. A value, not an
 * exception: hostile clients cause many of them.
 */
import type { TooMany } from "../data/json-values.js";

/** Why a request is refused before any policy sees it. */
export interface RequestProblem {
  readonly kind: "problem";
  /** HTTP status. */
  readonly status: number;
  /** One sentence for the client. */
  readonly text: string;
  readonly form: ProblemForm;
  /** Whether the connection is closed behind the answer: the bytes after it are not for this server, or can't be separated. */
  readonly closes?: true;
}

/**
 * The form of the text: as JSON, as plain text, or by route: JSON on `/validate` and plain text elsewhere (spec kubewarden.md 3.5, the first
 * four rows).
 */
export type ProblemForm = "json" | "text" | "by-route";

function problem(status: number, text: string, form: ProblemForm): RequestProblem {
  return { kind: "problem", status, text, form };
}

const closing = (refused: RequestProblem): RequestProblem => ({ ...refused, closes: true });

/** The content type is absent or not JSON. */
export const unsupportedMediaType = problem(415, "Expected request with `Content-Type: application/json`", "by-route");

/** The body is compressed, or encoded in another way. */
export function encodedBody(encoding: string): RequestProblem {
  const shown = encoding.length > MAX_SHOWN ? `${encoding.slice(0, MAX_SHOWN)}…` : encoding;
  return problem(415, `Content-Encoding ${JSON.stringify(shown)} is not supported: send the body as it is`, "by-route");
}

/** Longest part of a client's header in the text. */
const MAX_SHOWN = 40;

/** The client's certificate is valid, but has none of the allowed names; `who` gives its names. */
export function unknownClient(who: string): RequestProblem {
  const text = `the client certificate ${who}, and no client of such a name may ask this server`;
  return closing(problem(403, text, "json"));
}

/** The body is longer than the limit. */
export const bodyTooLarge = closing(
  problem(413, "Failed to buffer the request body: length limit exceeded", "by-route"),
);

/** The body has more of something than can be read without keeping other requests waiting. */
export function tooMany(what: TooMany, limit: number): RequestProblem {
  const has = what === "values" ? `more than ${limit} JSON values` : `an object of more than ${limit} members`;
  const text = `The request body has ${has} (a greater --max-body-bytes allows more)`;
  return closing(problem(413, text, "by-route"));
}

/** An error whose details the client need not know. */
export const somethingWentWrong = problem(500, "Something went wrong", "json");

/** The policy id in the path isn't UTF-8 once percent-decoded. */
export const pathNotUtf8: RequestProblem = problem(400, "Invalid URL: Invalid UTF-8 in `policy_id`", "text");

/** The body isn't JSON; `reason` has the place. */
export function notJson(reason: string): RequestProblem {
  return problem(400, `Failed to parse the request body as JSON: ${reason}`, "by-route");
}

/** The body is JSON of another shape; `reason` has the place. */
export function wrongShape(reason: string): RequestProblem {
  return problem(422, `Failed to deserialize the JSON body into the target type: ${reason}`, "by-route");
}

/** No policy has this id. */
export function unknownPolicy(id: string): RequestProblem {
  return problem(404, `unknown policy: ${id}`, "json");
}

/** Too many requests at once; the client should come back later. */
export function overloaded(reason: string): RequestProblem {
  return problem(429, reason, "json");
}

/** The body is a large one, and too many of those are waiting. */
export const tooManyLargeBodies = overloaded("too many large requests wait to be read: try again later");

/** Unfinished bodies take all the memory that they may, and this one more than its share of it. */
export const tooManyUnfinishedBodies = closing(
  overloaded("too many bodies are being received, and this one is large: try again later"),
);

/** The server can't answer the request any more (or in time). */
export function unavailable(reason: string): RequestProblem {
  return problem(503, reason, "json");
}
