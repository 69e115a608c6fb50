/** External data of Kyverno's command line without a cluster (spec kyverno.md 4.7). Not for a server: here unknown objects may count as absent. */

import type { JsonObject } from "../kubernetes/object.js";
import { FixedEntries } from "./entries/fixed-entries.js";
import { type ExternalData, NO_TRUST } from "./external.js";
import type { HttpSource } from "./http/http-source.js";
import { MockedHttp } from "./http/mocked-http.js";
import { ContextImages } from "./images/context-images.js";
import type { ImageSource } from "./images/image-source.js";
import type { ImageTrust } from "./images/image-trust.js";
import { type ContextObject, ContextObjects } from "./objects/context-objects.js";
import type { ObjectSource } from "./objects/object-source.js";

/** The data in files. */
export interface OfflineData {
  /** Objects of a context file. */
  readonly objects?: readonly ContextObject[];
  /** RoleBindings and ClusterRoleBindings beside them. */
  readonly bindings?: readonly JsonObject[];
  /** Images of a context file, by reference. */
  readonly images?: ReadonlyMap<string, JsonObject>;
  /** Entries of a test, by name. */
  readonly entries?: ReadonlyMap<string, unknown>;
  /** Answers of a test, by `METHOD:url` or `url`. */
  readonly mocks?: ReadonlyMap<string, JsonObject>;
}

const boundBy = (object: JsonObject): ContextObject => ({
  resource: {
    group: "rbac.authorization.k8s.io",
    version: "v1",
    resource: object.kind === "RoleBinding" ? "rolebindings" : "clusterrolebindings",
  },
  object,
});

/**
 * The data of `apply` and `test`.
 * @param network asked where no mock answers
 * @param trust asked about images' signatures
 * @param others asked about images that no context file describes
 */
export const commandLineData = (
  { objects = [], bindings = [], images = new Map(), entries = new Map(), mocks = new Map() }: OfflineData,
  network: HttpSource,
  trust: ImageTrust = NO_TRUST,
  others?: ImageSource,
): ExternalData => ({
  objects: new ContextObjects([...bindings.map(boundBy), ...objects]),
  http: new MockedHttp(mocks, network),
  images: new ContextImages(images, others),
  trust,
  entries: new FixedEntries(entries),
});

/**
 * The data of a test with cluster resources: the context file, mocks and entries are ignored (spec kyverno.md 8.6).
 * @param objects the test's resources and those of its cluster
 */
export const fakeClusterData = (
  objects: ObjectSource,
  network: Pick<ExternalData, "http" | "images" | "trust">,
): ExternalData => ({
  objects,
  http: network.http,
  images: network.images,
  trust: network.trust,
  entries: new FixedEntries(),
});
