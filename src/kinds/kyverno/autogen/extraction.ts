/** Finds pods in objects of any kind, for policies that are evaluated on those pods (spec kyverno.md 3.5). */
import { compareNames } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../../kubernetes/object.js";
import type { AdmissionRequest } from "../../../policy/index.js";

/** A pod template and its place. */
export interface PodTemplate {
  /** The path in the object, such as `spec.replicatedJobs[1].template.spec.template`. */
  readonly path: string;
  readonly template: JsonObject;
}

/** The request about a pod of a template, as the API server would send it. */
export interface PodRequest {
  readonly path: string;
  /** Made on demand: an object may hold thousands of pods. */
  readonly request: () => AdmissionRequest;
}

/** The requests for the pods of a request; or why there are none, in the reference's words; or that the object has more than {@link MOST_VALUES} values. */
export type PodRequests = readonly PodRequest[] | { readonly error: string } | "too-large";

/** Most values that are searched for pod templates, in some 20 ms. Objects of clusters have some thousands. */
export const MOST_VALUES = 50_000;

/** The object and the old object as policies see them. */
interface Objects {
  readonly object?: unknown;
  readonly oldObject?: unknown;
}

/**
 * The pod templates in an object's `spec`, in the order of their keys; not those in its status or metadata, which were judged before or are not
 * desired state. Templates inside of a template are not searched for.
 */
export function extractPodTemplates(object: unknown): readonly PodTemplate[] | "too-large" {
  const search = new Search();
  const spec = member(object, "spec");
  if (isObject(spec)) search.through(spec, "spec");
  return search.left < 0 ? "too-large" : search.found;
}

/**
 * The requests for the pods in a request's object, by the same user and with the same operation. Of a deleted object, the pods that it had.
 * `objects`: as policies see them, where they differ from the request's.
 */
export function podRequests(request: AdmissionRequest, objects: Objects = request): PodRequests {
  const { object, oldObject } = objects;
  const going = isEmpty(object);
  const source = going ? oldObject : object;
  if (isEmpty(source))
    return { error: "extraction mode: expected an unstructured object, got *unstructured.Unstructured" };
  const templates = extractPodTemplates(source);
  if (templates === "too-large") return templates;
  if (templates.length === 0) {
    return { error: `extraction mode: no pod template found in ${text(source, "apiVersion")}/${text(source, "kind")}` };
  }
  const former = going ? [] : extractPodTemplates(oldObject);
  if (former === "too-large") return former;
  const before = new Map(former.map(({ path, template }) => [path, template]));
  return templates.map(({ path, template }) => ({
    path,
    request: () => (going ? podRequest(request, undefined, template) : podRequest(request, template, before.get(path))),
  }));
}

const isEmpty = (object: unknown): boolean => !isObject(object) || Object.keys(object).length === 0;

/** A search for pod templates (disposable). */
class Search {
  readonly found: PodTemplate[] = [];
  /** The values that may still be searched; negative when there were too many. */
  left = MOST_VALUES;

  through(value: unknown, path: string): void {
    this.left -= 1;
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length && this.left >= 0; i++) this.through(value[i], `${path}[${i}]`);
    } else if (isObject(value)) {
      if (isPodTemplate(value)) {
        this.found.push({ path, template: value });
        return;
      }
      const keys = Object.keys(value);
      // Checked before sorting: one map may have them all.
      if (keys.length > this.left) this.left = -1;
      else for (const key of keys.sort(compareNames)) if (this.left >= 0) this.through(value[key], `${path}.${key}`);
    }
  }
}

function isPodTemplate(value: JsonObject): boolean {
  const metadata = member(value, "metadata");
  if (metadata !== undefined && !isObject(metadata)) return false;
  const containers = member(member(value, "spec"), "containers");
  return (
    Array.isArray(containers) &&
    containers.length > 0 &&
    containers.every((each) => text(each, "name") !== "" && typeof member(each, "image") === "string")
  );
}

const POD_KIND = { group: "", version: "v1", kind: "Pod" };
const POD_RESOURCE = { group: "", version: "v1", resource: "pods" };

/** The parent's request, about a pod. At least one of the templates exists. */
function podRequest(
  parent: AdmissionRequest,
  template: JsonObject | undefined,
  oldTemplate: JsonObject | undefined,
): AdmissionRequest {
  const { object: _, oldObject: __, name: ___, namespace: ____, requestSubResource: _____, ...rest } = parent;
  const object = template && podOf(template, parent);
  const oldObject = oldTemplate && podOf(oldTemplate, parent);
  const metadata = member(object ?? oldObject, "metadata");
  const name = text(metadata, "name");
  const namespace = text(metadata, "namespace");
  return {
    ...rest,
    kind: POD_KIND,
    resource: POD_RESOURCE,
    requestKind: POD_KIND,
    requestResource: POD_RESOURCE,
    ...(parent.subResource !== undefined && { requestSubResource: parent.subResource }),
    ...(name !== "" && { name }),
    ...(namespace !== "" && { namespace }),
    ...(object !== undefined && { object }),
    ...(oldObject !== undefined && { oldObject }),
  };
}

/** The Pod of a template; it has the parent's name and namespace where it has none of its own. */
function podOf(template: JsonObject, parent: AdmissionRequest): JsonObject {
  const given = member(template, "metadata");
  const metadata = {
    ...(isObject(given) ? given : {}),
    name: text(given, "name") || (parent.name ?? ""),
    namespace: text(given, "namespace") || (parent.namespace ?? ""),
  };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: member(template, "spec") };
}
