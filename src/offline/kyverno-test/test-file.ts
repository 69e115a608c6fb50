/** Reads test files in Kyverno's format (spec kyverno.md 8.5). */
import { normalize } from "node:path/posix";
import { parseYamlDocuments } from "../../data/yaml.js";
import type { MockedResponse, WrittenEntry } from "../../kinds/kyverno/offline/index.js";
import { any, boolean, integer, list, string, struct } from "../../kinds/shared/decode/api-type.js";
import { decodeAsGo } from "../../kinds/shared/decode/go-json.js";
import { OBJECT_META } from "../../kinds/shared/decode/object-meta.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { VALUES_SPEC } from "../scan/circumstances-types.js";

// The fields of a test file, for strict decoding (spec kyverno.md 8.5).

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
const TEST = struct("v1alpha1.Test", {
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

/** A resource whose name is ambiguous. */
export interface ResourceSpec {
  readonly group?: string;
  readonly version?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** The expected result of a policy. */
export interface ExpectedResult {
  /** `name` or `namespace/name`; only the name counts. */
  readonly policy?: string;
  readonly rule?: string;
  /** `pass`, `fail`, `skip`, `error` or `warn`. */
  readonly result?: string;
  /** The kind of the resources, which chooses none of them. */
  readonly kind?: string;
  /** `name` or `namespace/name`; absent: every resource. */
  readonly resources?: readonly string[];
  /** Read only beside `resources`. */
  readonly resourceSpecs?: readonly ResourceSpec[];
  /** The operation of a separate evaluation. */
  readonly operation?: string;
  /** A file with the resources after mutations. */
  readonly patchedResources?: string;
  /** Whether a resource that is not in that file is a failure; default: there is no row about it. */
  readonly failOnMissingResources?: boolean;
}

/** A test: one document of a test file. Paths are relative to the file. */
export interface TestDocument {
  readonly apiVersion?: string;
  readonly kind?: string;
  /** The name in the format before `metadata.name`, which is refused. */
  readonly name?: string;
  readonly policies: readonly string[];
  readonly resources: readonly string[];
  readonly exceptions: readonly string[];
  readonly jsonPayloads: readonly string[];
  readonly httpPayloads: readonly string[];
  readonly envoyPayloads: readonly string[];
  readonly clusterResources: readonly string[];
  /** Parameters of ValidatingAdmissionPolicies. */
  readonly paramResources: readonly string[];
  readonly apiCallResponses: readonly MockedResponse[];
  readonly globalContextEntries: readonly WrittenEntry[];
  readonly results: readonly ExpectedResult[];
  /** A file with values. */
  readonly variables?: string;
  /** Values; they take precedence over the file. */
  readonly values?: JsonObject;
  readonly userinfo?: string;
  readonly context?: string;
}

/** The tests of a file, or the reason why it cannot be used, in Kyverno's words. */
export type TestFileResult =
  | { readonly ok: true; readonly tests: readonly TestDocument[] }
  | { readonly ok: false; readonly error: string };

/** Parses a test file: any number of documents; unknown fields are errors. */
export function parseTestFile(text: string): TestFileResult {
  let documents: unknown[];
  try {
    documents = parseYamlDocuments(text, { uniqueKeys: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, error: `error converting YAML to JSON: yaml: ${reason}` };
  }
  const tests: TestDocument[] = [];
  for (const document of documents) {
    const decoded = decodeAsGo(document, TEST);
    if (!decoded.ok) return { ok: false, error: `error unmarshaling JSON: while decoding JSON: ${decoded.error}` };
    tests.push(cleaned(decoded.value as Written));
  }
  return { ok: true, tests };
}

/** A document as written: any field may be absent. */
type Written = Partial<TestDocument> & { readonly jsonPayload?: string };

function cleaned({ jsonPayload = "", ...written }: Written): TestDocument {
  const { policies = [], resources = [], exceptions = [], jsonPayloads = [], results = [] } = written;
  const { httpPayloads = [], envoyPayloads = [], clusterResources = [], paramResources = [] } = written;
  const { apiCallResponses = [], globalContextEntries = [] } = written;
  const payloads = jsonPayloads.length > 0 ? jsonPayloads : [jsonPayload];
  return {
    ...written,
    policies: unique(policies),
    resources: unique(resources),
    exceptions,
    // Results name payloads by these paths.
    jsonPayloads: unique(payloads.filter((path) => path.trim() !== "").map((path) => normalize(path))),
    httpPayloads,
    envoyPayloads,
    clusterResources,
    paramResources,
    apiCallResponses,
    globalContextEntries,
    results,
  };
}

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];
