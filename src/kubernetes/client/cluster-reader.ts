import { orAborted } from "../../data/or-aborted.js";
import type { KubernetesReader, ListQuery, ResourceKind } from "../reader.js";
import { publicEvaluationError, reviewAccess } from "./access-review.js";
import { type ApiResource, type Discovery, kindOf } from "./discovery.js";
import { ApiError, publicReasonOf, ResourceError, reasonOf } from "./errors.js";
import type { ClusterHttp } from "./http.js";
import type { ObjectStore, ObjectStores } from "./object-stores.js";
import { isSegment, objectPath } from "./paths.js";

const ABANDONED = "the caller no longer waits for the answer";

/** The cluster as guests see it (spec kubewarden.md 7.6). */
export function clusterReader(http: ClusterHttp, discovery: Discovery, stores: ObjectStores): KubernetesReader {
  const find = async (named: ResourceKind, signal: AbortSignal): Promise<ApiResource> => {
    const { apiVersion, kind } = named;
    const wanted = kindOf(named);
    let found: ApiResource | undefined;
    try {
      found = wanted && (await orAborted(discovery.find(wanted), signal, ABANDONED));
    } catch (error) {
      const told = (reason: string) => `error finding resource ${apiVersion} / ${kind}: ${reason}`;
      throw new ResourceError(told(reasonOf(error)), { cause: error, shown: told(publicReasonOf(error)) });
    }
    if (found === undefined) throw new ResourceError(`Cannot find resource ${apiVersion}/${kind}`);
    return found;
  };

  const storeOf = async (kind: ResourceKind, query: ListQuery, signal: AbortSignal): Promise<ObjectStore> => {
    const resource = await find(kind, signal);
    const { namespace, labelSelector, fieldSelector } = query;
    if (namespace !== undefined && !resource.namespaced) {
      const { apiVersion, kind: named } = kind;
      throw new ResourceError(
        `resource ${apiVersion}/${named} is cluster wide. Cannot search for it inside of a namespace`,
      );
    }
    // The empty namespace is another question, which may not have been granted.
    if (namespace === "") throw new ResourceError("the namespace to search in is empty");
    return stores.of(resource, {
      namespace: namespace ?? "",
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    });
  };

  return {
    async get(kind, { name, namespace = "" }, signal) {
      const resource = await find(kind, signal);
      const { apiVersion, kind: named } = kind;
      if (resource.namespaced && namespace === "") {
        throw new ResourceError(`Resource ${apiVersion}/${named} is namespaced, but no namespace was provided`);
      }
      const within = resource.namespaced ? namespace : "";
      const absent = (): ResourceError => {
        const where = within === "" ? "None" : `Some("${within}")`;
        return new ResourceError(`Cannot find ${apiVersion}/${named} named '${name}' inside of namespace '${where}'`);
      };
      if (!isSegment(name) || !isSegment(within || "none")) throw absent();
      try {
        return (await http.get(objectPath(resource, within, name), {}, signal)).value;
      } catch (error) {
        throw error instanceof ApiError && error.status === 404 ? absent() : error;
      }
    },

    async list(kind, query, signal) {
      return orAborted((await storeOf(kind, query, signal)).all(), signal, ABANDONED);
    },

    async texts(kind, query, signal) {
      return (await orAborted((await storeOf(kind, query, signal)).contents(), signal, ABANDONED)).texts();
    },

    async canI({ user, groups, resourceAttributes }, signal) {
      const spec = { user, ...(groups && { groups }), resourceAttributes };
      const { evaluationError, ...answer } = await reviewAccess(http, spec, signal);
      if (evaluationError === undefined) return answer;
      return { ...answer, evaluationError: publicEvaluationError(evaluationError) };
    },

    async snapshot(kind, signal) {
      const resource = await find(kind, signal);
      const items = await orAborted(stores.of(resource, { namespace: "" }).all(), signal, ABANDONED);
      return { kind, plural: resource.plural, namespaced: resource.namespaced, items };
    },
  };
}
