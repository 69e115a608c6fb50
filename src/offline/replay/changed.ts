/** One answer that is not as it was. */
import type { Asked, Change } from "./compare.js";
import type { Answer, Question } from "./question.js";

/** With what it is about. */
export interface Changed {
  readonly policy: string;
  readonly change: Change;
  readonly question: Question;
  readonly before: Answer | undefined;
  readonly after: Asked;
}

/** What a change is called. */
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

/** What a request is about. */
export interface About {
  readonly uid: string;
  readonly operation?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** What the request is about, as it says itself. */
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
