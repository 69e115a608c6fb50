/** How the objects of a cluster's kinds are merged: from the OpenAPI documents that it publishes (spec mutating-admission-policy.md 7). */
import { endWithin } from "../kubernetes/client/abort.js";
import type { Cluster } from "../kubernetes/client/index.js";
import {
  DOCUMENT_KEPT_MS,
  DOCUMENT_LIST_KEPT_MS,
  MAX_DOCUMENT_BYTES,
  MAX_DOCUMENTS,
  REQUEST_MS,
} from "../kubernetes/client/limits.js";
import { isObject, type JsonObject, member, text } from "../kubernetes/object.js";
import { documentSchemas, type VersionSchemas } from "../kubernetes/structured-merge/merge-schemas.js";
import { andThen, type Eventual } from "./eventual.js";
import { LookUps } from "./look-ups.js";
import { type Lookup, LookupFailure } from "./resources/resource-source.js";

/** Finds how objects are merged. */
export interface MergeTypes {
  /** The types of a group and version; `undefined` when they are not published, or cannot be converted. */
  version(group: string, version: string): Eventual<Lookup<VersionSchemas>>;
}

/** The form of a document's address in the cluster's list. */
const ADDRESS = /^(?<path>\/openapi\/v3\/[\w./-]+)(?:\?hash=(?<hash>\w+))?$/;
/** The list of documents. */
const LIST = "/openapi/v3";

/** The documents of a cluster. Its list says which have changed: only those are read again. */
export class ClusterMergeTypes implements MergeTypes {
  readonly #parts: Pick<Cluster, "http" | "now" | "signal">;
  readonly #list: LookUps<JsonObject>;
  readonly #documents: LookUps<VersionSchemas>;

  constructor(parts: Pick<Cluster, "http" | "now" | "signal">) {
    this.#parts = parts;
    this.#list = new LookUps(parts.now, { max: 1 });
    this.#documents = new LookUps(parts.now, { max: MAX_DOCUMENTS });
  }

  version(group: string, version: string): Eventual<Lookup<VersionSchemas>> {
    const list = this.#list.ask(
      LIST,
      () => this.#get(LIST, {}),
      () => DOCUMENT_LIST_KEPT_MS,
    );
    return andThen(list, (documents) => {
      if (documents === undefined || documents instanceof LookupFailure) return documents;
      const name = group === "" ? `api/${version}` : `apis/${group}/${version}`;
      const address = text(member(member(documents, "paths"), name), "serverRelativeURL");
      return address === "" ? undefined : this.#document(address, group, version);
    });
  }

  #document(address: string, group: string, version: string): Eventual<Lookup<VersionSchemas>> {
    const { path, hash } = ADDRESS.exec(address)?.groups ?? {};
    if (path === undefined || path.includes(".."))
      return new LookupFailure("the API server's list of documents is broken");
    const read = async (): Promise<VersionSchemas | undefined> => {
      const document = await this.#get(path, hash === undefined ? {} : { hash });
      return documentSchemas(document, group, version);
    };
    return this.#documents.ask(address, read, () => (hash === undefined ? DOCUMENT_LIST_KEPT_MS : DOCUMENT_KEPT_MS));
  }

  async #get(path: string, query: Readonly<Record<string, string>>): Promise<JsonObject> {
    const limit = endWithin(this.#parts.signal, REQUEST_MS);
    try {
      const { value } = await this.#parts.http.get(path, query, limit.signal, { maxBytes: MAX_DOCUMENT_BYTES });
      return isObject(value) ? value : {};
    } finally {
      limit.done();
    }
  }
}
