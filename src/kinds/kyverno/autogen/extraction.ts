/** Pods that are found in objects of any kind, for policies that are evaluated on those pods (spec kyverno.md 3.5). */
import { compareNames } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../../kubernetes/object.js";
import type { AdmissionRequest } from "../../../policy/index.js";

/** A pod template and where it stands. */
export interface PodTemplate {
  /** From the object, such as `spec.replicatedJobs[1].template.spec.template`. */
  readonly path: string;
  readonly template: JsonObject;
}

/** A pod of a template as the API server would ask about it. */
export interface PodRequest {
  readonly path: string;
  readonly request: AdmissionRequest;
}

/** The pods of a request; or why there are none, in the reference's words. */
export type PodRequests = readonly PodRequest[] | { readonly error: string };

/** The object and the old object as policies see them. */
interface Objects {
  readonly object?: unknown;
  readonly oldObject?: unknown;
}

/**
 * The pod templates in an object's `spec`, in the order of their keys; not those in its status or metadata, which were judged before or are not
 * wanted. A template holds no others.
 */
export function extractPodTemplates(object: unknown): readonly PodTemplate[] {
  const found: PodTemplate[] = [];
  const spec = member(object, "spec");
  if (isObject(spec)) search(spec, "spec", found);
  return found;
}

/**
 * The requests for the pods that a request's object holds: who wants what and how stays as it is. Of an object that goes away, the pods that it had.
 * `objects`: as policies see them, where that is not what stands in the request.
 */
export function podRequests(request: AdmissionRequest, objects: Objects = request): PodRequests {
  const { object, oldObject } = objects;
  const going = isEmpty(object);
  const source = going ? oldObject : object;
  if (isEmpty(source))
    return { error: "extraction mode: expected an unstructured object, got *unstructured.Unstructured" };
  const templates = extractPodTemplates(source);
  if (templates.length === 0) {
    return { error: `extraction mode: no pod template found in ${text(source, "apiVersion")}/${text(source, "kind")}` };
  }
  const before = new Map(going ? [] : extractPodTemplates(oldObject).map(({ path, template }) => [path, template]));
  return templates.map(({ path, template }) => {
    const old = going ? template : before.get(path);
    return { path, request: podRequest(request, going ? undefined : template, old) };
  });
}

const isEmpty = (object: unknown): boolean => !isObject(object) || Object.keys(object).length === 0;

function search(value: unknown, path: string, found: PodTemplate[]): void {
  if (Array.isArray(value)) {
    value.forEach((item, i) => {
      search(item, `${path}[${i}]`, found);
    });
  } else if (isObject(value)) {
    if (isPodTemplate(value)) found.push({ path, template: value });
    else for (const key of Object.keys(value).sort(compareNames)) search(value[key], `${path}.${key}`, found);
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

/** The parent's request, about a pod. At least one of the templates is there. */
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
