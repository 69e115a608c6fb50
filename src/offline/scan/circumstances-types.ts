/** Types of values and user information for strict decoding (spec kyverno.md 8.6). */
import { type ApiType, any, boolean, list, map, string, struct } from "../../kinds/shared/decode/api-type.js";
import { OBJECT_META } from "../../kinds/shared/decode/object-meta.js";

const texts = list(string());

const NAMESPACE = struct("v1.Namespace", {
  apiVersion: string(),
  kind: string(),
  metadata: OBJECT_META,
  spec: struct("v1.NamespaceSpec", { finalizers: texts }),
  status: struct("v1.NamespaceStatus", { conditions: any, phase: string() }),
});

const API_RESOURCE = struct("v1.APIResource", {
  categories: texts,
  group: string(),
  kind: string(),
  name: string(),
  namespaced: boolean,
  shortNames: texts,
  singularName: string(),
  storageVersionHash: string(),
  verbs: texts,
  version: string(),
});

/** Fields of values, in any file. Those for policies are for the old language. */
const VALUES_FIELDS: Readonly<Record<string, ApiType>> = {
  globalValues: map(any),
  namespaces: list(NAMESPACE),
  namespaceSelector: list(struct("v1alpha1.NamespaceSelector", { labels: map(string()), name: string() })),
  policies: list(
    struct("v1alpha1.Policy", {
      name: string(),
      resources: list(struct("v1alpha1.Resource", { name: string(), values: map(any) })),
      rules: list(struct("v1alpha1.Rule", { foreachValues: map(list(any)), name: string(), values: map(any) })),
    }),
  ),
  subresources: list(struct("v1alpha1.Subresource", { parentResource: API_RESOURCE, subresource: API_RESOURCE })),
};

/** Values in a test file. */
export const VALUES_SPEC = struct("v1alpha1.ValuesSpec", VALUES_FIELDS);

const FILE_FIELDS = { apiVersion: string(), kind: string(), metadata: OBJECT_META };

/** A file with values. */
export const VALUES = struct("v1alpha1.Values", { ...FILE_FIELDS, ...VALUES_FIELDS });

/** A file with user information. */
export const USER_INFO = struct("v1alpha1.UserInfo", {
  ...FILE_FIELDS,
  clusterRoles: texts,
  roles: texts,
  userInfo: struct("v1.UserInfo", { extra: map(texts), groups: texts, uid: string(), username: string() }),
});
