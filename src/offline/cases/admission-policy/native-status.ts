/** The API server's own answer to a refused request (spec validating-admission-policy.md 7.6, mutating-admission-policy.md 8). */
import { hasMetadata, type RequestAttributes } from "../../../kinds/shared/match/request-attributes.js";
import { member, text } from "../../../kubernetes/object.js";

/** A metav1.Status. */
export interface NativeStatus {
  readonly status: string;
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly causes?: readonly { readonly message: string }[];
  };
}

/** The API server's name for the object of a request. */
export function requestName(request: RequestAttributes): string {
  if (request.name !== "") return request.name;
  if (request.object === undefined) return "Unknown";
  if (!hasMetadata(request)) return "Unknown/errorGettingName";
  const metadata = member(request.object, "metadata");
  return text(metadata, "name") || text(metadata, "generateName") || "Unknown";
}
