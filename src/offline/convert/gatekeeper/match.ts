/**
 * `spec.match` of a Constraint as match constraints and conditions of a ValidatingAdmissionPolicy (gatekeeper 3.23.1, pkg/mutation/match/match.go).
 * Gatekeeper asks whether the object or the old object fits the whole of it; with resource rules, selectors and names that comes to the same.
 */
import type { Path } from "../../../config/documents/problem.js";
import { builtinKinds, pluralOf } from "../../../kubernetes/builtin-kinds.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import { quoted } from "../cel-literal.js";
import type { Scope } from "../conversion.js";
import type { Reading } from "../reading.js";

const MATCH: Path = ["spec", "match"];
const MEMBERS = [
  "source",
  "kinds",
  "scope",
  "namespaces",
  "excludedNamespaces",
  "labelSelector",
  "namespaceSelector",
  "name",
];
/** Names with `*` at the beginning or the end, as the schema of Constraints has them. */
const NAME = /^\*?[-:a-z0-9]*\*?$/;
const ANY = "*";

/** A condition with what it comes from. */
export interface Condition {
  readonly name: string;
  readonly expression: string;
  readonly path: Path;
}

/** Which requests a Constraint is about. */
export interface Matched {
  readonly matchConstraints: JsonObject;
  readonly conditions: readonly Condition[];
  readonly scopes: readonly Scope[];
  /** Whether every request that Gatekeeper is sent is meant. */
  readonly isEverything: boolean;
}

/** A group and a kind of `match.kinds`, each perhaps `*`. */
interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/**
 * The subresources that Gatekeeper's webhook is sent when it is installed as its chart has it, with the group and kind of their objects, and whether
 * they are for CONNECT only.
 */
const SUBRESOURCES: readonly (readonly [
  group: string,
  resource: string,
  kindGroup: string,
  kind: string,
  connect?: true,
])[] = [
  ["", "pods/ephemeralcontainers", "", "Pod"],
  ["", "pods/resize", "", "Pod"],
  ["", "pods/binding", "", "Binding"],
  ["", "pods/eviction", "policy", "Eviction"],
  ["", "services/status", "", "Service"],
  ["", "replicationcontrollers/scale", "autoscaling", "Scale"],
  ["apps", "deployments/scale", "autoscaling", "Scale"],
  ["apps", "replicasets/scale", "autoscaling", "Scale"],
  ["apps", "statefulsets/scale", "autoscaling", "Scale"],
  ["", "pods/exec", "", "PodExecOptions", true],
  ["", "pods/attach", "", "PodAttachOptions", true],
  ["", "pods/portforward", "", "PodPortForwardOptions", true],
  ["", "pods/proxy", "", "PodProxyOptions", true],
  ["", "services/proxy", "", "ServiceProxyOptions", true],
  ["", "nodes/proxy", "", "NodeProxyOptions", true],
];
/** Kinds that have no resource of their own. */
const ONLY_SUBRESOURCES: ReadonlySet<string> = new Set(
  SUBRESOURCES.map(([, , group, kind]) => `${group}/${kind}`).filter((id) => !/^\/(?:Pod|Binding|Service)$/.test(id)),
);

const BUILTIN: ReadonlyMap<string, { readonly apiVersion: string; readonly kind: string }> = new Map(
  [...builtinKinds()].map((each) => [`${groupOf(each.apiVersion)}/${each.kind}`, each]),
);

function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

/** Whether a pair stands for a kind. */
const covers = (pair: GroupKind, group: string, kind: string): boolean =>
  (pair.group === ANY || pair.group === group) && (pair.kind === ANY || pair.kind === kind);

/**
 * The criteria of a Constraint; what can't be expressed is an error.
 * @param operations those of the template
 * @param exempt namespaces that the webhook leaves out, of a Config
 */
export function matchOf(reading: Reading, operations: readonly string[], exempt: readonly string[]): Matched {
  reading.onlyKnown(MATCH, MEMBERS);
  const kinds = kindsOf(reading);
  const scope = scopeOf(reading);
  const source = reading.text([...MATCH, "source"]) ?? "";
  if (source === "Generated")
    reading.error(
      [...MATCH, "source"],
      "it is about objects that Gatekeeper generates from others, which nothing else does",
    );
  else if (!["", "All", "Original"].includes(source))
    reading.error([...MATCH, "source"], "expected All, Original or Generated");
  const canBeNamespace = scope !== "Namespaced" && kinds.some((pair) => covers(pair, "", "Namespace"));
  const subject = { canBeNamespace, isOnlyNamespaces: kinds.every(isNamespace), operations, kinds };
  const wanted = patterns(reading, "namespaces");
  const unwanted = [...(patterns(reading, "excludedNamespaces") ?? []), ...exempt];
  const rules = rulesOf(kinds, operations, scope);
  const conditions: Condition[] = [];
  const add = (name: string, key: string, expression: string | undefined): void => {
    if (expression !== undefined) conditions.push({ name, expression, path: [...MATCH, key] });
  };
  add("kinds", "kinds", rules.areExact ? undefined : kindCondition(kinds));
  add("namespaces", "namespaces", wanted && namespaceCondition(subject, wanted, true));
  add(
    "excluded-namespaces",
    "excludedNamespaces",
    unwanted.length > 0 ? namespaceCondition(subject, unwanted, false) : undefined,
  );
  add("name", "name", nameCondition(reading, operations));
  const selectors = selectorsOf(reading, subject);
  return {
    // Gatekeeper's webhook is asked about each version by itself.
    matchConstraints: { matchPolicy: "Exact", ...selectors.common, resourceRules: rules.rules },
    conditions,
    scopes: selectors.scopes,
    isEverything:
      kinds.some(({ group, kind }) => group === ANY && kind === ANY) &&
      scope === ANY &&
      conditions.length === 0 &&
      Object.keys(selectors.common).length === 0 &&
      selectors.scopes.length === 1,
  };
}

const isNamespace = ({ group, kind }: GroupKind): boolean => group === "" && kind === "Namespace";

/** The pairs of groups and kinds; absent: all. */
function kindsOf(reading: Reading): readonly GroupKind[] {
  const path: Path = [...MATCH, "kinds"];
  const pairs = (reading.list(path) ?? []).flatMap((_, index) => {
    reading.map([...path, index]);
    reading.onlyKnown([...path, index], ["apiGroups", "kinds"]);
    const listed = (key: string): readonly string[] => {
      const found = reading.texts([...path, index, key]) ?? [];
      return found.length === 0 || found.includes(ANY) ? [ANY] : found;
    };
    const groups = listed("apiGroups");
    return listed("kinds").flatMap((kind) => groups.map((group) => ({ group, kind })));
  });
  const isAny = ({ group, kind }: GroupKind): boolean => group === ANY && kind === ANY;
  return pairs.length === 0 || pairs.some(isAny) ? [{ group: ANY, kind: ANY }] : pairs;
}

function scopeOf(reading: Reading): string {
  const scope = reading.text([...MATCH, "scope"]) ?? ANY;
  if (["", ANY, "Cluster", "Namespaced"].includes(scope)) return scope === "" ? ANY : scope;
  reading.error([...MATCH, "scope"], "expected *, Cluster or Namespaced: of any other word Gatekeeper takes no notice");
  return ANY;
}

interface Rules {
  readonly rules: readonly JsonObject[];
  /** Whether they stand for these kinds and no others. */
  readonly areExact: boolean;
}

function rulesOf(kinds: readonly GroupKind[], operations: readonly string[], scope: string): Rules {
  const byGroup = new Map<string, Set<string>>();
  const add = (group: string, resource: string): void => {
    byGroup.set(group, (byGroup.get(group) ?? new Set()).add(resource));
  };
  let areExact = true;
  const connects = operations.some((operation) => operation === "CONNECT" || operation === ANY);
  for (const pair of kinds) {
    const { group, kind } = pair;
    const known = BUILTIN.has(`${group}/${kind}`);
    if (kind === ANY) add(group, ANY);
    else if (!ONLY_SUBRESOURCES.has(`${group}/${kind}`)) {
      add(group, known ? pluralOf(kind) : ANY);
      areExact &&= known;
    }
    for (const [resourceGroup, resource, kindGroup, each, connect] of SUBRESOURCES)
      if (covers(pair, kindGroup, each) && (connect !== true || connects))
        add(group === ANY ? ANY : resourceGroup, resource);
  }
  const everything = byGroup.get(ANY);
  if (everything?.has(ANY) === true) {
    for (const [group, found] of byGroup) {
      if (found === everything) continue;
      for (const each of found) if (!each.includes("/") || everything.has(each)) found.delete(each);
      if (found.size === 0) byGroup.delete(group);
    }
  }
  const lists = new Map<string, { readonly groups: string[]; readonly resources: readonly string[] }>();
  for (const [group, found] of byGroup) {
    // Where all resources are meant none may be named beside them.
    const resources = found.has(ANY) ? [ANY, ...[...found].filter((each) => each.includes("/"))] : [...found];
    const same = lists.get(resources.join());
    if (same === undefined) lists.set(resources.join(), { groups: [group], resources });
    else same.groups.push(group);
  }
  const rules = [...lists.values()].map(({ groups, resources }) => ({
    apiGroups: groups.includes(ANY) ? [ANY] : groups,
    apiVersions: [ANY],
    operations,
    resources,
    ...(scope !== ANY && { scope }),
  }));
  return { rules, areExact };
}

/** The condition that a request's kind is one of the pairs. */
function kindCondition(kinds: readonly GroupKind[]): string {
  const byGroup = new Map<string, string[]>();
  for (const { group, kind } of kinds) byGroup.set(group, [...(byGroup.get(group) ?? []), kind]);
  const parts = [...byGroup].map(([group, names]) => {
    const ofGroup = group === ANY ? [] : [`request.kind.group == ${quoted(group)}`];
    const ofKind = names.includes(ANY) ? [] : [oneOf("request.kind.kind", names)];
    return [...ofGroup, ...ofKind].join(" && ");
  });
  return parts.length === 1
    ? (parts[0] ?? "")
    : parts.map((part) => (part.includes("&&") ? `(${part})` : part)).join(" || ");
}

const oneOf = (subject: string, values: readonly string[]): string =>
  values.length === 1 ? `${subject} == ${quoted(values[0] ?? "")}` : `${subject} in [${values.map(quoted).join(", ")}]`;

/** A list of names; absent or empty: undefined. */
function patterns(reading: Reading, key: string): readonly string[] | undefined {
  const found = reading.texts([...MATCH, key]) ?? [];
  for (const [index, pattern] of found.entries()) checkName(reading, pattern, [...MATCH, key, index]);
  return found.length === 0 ? undefined : found;
}

function checkName(reading: Reading, pattern: string, path: Path): void {
  if (!NAME.test(pattern))
    reading.error(path, "expected a name in lower case, with * at its beginning or end only: a cluster refuses others");
}

/** The condition that a text fits one of the patterns. */
function fits(subject: string, names: readonly string[]): string {
  const plain = names.filter((name) => !name.includes(ANY));
  const parts = plain.length === 0 ? [] : [oneOf(subject, plain)];
  for (const name of names) {
    if (!name.includes(ANY)) continue;
    const [start, end] = [name.startsWith(ANY), name.endsWith(ANY)];
    const text = quoted(name.replaceAll(ANY, ""));
    if (name.replaceAll(ANY, "") === "") return "true";
    parts.push(`${subject}.${start && end ? "contains" : start ? "endsWith" : "startsWith"}(${text})`);
  }
  return parts.join(" || ");
}

interface Subject {
  readonly canBeNamespace: boolean;
  readonly isOnlyNamespaces: boolean;
  readonly operations: readonly string[];
  readonly kinds: readonly GroupKind[];
}

/** The condition about the namespace: of a Namespace its own name; objects outside of namespaces always fit. */
function namespaceCondition(subject: Subject, names: readonly string[], wanted: boolean): string {
  const own = fits(nameText(subject.operations), names);
  const inside = fits("request.namespace", names);
  const negated = (text: string): string => `!(${text})`;
  const ofNamespace = wanted ? own : negated(own);
  const ofOthers = wanted
    ? `!has(request.namespace) || ${inside}`
    : negated(`has(request.namespace) && ${inside.includes("||") ? `(${inside})` : inside}`);
  if (subject.isOnlyNamespaces) return ofNamespace;
  if (!subject.canBeNamespace) return ofOthers;
  return `request.kind.group == "" && request.kind.kind == "Namespace"\n  ? ${ofNamespace.includes("||") && wanted ? `(${ofNamespace})` : ofNamespace}\n  : ${wanted ? `(${ofOthers})` : ofOthers}`;
}

/** The object's name in CEL: without an object, the old one's. */
function metadataText(operations: readonly string[], key: string): string {
  const isThere = operations.every((operation) => operation === "CREATE" || operation === "UPDATE");
  return isThere
    ? `object.metadata.?${key}.orValue("")`
    : `(object == null ? oldObject : object).?metadata.?${key}.orValue("")`;
}

const nameText = (operations: readonly string[]): string => metadataText(operations, "name");

function nameCondition(reading: Reading, operations: readonly string[]): string | undefined {
  const path: Path = [...MATCH, "name"];
  const name = reading.text(path) ?? "";
  if (name === "") return undefined;
  checkName(reading, name, path);
  const own = fits(nameText(operations), [name]);
  if (own === "true") return undefined;
  return name.endsWith(ANY) ? `${own} || ${fits(metadataText(operations, "generateName"), [name])}` : own;
}

interface Selectors {
  /** Members of the policy's match constraints. */
  readonly common: JsonObject;
  readonly scopes: readonly Scope[];
}

/**
 * The selectors. That of namespaces is about a Namespace's own labels, before and after: as selectors of objects are. So Namespaces have a scope of
 * their own where other kinds can be meant, too.
 */
function selectorsOf(reading: Reading, { canBeNamespace, isOnlyNamespaces, operations }: Subject): Selectors {
  const ofObject = selector(reading, "labelSelector");
  const ofNamespace = selector(reading, "namespaceSelector");
  const whole: readonly Scope[] = [{ suffix: "", matchResources: {} }];
  if (ofNamespace === undefined || !canBeNamespace)
    return {
      common: {
        ...(ofNamespace !== undefined && { namespaceSelector: ofNamespace }),
        ...(ofObject !== undefined && { objectSelector: ofObject }),
      },
      scopes: whole,
    };
  const both = ofObject === undefined ? ofNamespace : joined(ofNamespace, ofObject);
  if (isOnlyNamespaces) return { common: { objectSelector: both }, scopes: whole };
  const namespaces = [{ apiGroups: [""], apiVersions: [ANY], operations, resources: ["namespaces"] }];
  return {
    common: {},
    scopes: [
      {
        suffix: "",
        matchResources: {
          namespaceSelector: ofNamespace,
          ...(ofObject !== undefined && { objectSelector: ofObject }),
          excludeResourceRules: namespaces,
        },
      },
      { suffix: "-namespaces", matchResources: { objectSelector: both, resourceRules: namespaces } },
    ],
  };
}

/** A selector; absent or empty: undefined. */
function selector(reading: Reading, key: string): JsonObject | undefined {
  const path: Path = [...MATCH, key];
  reading.onlyKnown(path, ["matchLabels", "matchExpressions"]);
  const found = reading.map(path);
  return found === undefined || Object.keys(found).length === 0 ? undefined : found;
}

/** A selector of what both select. */
function joined(left: JsonObject, right: JsonObject): JsonObject {
  const expressions = [left, right].flatMap((each) => [
    ...Object.entries((each.matchLabels ?? {}) as JsonObject).map(([key, value]) => ({
      key,
      operator: "In",
      values: [value],
    })),
    ...((each.matchExpressions ?? []) as readonly unknown[]),
  ]);
  return { matchExpressions: expressions };
}
