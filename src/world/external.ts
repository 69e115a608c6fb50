/** The data that expressions may fetch themselves, beside the look-ups of their kind: one interface for all sources. */

import { type JsonObject, text } from "../kubernetes/object.js";
import { NO_CLIENT } from "../kubernetes/reader.js";
import { type EntryKeeper, WrittenEntries } from "./entries/defined-entries.js";
import type { EntrySource } from "./entries/entry-source.js";
import { type HttpSource, NOT_IN_NAMESPACES } from "./http/http-source.js";
import type { ImageSource } from "./images/image-source.js";
import type { ImageTrust } from "./images/image-trust.js";
import { LayeredObjects } from "./objects/layered-objects.js";
import { MemoryObjects } from "./objects/memory-objects.js";
import type { ObjectSource } from "./objects/object-source.js";
import { LookupFailure } from "./resources/resource-source.js";

/** The sources of data. Shared by all requests. */
export interface ExternalData {
  readonly objects: ObjectSource;
  readonly http: HttpSource;
  readonly images: ImageSource;
  readonly trust: ImageTrust;
  readonly entries: EntrySource;
  /** Keeps the data of entries that stand beside policies; absent: these entries are ignored. */
  readonly keeper?: EntryKeeper;
}

const noClient = () => new LookupFailure(NO_CLIENT);
const notSetUp = () => new LookupFailure("nothing outside of the request may be asked here");

/** Stands in for a missing cluster: which objects exist is not known, so that none counts as absent. */
export const NO_OBJECTS: ObjectSource = { get: noClient, list: noClient, create: noClient, resourceOf: noClient };

/** Stands in where no entries can be known. */
export const NO_ENTRIES: EntrySource = { get: noClient };

/** Stands in where no image can be looked at. */
export const NO_TRUST: ImageTrust = { digest: notSetUp, verdict: notSetUp, artifact: notSetUp };

/** No sources: every question fails, so that nothing is allowed by mistake. */
export const NO_EXTERNAL: ExternalData = {
  objects: NO_OBJECTS,
  http: { send: ({ namespaced }) => (namespaced ? NOT_IN_NAMESPACES : notSetUp()) },
  images: { metadata: notSetUp },
  trust: NO_TRUST,
  entries: NO_ENTRIES,
};

/** The data for policies with documents: these are objects, too, and GlobalContextEntries among them are entries. */
export function externalWith(objects: readonly JsonObject[], outer: ExternalData = NO_EXTERNAL): ExternalData {
  if (objects.length === 0) return outer;
  const { keeper } = outer;
  const layered = new LayeredObjects(new MemoryObjects(objects), outer.objects);
  const written = objects.filter(isEntry);
  if (keeper === undefined || written.length === 0) return { ...outer, objects: layered };
  return { ...outer, objects: layered, entries: new WrittenEntries(written, keeper, outer.entries) };
}

const isEntry = (object: JsonObject): boolean =>
  text(object, "kind") === "GlobalContextEntry" && text(object, "apiVersion").startsWith("kyverno.io/");
