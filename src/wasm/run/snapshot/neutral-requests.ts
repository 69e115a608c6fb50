/** Requests about nothing in particular (data/neutral-requests.json), with which the states of policies are made and checked. */
import { readFileSync } from "node:fs";
import type { Review } from "../../../policy/review.js";

const FILE = new URL("../../../../../data/neutral-requests.json", import.meta.url);

/** The word in all their names, users, images and labels. */
const MARK = /neutral/g;
/** Words in its place in the variants: one of the same length, and one that is longer. */
const WORDS = ["another", "quite-a-different-one"] as const;
/** Number of requests with variants: each costs a policy several calls. */
const VARIED = 1;

type Request = Extract<Review, { readonly kind: "admission" }>["request"];

/** The requests: the first makes a state, the second is the same about other things, the others are of other kinds. */
export function neutralReviews(): readonly Review[] {
  const requests = JSON.parse(readFileSync(FILE, "utf8")) as readonly Request[];
  const variants = requests
    .slice(0, VARIED)
    .flatMap((request) => WORDS.map((word) => JSON.stringify(request).replace(MARK, word)));
  const [first, ...others] = requests.map((request) => JSON.stringify(request));
  return [...(first === undefined ? [] : [first]), ...variants, ...others].map(review);
}

function review(text: string): Review {
  return { kind: "admission", request: JSON.parse(text) as Request, requestBytes: () => Buffer.from(text) };
}
