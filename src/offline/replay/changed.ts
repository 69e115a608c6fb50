/** One changed answer. */
import type { Asked, Change } from "./compare.js";
import type { Answer, Question } from "./question.js";

/** A changed answer, with its subject. */
export interface Changed {
  readonly policy: string;
  readonly change: Change;
  readonly question: Question;
  readonly before: Answer | undefined;
  readonly after: Asked;
}

/** Names of changes. */
export const CHANGE_WORDS: Readonly<Record<Change, string>> = {
  same: "same",
  nowDenied: "now denied",
  nowAllowed: "now allowed",
  message: "message changed",
  patch: "patch changed",
  failed: "fails now",
  undecided: "can't be decided",
  denies: "denied",
  allows: "allowed",
};

/** The subject of a request. */
export interface About {
  readonly uid: string;
  readonly operation?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** The subject in a request. */
export function aboutOf({ review }: Question): About {
  if (review.kind === "raw") return { uid: "" };
  const { uid, operation, kind, namespace, name } = review.request;
  return {
    uid,
    operation,
    kind: kind.kind,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
}
