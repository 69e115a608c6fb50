/** The hot routes: `/validate/{id}`, `/audit/{id}` and `/validate_raw/{id}` (spec kubewarden.md 3.1). All others are answered behind them. */
import { pathNotUtf8, type RequestProblem, somethingWentWrong } from "../admission/request-problem.js";
import type { RequestOrigin } from "../policy/served/verdict.js";

/** A request for a verdict. */
export interface ReviewRoute {
  readonly kind: "route";
  readonly origin: RequestOrigin;
  /** Percent-decoded: `<name>` or `<group>/<member>`. */
  readonly id: string;
  /** The text behind `?`, undecoded; empty when there is none. */
  readonly query: string;
}

/**
 * Reads the target of a request. Undefined when it is not a hot route. A member may be written `<group>%2F<member>` as in the reference
 * server, or `<group>/<member>`. An id of more parts is an internal error there, and so here.
 */
export function reviewRoute(target: string): ReviewRoute | RequestProblem | undefined {
  const origin = originOf(target);
  if (origin === undefined) return ABSOLUTE.test(target) ? reviewRoute(target.replace(ABSOLUTE, "")) : undefined;
  const queryAt = target.indexOf("?");
  const path = target.slice(origin.length + 2, queryAt === -1 ? undefined : queryAt);
  const query = queryAt === -1 ? "" : target.slice(queryAt + 1);
  if (!path.includes("/") && !path.includes("%")) {
    return path === "" ? undefined : { kind: "route", origin, id: path, query };
  }
  const segments = path.split("/");
  // An empty segment or a third one is another path, which does not exist.
  if (segments.length > 2 || segments.includes("")) return undefined;
  const id = percentDecode(path);
  if (id === undefined) return pathNotUtf8;
  if (id.split("/").length > 2) return somethingWentWrong;
  return { kind: "route", origin, id, query };
}

/** Whether a path is that of a hot route, whatever the method; also with the member in a segment of its own. */
export const isReviewPath = (path: string): boolean => REVIEW_PATH.test(path);

const REVIEW_PATH = /^\/(?:validate|audit|validate_raw)\/[^/]+(?:\/[^/]+)?$/;

/** A target with a host: proxies may send `POST http://host/path`. */
const ABSOLUTE = /^https?:\/\/[^/]*(?=\/)/i;

/** The path of a request's target, as it is written. */
export function pathOf(target: string): string {
  const local = target.replace(ABSOLUTE, "");
  const queryAt = local.indexOf("?");
  return queryAt === -1 ? local : local.slice(0, queryAt);
}

function originOf(target: string): RequestOrigin | undefined {
  if (target.startsWith("/validate/")) return "validate";
  if (target.startsWith("/validate_raw/")) return "validate_raw";
  return target.startsWith("/audit/") ? "audit" : undefined;
}

/** Decodes `%XX`, and keeps invalid escapes, as the reference server does. Undefined when the bytes aren't UTF-8. */
function percentDecode(path: string): string | undefined {
  const escaped = path.replace(/%(?![0-9a-fA-F]{2})/g, "%25");
  try {
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
}
