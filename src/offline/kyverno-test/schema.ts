/** The fields of a test file, for strict decoding (spec kyverno.md 8.5). */
import { any, boolean, integer, list, string, struct } from "../../kinds/shared/decode/api-type.js";
import { OBJECT_META } from "../../kinds/shared/decode/object-meta.js";
import { VALUES_SPEC } from "../scan/circumstances-types.js";

const texts = list(string());

const RESULT = struct("v1alpha1.TestResult", {
  cloneSourceResource: string(),
  failOnMissingResources: boolean,
  generatedResource: string(),
  generatedResources: texts,
  isDeletingPolicy: boolean,
  isGeneratingPolicy: boolean,
  isImageValidatingPolicy: boolean,
  isMutatingAdmissionPolicy: boolean,
  isMutatingPolicy: boolean,
  isValidatingAdmissionPolicy: boolean,
  isValidatingPolicy: boolean,
  kind: string(),
  operation: string(),
  patchedResources: string(),
  policy: string(),
  resources: texts,
  resourceSpecs: list(
    struct("v1alpha1.TestResourceSpec", {
      group: string(),
      kind: string(),
      name: string(),
      namespace: string(),
      subresource: string(),
      version: string(),
    }),
  ),
  result: string(),
  rule: string(),
});

/** A document of a test file. The contents of mocks and entries are checked where they are used. */
export const TEST = struct("v1alpha1.Test", {
  apiCallResponses: list(
    struct("v1alpha1.APICallResponseEntry", {
      method: string(),
      response: struct("v1alpha1.APICallResponse", { body: any, statusCode: integer }),
      url: string(),
      urlPath: string(),
    }),
  ),
  apiVersion: string(),
  clusterResources: texts,
  context: string(),
  envoyPayloads: texts,
  exceptions: texts,
  globalContextEntries: list(
    struct("v1alpha1.GlobalContextEntryValue", {
      data: any,
      fieldPath: string(),
      name: string(),
      projections: list(struct("v1alpha1.GlobalContextProjection", { name: string(), path: string() })),
      resourceFiles: texts,
      resources: list(any),
    }),
  ),
  httpPayloads: texts,
  jsonPayload: string(),
  jsonPayloads: texts,
  kind: string(),
  metadata: OBJECT_META,
  name: string(),
  paramResources: texts,
  policies: texts,
  resources: texts,
  results: list(RESULT),
  targetResources: texts,
  userinfo: string(),
  values: VALUES_SPEC,
  variables: string(),
});
