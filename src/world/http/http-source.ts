/** A source of answers from HTTP servers (spec kyverno.md 4.5). */
import type { JsonObject } from "../../kubernetes/object.js";
import type { Eventual } from "../eventual.js";
import { LookupFailure } from "../resources/resource-source.js";

/** A request of an expression. */
export interface HttpQuestion {
  readonly method: "GET" | "POST";
  /** The address as written. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The text of the body, JSON; `undefined` for a GET. */
  readonly body: string | undefined;
  /** Certificates (PEM, as {@link import("./pem.js").trusted} gives them) that alone are trusted; `""`: the default ones. */
  readonly ca: string;
  /** Whether the policy is confined to a namespace: most such policies may not ask (spec kyverno.md 1.7). */
  readonly namespaced: boolean;
}

/** A source of answers. */
export interface HttpSource {
  /** The answer as expressions see it, whatever its status: the members of a JSON object, or `body`, and `statusCode`. Numbers are doubles, except `statusCode`. */
  send(question: HttpQuestion): Eventual<JsonObject | LookupFailure>;
}

/** The answer to policies that are confined to a namespace, unless they are allowed to ask. */
export const NOT_IN_NAMESPACES = new LookupFailure(
  "http calls are not allowed in namespaced policies: set --allowHTTPInNamespacedPolicies to enable",
);
