/** Kyverno's policies as members that cannot decide, whatever they are asked about. */
import { createCompilers } from "../../src/kinds/kyverno/dialect.js";
import { KyvernoPolicySet } from "../../src/kinds/kyverno/policy.js";
import { prepareDocuments } from "../../src/kinds/kyverno/prepare-documents.js";
import type { JsonObject } from "../../src/kubernetes/object.js";
import type { Policy } from "../../src/policy/index.js";
import { NO_OPINION } from "../../src/world/authorizer/authorizer.js";
import { type ExternalData, NO_EXTERNAL } from "../../src/world/external.js";
import { FileResources } from "../../src/world/resources/file-resources.js";
import { LookupFailure, type ResourceSource } from "../../src/world/resources/resource-source.js";
import type { World } from "../../src/world/world.js";

const compilers = createCompilers();
/** 2026-03-01, for exceptions that expire. */
const NOW = 1_772_323_200_000;
const ALL = { apiGroups: ["*"], apiVersions: ["*"], operations: ["CREATE", "UPDATE", "DELETE", "CONNECT"] };

/** Rules that everything matches. */
export const EVERYTHING: JsonObject = { resourceRules: [{ ...ALL, resources: ["*", "*/*"] }] };

/** A policy, which denies what it can't decide unless `spec` says otherwise. */
export const document = (spec: JsonObject, name = "p"): JsonObject => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "ValidatingPolicy",
  metadata: { name },
  spec: { matchConstraints: EVERYTHING, ...spec },
});

/** An exception from the policy `p`, or another. */
export const exempting = (spec: JsonObject, policy = "p"): JsonObject => ({
  apiVersion: "policies.kyverno.io/v1",
  kind: "PolicyException",
  metadata: { name: `from-${policy}`, namespace: "default" },
  spec: { policyRefs: [{ name: policy, kind: "ValidatingPolicy" }], ...spec },
});

/** A source of objects of which nothing can be had; each question fails in its own way. */
export function away(fail: () => never | LookupFailure | Promise<never>): ExternalData {
  return { ...NO_EXTERNAL, objects: { get: fail, list: fail, create: fail, resourceOf: fail } };
}

const AWAY = (): LookupFailure => new LookupFailure("the cluster is away");
const REFUSED = (): Promise<never> => Promise.reject(new Error("connection refused"));

/** Documents made ready to be asked, or what is wrong with them. */
export function taken(documents: readonly JsonObject[], more: Partial<World> = {}): Policy | string {
  const place = { file: "f", line: 1, column: 1 };
  const { policies, problems } = prepareDocuments(
    documents.map((value) => ({
      value,
      problem: (severity, path, message) => ({ severity, path, message, ...place }),
    })),
    { compilers, now: NOW },
  );
  const error = problems.find(({ severity }) => severity === "error");
  if (error !== undefined) return `${error.path.join(".")}: ${error.message}`;
  const world = { resources: new FileResources([]), authorizer: NO_OPINION, now: () => 0, ...more };
  return new KyvernoPolicySet(policies, { id: "k", world });
}

/** Documents made ready to be asked. Throws where one has a mistake. */
export function prepared(documents: readonly JsonObject[], more: Partial<World> = {}): Policy {
  const policy = taken(documents, more);
  if (typeof policy === "string") throw new Error(policy);
  return policy;
}

/** Policies that fail in each way there is. What they would decide is that of their last validation. */
export function kyvernoFailures(): readonly { readonly name: string; readonly policy: Policy }[] {
  const valid = [{ expression: "true" }];
  const way = (name: string, spec: JsonObject, more: Partial<World> = {}, ...others: JsonObject[]) => ({
    name: `kyverno: ${name}`,
    policy: prepared([document({ validations: valid, ...spec }), ...others], more),
  });
  const asks = (expression: string): JsonObject => ({ validations: [{ expression }, ...valid] });
  const nobody = { get: AWAY, list: AWAY, namespaced: AWAY, namespace: AWAY } as Partial<ResourceSource>;
  const get = "resource.Get('v1', 'configmaps', 'default', 'limits')";
  return [
    way("an error in a validation", asks("object.nope.x == 1")),
    way("an error in a validation whose denials nobody hears of", {
      ...asks("1 / 0 == 1"),
      failurePolicy: "Ignore",
      validationActions: ["Deny", "Audit"],
    }),
    way("an error in a match condition", { matchConditions: [{ name: "c", expression: "1 / 0 == 1" }] }),
    way("an error in a variable", {
      variables: [{ name: "v", expression: "[1][2]" }],
      ...asks("variables.v == 1"),
    }),
    way("an error in an audit annotation", {
      auditAnnotations: [{ key: "k", valueExpression: "string(1 / 0)" }],
    }),
    way(
      "an error in an exception's condition",
      {},
      {},
      exempting({ matchConditions: [{ name: "c", expression: "object.nope.x == 1" }] }),
    ),
    way("objects of nobody", asks(`${get}.data.x == 'y'`)),
    way("objects of a cluster that is away", asks(`${get}.data.x == 'y'`), { external: away(AWAY) }),
    way("objects of a cluster that is away, denied", asks(`${get}.data.x != 'y'`), { external: away(AWAY) }),
    way("objects of a cluster that rejects", asks(`${get}.data.x != 'y'`), { external: away(REFUSED) }),
    way("a list of a cluster that rejects", asks("resource.List('v1', 'pods', '').items.size() < 9"), {
      external: away(REFUSED),
    }),
    way("an address that may not be asked", asks("http.Get('http://127.0.0.1:1/').ok == true")),
    way("an entry that is not there", asks("globalContext.Get('e', '') == null")),
    way("an image that cannot be looked up", asks("image.GetMetadata('nginx:1').digest != ''")),
    way("a Namespace that cannot be had", asks("namespaceObject.metadata.name != 'x'"), {
      resources: nobody as ResourceSource,
    }),
  ];
}
