/** Finds the webhooks that the API server refuses, after it has refused an object with several. */
import { ApiError, reasonOf } from "../../kubernetes/client/errors.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { DerivedWebhook } from "./derived-webhook.js";
import { CONDITIONS } from "./mistakes.js";

/** A webhook that is to be written. */
export interface Suspect {
  readonly raw: JsonObject;
  /** The derived webhook; absent for one that stays as it was found. */
  readonly webhook?: DerivedWebhook;
}

/** A refusal by the API server. */
export interface Refusal {
  readonly webhook: DerivedWebhook;
  /** The API server's message. */
  readonly text: string;
  /** Whether it may be about the match conditions. */
  readonly ofConditions: boolean;
}

/**
 * Sends the API server an object with only these of our webhooks as a dry run.
 * @returns the refusal; undefined: it would be accepted
 */
export type Attempt = (webhooks: readonly JsonObject[]) => Promise<unknown>;

/** Most attempts for one refusal: enough to find a dozen among 500. Others are found when the rest is written again. */
const MOST_ATTEMPTS = 100;

/**
 * The webhooks for which an object is refused; none where it is refused for other reasons, such as rights, or because there is no answer.
 *
 * Where the API server names places (`details.causes`), those are tried first; messages are ignored, because they repeat texts of policies' authors. A webhook
 * counts as refused only if it is refused by itself: places are counted in the resulting object, in which others may have put webhooks of theirs, and some
 * refusals name none.
 */
export async function refusedAmong(
  error: unknown,
  suspects: readonly Suspect[],
  attempt: Attempt,
): Promise<readonly Refusal[]> {
  let left = MOST_ATTEMPTS;
  /** Whether the refusal is about webhooks: an object that is refused without any is refused for another reason. */
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

/** A place in the list of webhooks; the text behind it may be an author's. */
const PLACE = /^webhooks\[(\d+)\]\.?/;

function namedBy(error: unknown, suspects: readonly Suspect[]): readonly Suspect[] {
  if (!(error instanceof ApiError)) return [];
  const places = error.causes.flatMap(({ field }) => PLACE.exec(field)?.[1] ?? []);
  return [...new Set(places)].flatMap((index) => suspects[Number(index)] ?? []);
}

/** The API server's refusal of a webhook that was by itself in an object. */
export function refusalOf(webhook: DerivedWebhook, why: unknown): Refusal {
  const causes = why instanceof ApiError ? why.causes : [];
  const said = causes.map(({ field, message }) => ({ at: field.replace(PLACE, ""), message }));
  const text = said.map(({ at, message }) => `${at}: ${message}`).join("; ") || reasonOf(why);
  const ofConditions = said.length === 0 || said.some(({ at }) => at.startsWith(CONDITIONS));
  return { webhook, text, ofConditions };
}
