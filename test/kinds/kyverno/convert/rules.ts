/** Rules of old policies, converted and asked about objects. */
import { convertPolicy } from "../../../../src/kinds/kyverno/convert/index.js";
import { KyvernoEngine, mutatingEngine, preparePolicies } from "../../../../src/kinds/kyverno/index.js";
import type { PolicyResource } from "../../../../src/kinds/kyverno/resource.js";
import { builtinKinds, pluralOf } from "../../../../src/kubernetes/builtin-kinds.js";
import { parseApiVersion } from "../../../../src/kubernetes/names.js";
import { type JsonObject, member, nameOf, namespaceOf, text } from "../../../../src/kubernetes/object.js";
import type { AdmissionRequest } from "../../../../src/policy/index.js";
import { world } from "../asked.js";

/** A ClusterPolicy with one rule. @param kinds default Pod */
export const oldPolicy = (rule: JsonObject, kinds: readonly string[] = ["Pod"]): JsonObject => ({
  apiVersion: "kyverno.io/v1",
  kind: "ClusterPolicy",
  metadata: { name: "old" },
  spec: { rules: [{ name: "check", match: { any: [{ resources: { kinds } }] }, ...rule }] },
});

/** The documents of a policy, as they are read from a file. */
export function documentsOf(policy: JsonObject): readonly PolicyResource[] {
  const { reasons, rules } = convertPolicy(policy);
  const all = [...reasons, ...rules.flatMap((rule) => rule.reasons)];
  if (all.length > 0) throw new Error(all.map((reason) => reason.message).join());
  return rules.flatMap((rule) => rule.documents.map(({ value }) => JSON.parse(JSON.stringify(value))));
}

/** Why a policy is not converted: `PLACE: MESSAGE`. */
export function reasonsOf(policy: JsonObject): readonly string[] {
  const { reasons, rules } = convertPolicy(policy);
  return [...reasons, ...rules.flatMap((rule) => rule.reasons)].map(
    ({ path, message }) => `${path.slice(3).join(".")}: ${message}`,
  );
}

function requestOf(object: JsonObject): AdmissionRequest {
  const { group = "", version = "v1" } = parseApiVersion(text(object, "apiVersion")) ?? {};
  const kind = text(object, "kind");
  const resource = [...builtinKinds()].some((known) => known.kind === kind) ? pluralOf(kind) : `${kind.toLowerCase()}s`;
  return {
    uid: "u",
    kind: { group, version, kind },
    resource: { group, version, resource },
    operation: "CREATE",
    name: nameOf(object),
    ...(namespaceOf(object) !== "" && { namespace: namespaceOf(object) }),
    userInfo: { username: "kubernetes-admin" },
    object,
  } as AdmissionRequest;
}

function compiled(policy: JsonObject) {
  const { policies, failures } = preparePolicies(documentsOf(policy), []);
  if (failures.length > 0) throw new Error(failures.map((failure) => failure.text).join());
  return policies;
}

const decided = (engine: KyvernoEngine, object: JsonObject) => {
  const context = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
  return engine.decide({ kind: "admission", request: requestOf(object) }, context);
};

/** What a converted rule says of an object: `pass`, or the message of its failure. */
export async function judged(policy: JsonObject, object: JsonObject): Promise<string> {
  const engine = new KyvernoEngine(compiled(policy), { world: world(), flavour: "command-line" });
  const { responses } = await decided(engine, object);
  const [result] = responses.flatMap((response) => response.result ?? []);
  if (result === undefined) return "not asked";
  return result.status === "pass" ? "pass" : `${result.status}: ${result.message}`;
}

/** The object as converted rules leave it; or the error's text. */
export async function changed(policy: JsonObject, object: JsonObject): Promise<unknown> {
  const engine = mutatingEngine(compiled(policy), { world: world() });
  const { responses, failure, object: left = object } = await decided(engine, object);
  const error = responses.find(({ result }) => result?.status === "error");
  return error?.result?.message ?? failure?.message ?? left;
}

/** The expressions of the mutations of a policy. */
export const mutationsOf = (policy: JsonObject): readonly string[] =>
  documentsOf(policy).flatMap(({ spec }) =>
    (spec.mutations ?? []).map((mutation) => text(member(mutation, "jsonPatch"), "expression")),
  );
