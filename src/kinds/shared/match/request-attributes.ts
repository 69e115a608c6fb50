/**
 * The attributes of a request for matching: the resource and kind that the client addressed, before any conversion.
 */
import { type GroupVersionKind, type GroupVersionResource, sameResource } from "../../../kubernetes/names.js";
import type { AdmissionQuestion } from "../../../policy/review.js";

type AdmissionRequest = AdmissionQuestion["request"];

/** The parts of a request, made once for all policies. */
export interface RequestAttributes {
  readonly operation: string;
  /** The original resource (`requestResource`) and its kind (`requestKind`). */
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
  /** The resource and kind that the API server converted the objects to, because our webhook's rules name those; `undefined` when they are as addressed. */
  readonly converted: { readonly resource: GroupVersionResource; readonly kind: GroupVersionKind } | undefined;
  /** `""` when there is none; likewise namespace and name. */
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** `undefined` where the review has null. An object of Kubernetes, except where a group or raw review asks about any other value. */
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly request: AdmissionRequest;
}

/** The attributes of a request. The `request…` members, which old servers leave out, stand for the plain ones (spec validating-admission-policy.md 2.2). */
export function attributesOf(request: AdmissionRequest): RequestAttributes {
  return {
    operation: request.operation,
    resource: request.requestResource ?? request.resource,
    kind: request.requestKind ?? request.kind,
    converted: convertedTo(request),
    subresource: request.requestSubResource ?? request.subResource ?? "",
    namespace: request.namespace ?? "",
    name: request.name ?? "",
    object: request.object ?? undefined,
    oldObject: request.oldObject ?? undefined,
    request,
  };
}

function convertedTo({ requestResource, resource, kind }: AdmissionRequest): RequestAttributes["converted"] {
  return requestResource === undefined || sameResource(requestResource, resource) ? undefined : { resource, kind };
}

/** Whether the object has metadata: options of CONNECT have none, so selectors never match them (spec validating-admission-policy.md 3.5). */
export const hasMetadata = (attributes: RequestAttributes): boolean => attributes.operation !== "CONNECT";

const NO_KIND: GroupVersionKind = { group: "", version: "", kind: "" };
const NO_RESOURCE: GroupVersionResource = { group: "", version: "", resource: "" };

/** Any JSON value as a request: `object` is the value, all else is empty. */
export function attributesOfRaw(payload: unknown): RequestAttributes {
  return attributesOf({
    uid: "",
    kind: NO_KIND,
    resource: NO_RESOURCE,
    operation: "",
    userInfo: {},
    object: payload,
  });
}
