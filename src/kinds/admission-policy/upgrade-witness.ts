/** The search for a request that two releases of Kubernetes decide differently under a policy. */
import { toJson, type UpgradeSample, type UpgradeSamples } from "../../cel/index.js";
import { parseJson, stringifyJson } from "../../data/json.js";
import { builtinKinds, builtinNamespaced, pluralOf } from "../../kubernetes/builtin-kinds.js";
import { mismatchOf } from "../../kubernetes/go-types/as-struct.js";
import { apiVersionOf, type GroupVersionKind, parseApiVersion } from "../../kubernetes/names.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import type { Outcome } from "../../policy/outcome.js";
import type { Policy } from "../../policy/policy.js";
import type { AdmissionQuestion } from "../../policy/review.js";
import { asStored, FileResources } from "../../world/resources/file-resources.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import type { OuterWorld } from "../../world/world.js";
import type { LabelSelector } from "../shared/match/label-selector.js";
import type { CommonBindingSpec, CommonPolicySpec } from "./resource.js";

/** A policy as one release evaluates it. */
export type Evaluated = (world: OuterWorld) => Policy;

/** A policy that two releases are asked about. */
export interface UpgradedPolicy {
  readonly spec: CommonPolicySpec;
  readonly bindings: readonly CommonBindingSpec[];
  readonly before: Evaluated;
  readonly after: Evaluated;
}

/** Most samples of a policy of which something may change; of one that can only be too expensive, and of the attempts to make a witness smaller. */
const MOST_SAMPLES = 2_000;
const FEW_SAMPLES = 100;
const MOST_CUTS = 300;
/** Milliseconds after which no further sample is tried, so that expressions without bounds do not hold up a check. */
const MOST_MILLISECONDS = 2_000;

/** The request, and what else decides. */
type Witness = {
  readonly request: JsonObject;
  readonly namespaceObject?: JsonObject;
  readonly params?: JsonObject;
  readonly authorizer?: "allow" | "deny";
};

/** A witness, as it is decided. */
interface Asked {
  readonly witness: Witness;
  readonly before: Decision;
  readonly after: Decision;
}

/** An outcome as a decision: which mutations, or a refusal. The text of a refusal does not belong to it. */
interface Decision {
  readonly key: string;
  readonly words: string;
  readonly fields: readonly string[];
}

/** The search for a witness, with data for the policy's expressions (disposable). */
export class WitnessSearch {
  /** The number of requests that were tried. */
  tried = 0;
  readonly #policy: UpgradedPolicy;
  readonly #samples: UpgradeSamples;
  readonly #targets: readonly Target[];

  constructor(policy: UpgradedPolicy, samples: UpgradeSamples) {
    this.#policy = policy;
    this.#samples = samples;
    this.#targets = targetsOf(policy.spec);
  }

  /** @param briefly whether little is expected */
  run(briefly: boolean): Asked | undefined {
    const ends = performance.now() + MOST_MILLISECONDS;
    let close: { readonly sample: UpgradeSample; readonly distance: number } | undefined;
    for (
      let i = 0;
      i < (briefly ? FEW_SAMPLES : MOST_SAMPLES) && performance.now() < ends && this.#targets.length > 0;
      i++
    ) {
      const sample = this.#samples.next(i % 4 === 0 ? undefined : close?.sample);
      const asked = this.#ask(this.#witness(sample));
      if (asked === undefined) continue;
      this.tried += 1;
      if (asked.before.key !== asked.after.key) {
        // The printed witness counts: it must be decided so when it is read.
        const again = this.#ask(parseJson(stringifyJson(asked.witness)) as Witness);
        if (again !== undefined && again.before.key !== again.after.key) return this.#smaller(again);
      }
      // Where some expressions differ and others deny, those must be made to hold.
      const [was, is] = [asked.before.fields, asked.after.fields];
      if (was.length === is.length) continue;
      const distance = was.filter((field) => is.includes(field)).length;
      if (close === undefined || distance <= close.distance) close = { sample, distance };
    }
    return undefined;
  }

  #witness(sample: UpgradeSample): Witness {
    const { spec, bindings } = this.#policy;
    const made = (name: string): JsonObject => {
      const value = sample.bindings[name];
      const json = value === undefined ? {} : toJson(value);
      return isObject(json) ? json : {};
    };
    const { kind, resource, operation } = this.#targets[sample.number % this.#targets.length] as Target;
    const asked = made("request");
    const [object, oldObject] = [made("object"), made("oldObject")];
    const name = text(object.metadata, "name") || text(asked, "name") || "sample";
    const isNamespaced = builtinNamespaced(kind) ?? true;
    const namespace = isNamespaced ? text(object.metadata, "namespace") || text(asked, "namespace") || "default" : "";
    const place = { name, ...(isNamespaced && { namespace }) };
    const { namespaceSelector, objectSelector } = spec.matchConstraints ?? {};
    const described = (of: JsonObject): JsonObject => ({
      ...of,
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: withLabels({ ...(isObject(of.metadata) && of.metadata), ...place }, objectSelector),
    });
    const { userInfo = { username: "sample" }, dryRun } = asked;
    const request = {
      uid: "",
      kind,
      resource,
      ...place,
      operation,
      userInfo,
      ...(operation !== "DELETE" && { object: described(object) }),
      ...(operation !== "CREATE" && operation !== "CONNECT" && { oldObject: described(oldObject) }),
      ...(typeof dryRun === "boolean" && { dryRun }),
    };
    const reads = (word: string): boolean => sample.bindings[word] !== undefined;
    const ofNamespace = made("namespaceObject");
    const metadata = { ...(isObject(ofNamespace.metadata) && ofNamespace.metadata), name: namespace };
    const seesNamespace = isNamespaced && (reads("namespaceObject") || Object.keys(namespaceSelector ?? {}).length > 0);
    return {
      request,
      ...(seesNamespace && { namespaceObject: { ...ofNamespace, metadata: withLabels(metadata, namespaceSelector) } }),
      ...(bindings.some(({ paramRef }) => paramRef) && { params: made("params") }),
      ...((reads("authorizer") || reads("authorizer.requestResource")) && {
        authorizer: sample.number % 2 === 0 ? "allow" : "deny",
      }),
    };
  }

  /** Both decisions; undefined where no server is asked this, or one cannot decide. */
  #ask(made: Witness): Asked | undefined {
    const { namespaceObject, params, authorizer } = made;
    const request = { ...made.request };
    for (const member of ["object", "oldObject"]) {
      if (!isObject(request[member])) continue;
      const stored = asStored(request[member]);
      if (stored instanceof LookupFailure) return undefined;
      request[member] = stored;
    }
    const documents = [
      ...(namespaceObject ? [{ apiVersion: "v1", kind: "Namespace", ...namespaceObject }] : []),
      ...(params ? this.#parameters(params, text(request, "namespace")) : []),
    ];
    if (documents.some((document) => mismatchOf(document) !== undefined)) return undefined;
    const decision = authorizer === "deny" ? "deny" : "allow";
    const world = worldWith(documents, decision);
    const review = { kind: "admission", request, requestBytes: () => NO_BYTES } as unknown as AdmissionQuestion;
    const [before, after] = [this.#policy.before, this.#policy.after].map((release) =>
      decisionOf(release(world).evaluate(review, { deadline: Number.POSITIVE_INFINITY, signal: NEVER })),
    );
    return before && after && { witness: { ...made, request }, before, after };
  }

  /** The parameters of each binding: the same, by the names that they look for. */
  #parameters(params: JsonObject, namespace: string): readonly JsonObject[] {
    const { paramKind } = this.#policy.spec;
    const { apiVersion = "", kind = "" } = paramKind ?? {};
    const version = parseApiVersion(apiVersion);
    const isNamespaced = version && builtinNamespaced({ ...version, kind });
    return this.#policy.bindings.flatMap(({ paramRef }) => {
      if (paramRef === undefined) return [];
      const { name = "sample", namespace: own = isNamespaced === true ? namespace : "", selector } = paramRef;
      const metadata = {
        ...(isObject(params.metadata) && params.metadata),
        name,
        ...(own !== "" && { namespace: own }),
      };
      return [{ ...params, apiVersion, kind, metadata: withLabels(metadata, selector) }];
    });
  }

  /** The same difference with as little data as possible. */
  #smaller(found: Asked): Asked {
    let best = found;
    let left = MOST_CUTS;
    for (let again = true; again; ) {
      again = false;
      for (const witness of smaller(best.witness)) {
        if (left-- <= 0) return best;
        const asked = this.#ask(witness as Witness);
        if (asked === undefined || asked.before.key === asked.after.key) continue;
        if (stringifyJson(asked.witness).length >= stringifyJson(best.witness).length) continue;
        best = asked;
        again = true;
        break;
      }
    }
    return best;
  }
}

/** Members of a witness that stay as they are, and those that stay with less in them. */
const FIXED: ReadonlySet<string> = new Set(["uid", "kind", "resource", "apiVersion", "name", "namespace", "operation"]);
const KEPT: ReadonlySet<string> = new Set(["request", "object", "oldObject", "metadata", "userInfo", "params"]);

/** The value without one of its parts, for each part. */
function* smaller(value: unknown): Iterable<unknown> {
  if (Array.isArray(value)) {
    for (const [i, each] of (value as readonly unknown[]).entries()) {
      yield value.toSpliced(i, 1);
      for (const less of smaller(each)) yield value.with(i, less);
    }
  } else if (isObject(value)) {
    for (const [key, each] of Object.entries(value)) {
      if (FIXED.has(key)) continue;
      const { [key]: _, ...others } = value;
      if (!KEPT.has(key)) yield others;
      for (const less of smaller(each)) yield { ...value, [key]: less };
    }
  }
}

/** A world of documents, in which the authorizer always says the same. */
export const worldWith = (documents: readonly JsonObject[], decision: "allow" | "deny"): OuterWorld => ({
  resources: new FileResources(documents, { guessScope: true, synthesiseNamespaces: true }),
  authorizer: { authorize: () => ({ decision, reason: "" }) },
  now: () => 0,
});

const NO_BYTES = new Uint8Array();
const NEVER = new AbortController().signal;

/** The decision of an outcome; undefined where it could not be made. */
export function decisionOf(outcome: Outcome | Promise<Outcome>): Decision | undefined {
  if (outcome instanceof Promise || (outcome.verdict === "error" && outcome.cause !== "expression")) return undefined;
  if (outcome.verdict === "deny" || outcome.verdict === "error") {
    const fields = (outcome.causes ?? []).flatMap(({ field }) => field ?? []);
    return { key: "denied", words: `denied (${outcome.message})`, fields };
  }
  const changed = outcome.verdict === "allow" && outcome.mutation !== undefined;
  const key = changed ? stringifyJson(outcome.mutation) : "";
  return { key, words: changed ? "allowed with other changes" : "allowed", fields: [] };
}

/** Metadata with the labels that a selector wants. */
const withLabels = (metadata: JsonObject, selector: LabelSelector | undefined): JsonObject =>
  selector?.matchLabels === undefined
    ? metadata
    : { ...metadata, labels: { ...(metadata.labels as JsonObject | undefined), ...selector.matchLabels } };

/** The subject of a rule: an operation on a kind. */
interface Target {
  readonly kind: GroupVersionKind;
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly operation: string;
}

const ANY: readonly string[] = ["*"];
const ANY_OPERATION: readonly string[] = ["CREATE", "UPDATE", "DELETE"];
/** Resources for rules about all: one that may hold anything, and two that all clusters have. */
const ANY_RESOURCE: readonly string[] = ["examples", "configmaps", "deployments"];
const ABOUT_ALL = [{ apiGroups: ANY, apiVersions: ANY, operations: ANY, resources: ANY }];

/** The requests that rules are about; those about subresources, whose objects are of other kinds, are left out. */
function targetsOf({ matchConstraints }: CommonPolicySpec): readonly Target[] {
  const { resourceRules = [] } = matchConstraints ?? {};
  return (resourceRules.length === 0 ? ABOUT_ALL : resourceRules).flatMap(
    ({ apiGroups = [], apiVersions = [], resources = [], operations = [] }) => {
      const plurals = resources.flatMap((each) => (each.startsWith("*") ? ANY_RESOURCE : each.replace("/*", "")));
      const kinds = plurals
        .filter((plural) => !plural.includes("/"))
        .flatMap((plural) =>
          apiGroups.flatMap((group) =>
            apiVersions.map((version) => ({ plural, kind: kindOf(plural, group, version) })),
          ),
        );
      return kinds.flatMap(({ plural, kind }) =>
        operations
          .flatMap((each) => (each === "*" ? ANY_OPERATION : each))
          .map((operation) => ({
            kind,
            operation,
            resource: { group: kind.group, version: kind.version, resource: plural },
          })),
      );
    },
  );
}

/** The kind of a resource: a built-in one, or one that may hold anything. */
function kindOf(plural: string, group: string, version: string): GroupVersionKind {
  for (const { apiVersion, kind } of builtinKinds()) {
    const own = parseApiVersion(apiVersion);
    if (own === undefined || pluralOf(kind) !== plural) continue;
    if ((group === "*" || group === own.group) && (version === "*" || version === own.version)) return { ...own, kind };
  }
  const singular = plural.replace(/s$/, "");
  return {
    group: group === "*" ? "example.com" : group,
    version: version === "*" ? "v1" : version,
    kind: singular.charAt(0).toUpperCase() + singular.slice(1),
  };
}
