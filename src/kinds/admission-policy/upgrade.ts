/**
 * Whether a newer release of Kubernetes decides otherwise under a policy: requests are made for what stands in its expressions, and both releases are asked
 * about them. A request that they decide differently is the witness.
 */
import { type Sample, toJson, UpgradeSamples, type UpgradeSpot } from "../../cel/index.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import { parseJson, stringifyJson } from "../../data/json.js";
import { builtinKinds, builtinNamespaced, isBuiltin, pluralOf } from "../../kubernetes/builtin-kinds.js";
import { mismatchOf } from "../../kubernetes/go-types/as-struct.js";
import { apiVersionOf, parseApiVersion } from "../../kubernetes/names.js";
import { isObject, type JsonObject, member, text } from "../../kubernetes/object.js";
import type { Outcome } from "../../policy/outcome.js";
import type { Policy } from "../../policy/policy.js";
import type { AdmissionQuestion } from "../../policy/review.js";
import { asStored, FileResources } from "../../world/resources/file-resources.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import type { World } from "../../world/world.js";
import type { Expression } from "../shared/expressions/expression.js";
import type { LabelSelector } from "../shared/match/label-selector.js";
import type { PreparedCommon } from "./prepared-common.js";
import type { CommonBindingSpec, CommonPolicySpec } from "./resource.js";

/** A policy that two releases are asked about. */
export interface UpgradedPolicy {
  readonly spec: CommonPolicySpec;
  readonly bindings: readonly CommonBindingSpec[];
  readonly common: Pick<PreparedCommon, "conditions" | "variables">;
  /** The expressions of its kind. */
  readonly expressions: readonly (Expression | undefined)[];
  /** The policy as each release evaluates it. */
  readonly before: (world: World) => Policy;
  readonly after: (world: World) => Policy;
  /** The newer release. */
  readonly release: string;
}

/** Most samples of a policy of which something may change; of one that can only be too expensive, and of the attempts to make a witness smaller. */
const MOST_SAMPLES = 2_000;
const FEW_SAMPLES = 100;
const MOST_CUTS = 300;
/** Milliseconds after which no further sample is tried, so that expressions without bounds do not hold up a check. */
const MOST_MILLISECONDS = 2_000;

const COST: UpgradeSpot = "may reach the limit of its cost";

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

/** An outcome as a decision: which mutations, or a refusal. Texts of refusals are no part of it. */
interface Decision {
  readonly key: string;
  readonly words: string;
  readonly fields: readonly string[];
}

/** The answer about a policy: a warning with a witness, or a note. */
export function upgradeProblem(
  document: Pick<SourceDocument, "problem">,
  root: Problem["path"],
  policy: UpgradedPolicy,
): Problem {
  const { common, expressions, release } = policy;
  const all = [
    ...Array.from(common.variables, ([name, { program }]) => ({ name, program })),
    ...[...common.conditions, ...expressions].map((each) => ({ name: undefined, program: each?.program })),
  ];
  const samples = new UpgradeSamples(all.flatMap(({ name, program }) => (program ? [{ name, program }] : [])));
  const { spots } = samples;
  const [first] = spots;
  const told = (severity: Problem["severity"], message: string, path: Problem["path"] = []): Problem =>
    document.problem(severity, [...root, ...path], message, undefined, { code: "KUBERNETES_UPGRADE" });
  if (first === undefined) return told("note", `Kubernetes ${release} decides everything as before`);
  const isCostOnly = spots.size === 1 && first === COST;
  const search = new Search(policy, samples);
  const most = isCostOnly ? FEW_SAMPLES : MOST_SAMPLES;
  // What a kind does not define never gets to a policy; one that reads it may still be meant for a newer kind.
  const found = search.run(most, asStored) ?? (search.isTyped ? search.run(most, asWritten) : undefined);
  const causes = [...spots].filter((spot) => spot !== COST);
  const why = (causes.length === 0 ? [...spots] : causes).join(", and ");
  if (found === undefined)
    return told(
      "note",
      isCostOnly
        ? `Kubernetes ${release} decides everything as before, but for requests so large that an expression reaches the limit of its cost`
        : `no request was found that Kubernetes ${release} decides otherwise, in ${search.tried} that were tried; an expression ${why}`,
    );
  const { witness, before, after } = found;
  const field = [...before.fields, ...after.fields].find(
    (each) => !(before.fields.includes(each) && after.fields.includes(each)),
  );
  const message = `Kubernetes ${release} decides otherwise: an expression ${why}\nbefore: ${before.words}\nthen: ${after.words}\nasked about: ${stringifyJson(witness)}`;
  return { ...told("warning", message, field === undefined ? [] : pathOf(field)), witness };
}

/** `spec.validations[0].expression` below the spec. */
const pathOf = (field: string): Problem["path"] =>
  Array.from(field.replace(/^spec\./, "").matchAll(/\w+/g), ([word]) => (/^\d+$/.test(word) ? Number(word) : word));

/** Reads an object; a failure where no server has it. */
type ReadObject = (object: JsonObject) => JsonObject | LookupFailure;

/** The object with all that is written in it, as far as it does not contradict its kind. */
const asWritten: ReadObject = (object) => {
  const mismatch = mismatchOf(object);
  return mismatch === undefined ? object : new LookupFailure(mismatch.error);
};

/** The search for a witness (disposable). */
class Search {
  tried = 0;
  readonly #policy: UpgradedPolicy;
  readonly #samples: UpgradeSamples;
  readonly #targets: readonly Target[];
  #read: ReadObject = asStored;

  constructor(policy: UpgradedPolicy, samples: UpgradeSamples) {
    this.#policy = policy;
    this.#samples = samples;
    this.#targets = targetsOf(policy.spec);
  }

  /** Whether it is about built-in kinds, whose members are known. */
  get isTyped(): boolean {
    return this.#targets.some(({ kind }) => isBuiltin(kind));
  }

  /** @param read the object as a server has it */
  run(most: number, read: ReadObject): Asked | undefined {
    this.#read = read;
    const ends = performance.now() + MOST_MILLISECONDS;
    let close: { readonly sample: Sample; readonly distance: number } | undefined;
    for (let i = 0; i < most && performance.now() < ends; i++) {
      const sample = this.#samples.next(i % 4 === 0 ? undefined : close?.sample);
      const asked = this.#ask(this.#witness(sample));
      if (asked === undefined) continue;
      this.tried += 1;
      if (asked.before.key !== asked.after.key) {
        // What counts is what is printed: it must be decided so when it is read.
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

  #witness(sample: Sample): Witness {
    const { spec, bindings } = this.#policy;
    const made = (name: string): JsonObject => {
      const value = sample.bindings[name];
      const json = value === undefined ? {} : toJson(value);
      return isObject(json) ? json : {};
    };
    const target = this.#targets[sample.number % this.#targets.length] as Target;
    const { kind, resource, subResource, operation } = target;
    const asked = made("request");
    const [object, oldObject] = [made("object"), made("oldObject")];
    const name = text(object.metadata, "name") || text(asked, "name") || "sample";
    const isNamespaced = builtinNamespaced(kind) ?? text(asked, "namespace") !== "none";
    const namespace = isNamespaced ? text(object.metadata, "namespace") || text(asked, "namespace") || "default" : "";
    const place = { name, ...(isNamespaced && { namespace }) };
    const { namespaceSelector, objectSelector } = spec.matchConstraints ?? {};
    const described = (of: JsonObject): JsonObject => ({
      ...of,
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: withLabels({ ...(isObject(of.metadata) && of.metadata), ...place }, objectSelector),
    });
    const { userInfo = { username: "sample" }, dryRun, options } = asked;
    const request = {
      uid: "",
      kind,
      resource,
      ...(subResource !== "" && { subResource }),
      ...place,
      operation,
      userInfo,
      ...(operation !== "DELETE" && { object: described(object) }),
      ...(operation !== "CREATE" && operation !== "CONNECT" && { oldObject: described(oldObject) }),
      ...(typeof dryRun === "boolean" && { dryRun }),
      ...(isObject(options) && { options }),
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
      const stored = this.#read(request[member]);
      if (stored instanceof LookupFailure) return undefined;
      request[member] = stored;
    }
    const documents = [
      ...(namespaceObject ? [{ apiVersion: "v1", kind: "Namespace", ...namespaceObject }] : []),
      ...(params ? this.#parameters(params, text(request, "namespace")) : []),
    ];
    if (documents.some((document) => mismatchOf(document) !== undefined)) return undefined;
    const decision = authorizer === "deny" ? "deny" : "allow";
    const world: World = {
      resources: new FileResources(documents, { guessScope: true, synthesiseNamespaces: true }),
      authorizer: { authorize: () => ({ decision, reason: "" }) },
      now: () => 0,
    };
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
    for (let size = Number.POSITIVE_INFINITY; size > sizeOf(best.witness) && left > 0; ) {
      size = sizeOf(best.witness);
      for (const path of ROOTS.flatMap((root) => [...pathsBelow(valueAt(best.witness, root), root)])) {
        if (left-- <= 0) break;
        const asked = this.#ask(without(best.witness, path) as Witness);
        if (asked === undefined || asked.before.key === asked.after.key) continue;
        if (sizeOf(asked.witness) < sizeOf(best.witness)) best = asked;
      }
    }
    return best;
  }
}

const NO_BYTES = new Uint8Array();
const NEVER = new AbortController().signal;

/** The decision of an outcome; undefined where it could not be made. */
function decisionOf(outcome: Outcome | Promise<Outcome>): Decision | undefined {
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
function withLabels(metadata: JsonObject, selector: LabelSelector | undefined): JsonObject {
  const labels = {
    ...selector?.matchLabels,
    ...Object.fromEntries(
      (selector?.matchExpressions ?? []).flatMap(({ key, operator, values = [""] }) =>
        operator === "In" || operator === "Exists" ? [[key, values[0] ?? ""]] : [],
      ),
    ),
  };
  if (Object.keys(labels).length === 0) return metadata;
  return { ...metadata, labels: { ...(isObject(metadata.labels) && metadata.labels), ...labels } };
}

/** What a rule is about: an operation on a kind. */
interface Target {
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource: string;
  readonly operation: string;
}

/** Kinds of subresources' objects that are not those of the resource. */
const OF_SUBRESOURCE: Readonly<Record<string, Target["kind"]>> = {
  scale: { group: "autoscaling", version: "v1", kind: "Scale" },
  eviction: { group: "policy", version: "v1", kind: "Eviction" },
  binding: { group: "", version: "v1", kind: "Binding" },
  exec: { group: "", version: "v1", kind: "PodExecOptions" },
  attach: { group: "", version: "v1", kind: "PodAttachOptions" },
  portforward: { group: "", version: "v1", kind: "PodPortForwardOptions" },
};

/** Most targets that are asked about. */
const MOST_TARGETS = 64;
const ANY_OPERATION: readonly string[] = ["CREATE", "UPDATE", "DELETE"];
/** Kinds for rules about all: one that may hold anything, and two that all clusters have. */
const ANY_RESOURCE: readonly string[] = ["examples", "configmaps", "deployments"];

/** The requests that rules are about, one of each group for `*`. */
function targetsOf({ matchConstraints }: CommonPolicySpec): readonly Target[] {
  const targets: Target[] = [];
  for (const { apiGroups = [], apiVersions = [], resources = [], operations = [] } of matchConstraints?.resourceRules ??
    [])
    for (const written of resources.flatMap((each) => (each.startsWith("*") ? ANY_RESOURCE : each))) {
      const [plural = "", sub = ""] = written.split("/");
      const subResource = sub.replace("*", "");
      for (const group of apiGroups)
        for (const version of apiVersions) {
          const kind = kindOf(plural, group, version);
          const resource = { group: kind.group, version: kind.version, resource: plural };
          for (const operation of operations.flatMap((each) => (each === "*" ? ANY_OPERATION : each)))
            targets.push({ kind: OF_SUBRESOURCE[subResource] ?? kind, resource, subResource, operation });
        }
    }
  return targets.length === 0 ? targetsOf(ABOUT_ALL) : targets.slice(0, MOST_TARGETS);
}

const ABOUT_ALL: CommonPolicySpec = {
  matchConstraints: {
    resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }],
  },
};

/** The kind of a resource: a built-in one, or one that may hold anything. */
function kindOf(plural: string, group: string, version: string): Target["kind"] {
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

/** Where users write; what names an object stays. */
const ROOTS: readonly Problem["path"][] = [
  ["request", "object"],
  ["request", "oldObject"],
  ["request", "userInfo"],
  ["request", "options"],
  ["params"],
  ["namespaceObject"],
];
const KEPT: ReadonlySet<string | number> = new Set(["apiVersion", "kind", "metadata", "name", "namespace"]);

function* pathsBelow(value: unknown, path: Problem["path"]): Iterable<Problem["path"]> {
  const keys = Array.isArray(value) ? [...value.keys()].reverse() : isObject(value) ? Object.keys(value) : [];
  for (const key of keys) {
    const below = [...path, key];
    if (!KEPT.has(key)) yield below;
    yield* pathsBelow(valueAt(value, [key]), below);
  }
}

const valueAt = (value: unknown, path: Problem["path"]): unknown =>
  path.reduce<unknown>((at, key) => (Array.isArray(at) ? at[Number(key)] : member(at, String(key))), value);

/** The value without what stands at a path. */
function without(value: unknown, [key, ...rest]: Problem["path"]): unknown {
  if (Array.isArray(value)) {
    const list = value as readonly unknown[];
    return rest.length === 0
      ? list.filter((_, i) => i !== key)
      : list.map((each, i) => (i === key ? without(each, rest) : each));
  }
  if (!isObject(value) || key === undefined) return value;
  const { [key]: gone, ...others } = value;
  return rest.length === 0 || gone === undefined ? others : { ...value, [key]: without(gone, rest) };
}

const sizeOf = (witness: Witness): number => stringifyJson(witness).length;
