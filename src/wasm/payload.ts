/** The payloads of spec kubewarden.md 6.3, put together from texts that were made once. */
import type { Review } from "../policy/review.js";
import type { PreparedSettings } from "./guest-protocol.js";

/** `{"request":…,"settings":{…}}`. */
export function reviewPayload(review: Review, settings: PreparedSettings): string {
  return `{"request":${review.requestText()},"settings":${settings.text}}`;
}
