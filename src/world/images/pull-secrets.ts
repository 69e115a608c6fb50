/** Secrets with log-ins of registries, in the server's namespace. */
import { ClusterUnreachable } from "../../kubernetes/client/errors.js";
import { ANSWER_KEPT_MS } from "../../kubernetes/client/limits.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { LookUps } from "../look-ups.js";
import type { ObjectSource } from "../objects/object-source.js";
import { LookupFailure } from "../resources/resource-source.js";

/** Most Secrets that are kept for a moment. */
const MAX_PULL_SECRETS = 100;

/** A reader of the Secrets that policies name; it rejects with the reason. */
export function pullSecrets(
  objects: Pick<ObjectSource, "get">,
  namespace: string,
  now: () => number,
): (name: string) => Promise<JsonObject> {
  const place = { apiVersion: "v1", resource: "secrets", namespace };
  const kept = new LookUps<JsonObject | LookupFailure>(now, { max: MAX_PULL_SECRETS });
  const absent = new LookupFailure(`it is not in the server's namespace, ${namespace}`);
  return async (name) => {
    const read = async () => (await objects.get(place, name)) ?? absent;
    const found = (await kept.ask(name, read, () => ANSWER_KEPT_MS)) ?? absent;
    if (!(found instanceof LookupFailure)) return found;
    throw new ClusterUnreachable(found.detail ?? found.message, { shown: found.message });
  };
}
