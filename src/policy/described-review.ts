/** The kinds that the objects of a review declare, beside the kind of the review itself (`request.kind`). */
import type { AdmissionRequest } from "../admission/admission-request.js";
import { printedOnce } from "../data/printed-once.js";
import { apiVersionOf } from "../kubernetes/names.js";
import { describedAs, isObject, text } from "../kubernetes/object.js";
import type { Failure } from "./outcome.js";
import type { Review } from "./review.js";

/** Characters of an apiVersion or a kind that a message shows: a longer one is not a name, and the sender chose it. */
const SHOWN_CHARACTERS = 100;

const NAMES = ["object", "oldObject"] as const;

/**
 * The failure of a review whose object declares another kind than `request.kind`: the API server sends none, and two readers may take it for two
 * different things. `undefined` where the objects declare the same kind or none, and for values that a group evaluates, which need not be objects of
 * Kubernetes.
 */
export function kindMistake(review: Review): Failure | undefined {
  if (review.kind === "raw" || review.targeted === true || review.saysKind?.() === true) return undefined;
  const { request } = review;
  const { kind } = request;
  for (const name of NAMES) {
    const object = describedIn(request, name);
    if (!isObject(object) || (object.apiVersion === apiVersionOf(kind) && object.kind === kind.kind)) continue;
    const said = `${shown(text(object, "apiVersion"))} ${shown(text(object, "kind"))}`;
    const wanted = `${shown(apiVersionOf(kind))} ${shown(kind.kind)}`;
    const message = `request.${name} says that it is ${said}, but request.kind says ${wanted}: send it as what request.kind names`;
    return { verdict: "error", message, code: 400, reason: "BadRequest", cause: "protocol" };
  }
  return undefined;
}

/**
 * A review whose objects declare their kind, for readers of both the request and its object: a missing apiVersion or kind is that of `request.kind`.
 * Reviews without such an object, and those that {@link kindMistake} leaves alone, are returned as they are.
 */
export function describedReview(review: Review): Review {
  if (review.kind === "raw" || review.targeted === true || review.saysKind?.() === true) return review;
  const { request } = review;
  const lacking = NAMES.filter((name) => describedIn(request, name) !== request[name]);
  if (lacking.length === 0) return review;
  const described = { ...request };
  for (const name of lacking) Object.assign(described, { [name]: describedIn(request, name) });
  return { kind: "admission", request: described, requestBytes: printedOnce(described) };
}

function describedIn(request: AdmissionRequest, name: (typeof NAMES)[number]): unknown {
  const object = request[name];
  return isObject(object) ? describedAs(object, request.kind) : object;
}

const shown = (name: string): string => JSON.stringify(name.slice(0, SHOWN_CHARACTERS));
