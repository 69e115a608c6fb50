/** Writes the leader's annotations into policies. */
import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import { ROLLOUT } from "../../config/from-cluster/rollout-annotations.js";
import { parseJson } from "../../data/json.js";
import { ApiError, isNotFound } from "../../kubernetes/client/errors.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { objectPath } from "../../kubernetes/client/paths.js";
import { isObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import { FIELD_MANAGER } from "../lease.js";
import { clockProblem } from "../server-time.js";

/** Allowed difference in milliseconds between the clocks of a leader and of the API server where an action depends on the time. */
const SKEW_MS = 5 * 60_000;

/** Annotations to set; null removes one. */
export type Annotations = Readonly<Record<string, string | null>>;

/** `stale`: the policy has changed since, and the decision has to be made again. */
export type Annotated = "written" | "stale";

/** An object's annotations whose values are texts. */
export function annotationsOf(object: unknown): Readonly<Record<string, string>> {
  const annotations = member(member(object, "metadata"), "annotations");
  if (!isObject(annotations)) return {};
  return Object.fromEntries(
    Object.entries(annotations).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/**
 * Sets annotations of a policy, if it is still the known one.
 * @param notes the annotations, by the policy in the cluster with its managed fields
 * @param wall milliseconds since 1970, where the time is the reason: it is compared with the API server's clock first
 * @throws the client's errors, except where the policy has changed or is gone; and an Error when clocks are too far apart
 */
export async function annotate(
  cluster: Pick<Cluster, "http" | "discovery">,
  document: ClusterDocument,
  notes: (object: unknown) => Annotations,
  signal: AbortSignal,
  wall?: number,
): Promise<Annotated> {
  const known = parseJson(document.text);
  const kind = kindOf(known);
  const resource = await cluster.discovery.find(kind);
  if (resource === undefined) return "stale";
  const path = objectPath(resource, namespaceOf(known), nameOf(known));
  try {
    const { value } = await cluster.http.get(path, {}, signal);
    const metadata = member(value, "metadata");
    const generation = member(metadata, "generation") ?? 0;
    if (text(metadata, "uid") !== document.uid || generation !== document.generation) return "stale";
    if (!sameAnnotations(annotationsOf(value), annotationsOf(known))) return "stale";
    const patch = {
      metadata: { resourceVersion: text(metadata, "resourceVersion"), annotations: notes(value) },
    };
    const write = (dryRun: boolean): Promise<unknown> =>
      cluster.http.patch(path, "merge", patch, { fieldManager: FIELD_MANAGER, dryRun }, signal);
    const problem = wall === undefined ? undefined : clockProblem(await write(true), wall, SKEW_MS);
    if (problem !== undefined) throw new Error(problem);
    await write(false);
    return "written";
  } catch (error) {
    if (isNotFound(error) || (error instanceof ApiError && error.status === 409)) return "stale";
    throw error;
  }
}

/**
 * Whether a policy without annotations was in force, as far as the API server knows: this server has written into it (its status), and it did not come with the
 * rollout. Times of managers are those of their last writes, in seconds.
 */
export function wasInForce(object: unknown): boolean {
  const metadata = member(object, "metadata");
  const managers = member(metadata, "managedFields");
  if (!Array.isArray(managers)) return false;
  const created = text(metadata, "creationTimestamp");
  const cameWithIt = managers.some(
    (manager) =>
      text(manager, "time") === created &&
      member(member(member(member(manager, "fieldsV1"), "f:metadata"), "f:annotations"), `f:${ROLLOUT}`) !== undefined,
  );
  return !cameWithIt && managers.some((manager) => text(manager, "manager") === FIELD_MANAGER);
}

function kindOf(object: unknown): { readonly group: string; readonly version: string; readonly kind: string } {
  const [first = "", second] = text(object, "apiVersion").split("/");
  const kind = text(object, "kind");
  return second === undefined ? { group: "", version: first, kind } : { group: first, version: second, kind };
}

function sameAnnotations(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
