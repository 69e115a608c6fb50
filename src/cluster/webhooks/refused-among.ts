/** Which of several webhooks the API server refuses, where it has refused an object that has them all. */
import { ApiError, reasonOf } from "../../kubernetes/client/errors.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { DerivedWebhook } from "./derived-webhook.js";
import { CONDITIONS } from "./mistakes.js";

/** A webhook that is to stand. */
export interface Suspect {
  readonly raw: JsonObject;
  /** What it was made of; absent for one that stays as it was found. */
  readonly webhook?: DerivedWebhook;
}

/** What the API server does not take. */
export interface Refusal {
  readonly webhook: DerivedWebhook;
  /** In its words. */
  readonly text: string;
  /** Whether it may be about the match conditions. */
  readonly ofConditions: boolean;
}

/**
 * Has the API server look at an object with these webhooks and no others of ours; nothing is kept.
 * @returns what it was refused with; undefined: it would be taken
 */
export type Attempt = (webhooks: readonly JsonObject[]) => Promise<unknown>;

/** Attempts for one refusal: enough to find a dozen among 500. What is not found then is found when the others are written again. */
const MOST_ATTEMPTS = 100;

/**
 * The webhooks that an object is refused for; none where it is refused for something else, such as rights, or because no answer comes.
 *
 * Where the API server names places (`details.causes`), those come first; messages are not looked at, for they repeat what authors of policies have written. No webhook is said to be refused that
 * is not refused by itself: places are counted in the object as it would be, in which others may have put webhooks of theirs, and some refusals name none.
 */
export async function refusedAmong(
  error: unknown,
  suspects: readonly Suspect[],
  attempt: Attempt,
): Promise<readonly Refusal[]> {
  let left = MOST_ATTEMPTS;
  /** What is refused even without any webhook has nothing to do with them. */
  const isAboutWebhooks = async (): Promise<boolean> => (await attempt([])) === undefined;
  const alone = async ({ raw, webhook }: Suspect): Promise<readonly Refusal[]> => {
    left -= 1;
    const why = await attempt([raw]);
    if (why === undefined || webhook === undefined || !(await isAboutWebhooks())) return [];
    return [refusalOf(webhook, why)];
  };
  const among = async (some: readonly Suspect[]): Promise<readonly Refusal[]> => {
    const [first] = some;
    if (first === undefined || left <= 0) return [];
    if (some.length === 1) return alone(first);
    left -= 1;
    if ((await attempt(some.map(({ raw }) => raw))) === undefined) return [];
    const half = some.length >> 1;
    return [...(await among(some.slice(0, half))), ...(await among(some.slice(half)))];
  };
  if (!(await isAboutWebhooks())) return [];
  const refused: Refusal[] = [];
  for (const suspect of namedBy(error, suspects)) if (left > 0) refused.push(...(await alone(suspect)));
  return refused.length > 0 ? refused : among(suspects);
}

/** Whatever stands behind it may be an author's. */
const PLACE = /^webhooks\[(\d+)\]\.?/;

function namedBy(error: unknown, suspects: readonly Suspect[]): readonly Suspect[] {
  if (!(error instanceof ApiError)) return [];
  const places = error.causes.flatMap(({ field }) => PLACE.exec(field)?.[1] ?? []);
  return [...new Set(places)].flatMap((index) => suspects[Number(index)] ?? []);
}

/** What the API server has said against a webhook that was alone in an object. */
export function refusalOf(webhook: DerivedWebhook, why: unknown): Refusal {
  const causes = why instanceof ApiError ? why.causes : [];
  const said = causes.map(({ field, message }) => ({ at: field.replace(PLACE, ""), message }));
  const text = said.map(({ at, message }) => `${at}: ${message}`).join("; ") || reasonOf(why);
  const ofConditions = said.length === 0 || said.some(({ at }) => at.startsWith(CONDITIONS));
  return { webhook, text, ofConditions };
}
