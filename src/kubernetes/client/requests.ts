/** Requests to an API server: reads with their limits, and writes. */
import { stringifyJson } from "../../data/json.js";

/** Names and values behind the `?`. */
export type Query = Readonly<Record<string, string>>;

/** One request. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** The query; URLSearchParams where names are repeated. */
  readonly query: Query | URLSearchParams;
  readonly body?: unknown;
  /** Content type of the body; default JSON. */
  readonly contentType?: string;
  /** Content type of the answer; default JSON. */
  readonly accept?: string;
  /** Longest silence of an endless answer; absent for others. */
  readonly silence?: number;
}

/** Content types of lists and of events in which objects have only their metadata. */
export const METADATA_ONLY = {
  list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  watch: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
} as const;

/** Options of a request for one document. */
export interface DocumentOptions {
  /** Content type of the answer; default JSON. */
  readonly accept?: string;
  /** Most bytes of its text; default {@link import("./limits.js").MAX_ANSWER_BYTES}. */
  readonly maxBytes?: number;
  /** Most values in it, where others choose the document: a text of brackets blocks the thread while it is parsed. */
  readonly maxValues?: number;
  /** Whether it is never sent a second time, even if the server has put it off or refused the credentials. */
  readonly once?: boolean;
}

/** Options of writing an object. */
export interface WriteOptions extends DocumentOptions {
  /** The manager of the written fields; absent: the API server uses the name of the client program. */
  readonly fieldManager?: string;
  /** Whether the server only answers with the result, and keeps nothing. */
  readonly dryRun?: boolean;
  /** Further query parameters, such as `fieldValidation`. */
  readonly query?: Query;
}

/** Options of applying an object. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Whether others who manage the same fields give way; default true, as it should be for a controller. False: that is a conflict (409). */
  readonly force?: boolean;
}

/** Options of deleting an object. */
export interface DeleteOptions extends Omit<WriteOptions, "fieldManager"> {
  /** The object that is to be deleted; another one is a conflict (409). */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  /** The treatment of the objects that it owns; default: that of its kind. */
  readonly propagationPolicy?: "Foreground" | "Background" | "Orphan";
}

/** `json`: a list of operations (RFC 6902); `merge`: an object, in which null removes (RFC 7386). */
export type PatchType = "json" | "merge";

/** Content types of patches; JSON is YAML too. */
const PATCH_TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** The request that creates an object in a collection, or asks a subresource such as `eviction`. */
export const createRequest = (path: string, body: unknown, options: WriteOptions): ApiRequest => ({
  method: "POST",
  path,
  query: writeQuery(options),
  body,
});

/** The request that replaces an object, or its subresource. With `metadata.resourceVersion` in the body only that version is replaced. */
export const replaceRequest = (path: string, body: unknown, options: WriteOptions): ApiRequest => ({
  method: "PUT",
  path,
  query: writeQuery(options),
  body,
});

/** The request that changes an object by a patch. */
export const patchRequest = (path: string, type: PatchType, body: unknown, options: WriteOptions): ApiRequest => ({
  method: "PATCH",
  path,
  query: writeQuery(options),
  body,
  contentType: PATCH_TYPES[type],
});

/** The request that applies a configuration. */
export const applyRequest = (path: string, body: unknown, options: ApplyOptions): ApiRequest => ({
  method: "PATCH",
  path,
  query: { ...writeQuery(options), force: String(options.force ?? true) },
  body,
  contentType: PATCH_TYPES.apply,
});

/** The request that deletes an object. */
export function deleteRequest(path: string, options: DeleteOptions): ApiRequest {
  const { preconditions, propagationPolicy } = options;
  const body = { kind: "DeleteOptions", apiVersion: "v1", ...(preconditions && { preconditions }) };
  return {
    method: "DELETE",
    path,
    query: { ...writeQuery(options), ...(propagationPolicy && { propagationPolicy }) },
    body,
  };
}

function writeQuery({ fieldManager, dryRun, query }: WriteOptions): Query {
  return { ...query, ...(fieldManager && { fieldManager }), ...(dryRun && { dryRun: "All" }) };
}

/** Characters that a YAML reader refuses or takes for a line end, while JSON allows them; control characters below are escaped in JSON already. */
const UNLIKE_YAML = /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/g;

/** The text of a request's body. API servers read applied configurations as YAML. */
export function bodyText({ body, contentType }: ApiRequest): string | undefined {
  if (body === undefined) return undefined;
  const text = stringifyJson(body);
  if (contentType !== PATCH_TYPES.apply) return text;
  return text.replace(UNLIKE_YAML, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
