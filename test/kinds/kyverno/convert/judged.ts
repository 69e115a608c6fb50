/** Old policies, converted and judging. */
import assert from "node:assert/strict";
import {
  type Circumstances,
  convertException,
  convertPolicy,
  type PolicyConversion,
} from "../../../../src/kinds/kyverno/convert/index.js";
import { KyvernoEngine, preparePolicies } from "../../../../src/kinds/kyverno/index.js";
import { readResource } from "../../../../src/kinds/kyverno/read.js";
import type { ExceptionResource, PolicyResource } from "../../../../src/kinds/kyverno/resource.js";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import { KnownKinds } from "../../../../src/offline/scan/known-kinds.js";
import { admissionInput, requestFor } from "../../../../src/offline/scan/request.js";
import { NO_OPINION } from "../../../../src/world/authorizer/authorizer.js";
import { NO_EXTERNAL } from "../../../../src/world/external.js";
import { commandLineData } from "../../../../src/world/offline-values.js";
import { FileResources } from "../../../../src/world/resources/file-resources.js";

/** A document, or a part of one. */
export type Json = Readonly<Record<string, unknown>>;

/** A policy of one rule that objects to all that it is about. @param rule more of the rule @param more of the policy */
export const policyOf = (rule: Json, spec: Json = {}, more: Json = {}): JsonObject => ({
  apiVersion: "kyverno.io/v1",
  kind: "ClusterPolicy",
  metadata: { name: "p" },
  ...more,
  spec: {
    background: false,
    rules: [
      { name: "check", match: matching({ kinds: ["ConfigMap"] }), validate: { message: "matched", deny: {} }, ...rule },
    ],
    ...spec,
  },
});

/** `match` with a block of resources for each. */
export const matching = (...resources: readonly Json[]): Json => ({
  any: resources.map((each) => ({ resources: each })),
});

/** An object of any kind, such as `Pod` or `apps/v1/Deployment`. */
export const object = (kind: string, name: string, namespace = "shop", more: Json = {}): JsonObject => ({
  apiVersion: kind.includes("/") ? kind.slice(0, kind.lastIndexOf("/")) : "v1",
  kind: kind.slice(kind.lastIndexOf("/") + 1),
  ...more,
  metadata: { name, ...(namespace !== "" && { namespace }), ...(more.metadata as Json) },
});

/** The conversion of a policy, without reasons. */
export function converted(policy: JsonObject, circumstances: Circumstances = {}): PolicyConversion {
  const made = convertPolicy(policy, circumstances);
  assert.deepEqual(reasonsOf(made), []);
  return made;
}

export const reasonsOf = ({ rules, reasons }: PolicyConversion): readonly string[] =>
  [...reasons, ...rules.flatMap((rule) => rule.reasons)].map(({ path, message }) => `${path.join(".")}: ${message}`);

/** The specs of all documents. */
export const specsOf = ({ rules }: PolicyConversion): readonly PolicyResource["spec"][] =>
  documentsOf({ rules }).map(({ spec }) => spec as PolicyResource["spec"]);

export const documentsOf = ({ rules }: Pick<PolicyConversion, "rules">): readonly JsonObject[] =>
  rules.flatMap(({ documents }) => documents.map(({ value }) => value));

/** Circumstances of requests. */
export interface Situation {
  readonly operation?: "CREATE" | "DELETE" | "UPDATE";
  readonly user?: Json;
  readonly namespaces?: Readonly<Record<string, Record<string, string>>>;
  /** Objects that policies look up. */
  readonly objects?: readonly JsonObject[];
  readonly exceptions?: readonly JsonObject[];
}

/** What the policies come to for each object: `pass`, `fail MESSAGE`, `skip`, `error MESSAGE`, or `-` where none is about it. */
export async function judged(
  conversion: PolicyConversion,
  objects: readonly JsonObject[],
  { operation = "CREATE", user, namespaces = {}, objects: known = [], exceptions = [] }: Situation = {},
): Promise<readonly string[]> {
  const read = (value: unknown): unknown => {
    const found = readResource(JSON.parse(JSON.stringify(value)));
    assert.ok("resource" in found, JSON.stringify(found));
    return found.resource;
  };
  const resources = documentsOf(conversion).map((each) => read(each) as PolicyResource);
  const { policies, failures } = preparePolicies(
    resources,
    exceptions.map((each) => read(each) as ExceptionResource),
  );
  assert.deepEqual(
    failures.map((each) => each.text),
    [],
  );
  const spaces = Object.entries(namespaces).map(([name, labels]) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels },
  }));
  const data = known.map((each) => ({
    object: each,
    resource: { group: "rbac.authorization.k8s.io", version: "v1", resource: `${String(each.kind).toLowerCase()}s` },
  }));
  const world = {
    resources: new FileResources(spaces),
    authorizer: NO_OPINION,
    external: commandLineData({ objects: data }, NO_EXTERNAL.http),
    now: () => 0,
  };
  const engine = new KyvernoEngine(policies, { world, flavour: "command-line" });
  const answers = [];
  for (const each of objects) {
    const { apiVersion, kind, metadata } = each as {
      apiVersion: string;
      kind: string;
      metadata: { name: string; namespace?: string };
    };
    const at = apiVersion.lastIndexOf("/");
    const [group, version] = [apiVersion.slice(0, Math.max(at, 0)), apiVersion.slice(at + 1)];
    const resource = {
      object: each,
      kind,
      apiVersion,
      group,
      version,
      name: metadata.name,
      namespace: metadata.namespace ?? "",
      uid: "",
      resourceVersion: "",
    };
    const request = requestFor(resource, { kinds: new KnownKinds(), operation, user, subresources: [] });
    const { responses, failure } = await engine.decide(admissionInput(request), {
      deadline: Number.POSITIVE_INFINITY,
      signal: new AbortController().signal,
    });
    assert.equal(failure, undefined);
    const results = responses
      .flatMap(({ result }) => result ?? [])
      .map(({ status, message }) => (status === "fail" || status === "error" ? `${status} ${message}` : status));
    answers.push(results.length === 0 ? "-" : results.join(" "));
  }
  return answers;
}

/** The names of the objects that a rule judges. */
export async function judgedNames(
  rule: Json,
  objects: readonly JsonObject[],
  situation: Situation = {},
  more: Json = {},
): Promise<readonly string[]> {
  const answers = await judged(converted(policyOf(rule, {}, more)), objects, situation);
  return objects.flatMap(({ metadata }, index) =>
    answers[index]?.startsWith("fail") === true ? [(metadata as { name: string }).name] : [],
  );
}

/** An exception, converted for one policy. */
export const exempted = (spec: Json, policy: JsonObject) =>
  convertException(
    {
      apiVersion: "kyverno.io/v2",
      kind: "PolicyException",
      metadata: { name: "e", namespace: "ops" },
      spec: spec as JsonObject,
    },
    [{ policy, conversion: converted(policy) }],
  );
