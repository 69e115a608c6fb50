/** Which policies ask a cluster for anything, told from what they say: a configuration without such policies needs no cluster. */
import type {
  CelEntry,
  Config,
  ConfigEntry,
  Member,
  ModuleEntry,
  PolicyEntry,
  ResourceEntry,
} from "../config/index.js";
import { CAPABILITY_PATHS, parseCapabilities } from "../host-capabilities/patterns.js";
import { type GroupVersionKind, parseApiVersion } from "../kubernetes/names.js";
import { isObject, member, nameOf, text } from "../kubernetes/object.js";

/** What a policy would ask a cluster, and whether it can do without. */
export interface ClusterUse {
  /** It asks for what a cluster may hold: documents beside it are looked at first. */
  readonly asks: boolean;
  /** Without a cluster it asks for something that no document beside it brings. */
  readonly needs: boolean;
}

const NONE: ClusterUse = { asks: false, needs: false };
/** The label that every Namespace has: its value is known without seeing the Namespace. */
const NAME_LABEL = "kubernetes.io/metadata.name";
/** Members whose text is CEL. */
const EXPRESSIONS: ReadonlySet<string> = new Set(["expression", "messageExpression", "valueExpression"]);

/** The ids of the entries and members that cannot do without a cluster. */
export function needyPolicies(config: Config): string[] {
  return config.entries.flatMap(needy);
}

function needy(entry: ConfigEntry | Member["policy"]): string[] {
  switch (entry.kind) {
    case "invalid":
    case "reference":
      return [];
    case "group":
      return entry.members.flatMap(({ policy }) => needy(policy));
    default:
      return clusterUse(entry).needs ? [entry.id] : [];
  }
}

/** The kinds of parameters that CEL policies will look for in a cluster; undefined when no CEL policy asks a cluster for anything. */
export function parameterKinds(config: Config): readonly GroupVersionKind[] | undefined {
  const asking = config.entries.flatMap(celPolicies).filter((entry) => clusterUse(entry).asks);
  if (asking.length === 0) return undefined;
  const kinds = new Map<string, GroupVersionKind>();
  for (const entry of asking) {
    for (const document of entry.kind === "resource" ? entry.documents.flatMap(({ value }) => opened(value)) : []) {
      const paramKind = member(member(document, "spec"), "paramKind");
      const [apiVersion, kind] = [text(paramKind, "apiVersion"), text(paramKind, "kind")];
      const version = parseApiVersion(apiVersion);
      if (kind !== "" && version !== undefined) kinds.set(`${apiVersion}/${kind}`, { ...version, kind });
    }
  }
  return [...kinds.values()];
}

function celPolicies(entry: ConfigEntry | Member["policy"]): readonly (CelEntry | ResourceEntry)[] {
  if (entry.kind === "group") return entry.members.flatMap(({ policy }) => celPolicies(policy));
  return entry.kind === "cel" || entry.kind === "resource" ? [entry] : [];
}

/** What one policy uses; a group itself uses nothing. */
export function clusterUse(entry: PolicyEntry): ClusterUse {
  switch (entry.kind) {
    case "module":
      return guestUse(entry);
    case "cel":
      return documentsUse([{ spec: entry.cel }]);
    case "resource":
      return documentsUse(entry.documents.flatMap(({ value }) => opened(value)));
    default:
      return NONE;
  }
}

function guestUse({ contextAwareResources, hostCapabilities }: ModuleEntry): ClusterUse {
  const grants = parseCapabilities(hostCapabilities);
  const asks =
    contextAwareResources.length > 0 ||
    CAPABILITY_PATHS.some((path) => path.startsWith("kubernetes/") && grants.allows(path));
  // `*` grants everything, and is the controller's default: it does not say that the guest will ask for resources.
  const needs =
    contextAwareResources.length > 0 || hostCapabilities.some((pattern) => pattern.startsWith("kubernetes/"));
  return { asks, needs };
}

function documentsUse(documents: readonly unknown[]): ClusterUse {
  const kinds = new Set(documents.map((document) => `${text(document, "apiVersion")}/${text(document, "kind")}`));
  const bringsNamespaces = kinds.has("v1/Namespace");
  const uses: ClusterUse[] = [];
  for (const document of documents) {
    const spec = member(document, "spec");
    const paramKind = member(spec, "paramKind");
    if (paramKind !== undefined && hasParamRef(documents, nameOf(document))) {
      uses.push({ asks: true, needs: !kinds.has(`${text(paramKind, "apiVersion")}/${text(paramKind, "kind")}`) });
    }
    const said = saidIn(spec);
    if (said.labels.size > 0) {
      uses.push({ asks: true, needs: !bringsNamespaces && [...said.labels].some((label) => label !== NAME_LABEL) });
    }
    if (said.namespaceObject) uses.push({ asks: true, needs: !bringsNamespaces });
    if (said.authorizer) uses.push({ asks: true, needs: true });
  }
  return { asks: uses.length > 0, needs: uses.some(({ needs }) => needs) };
}

const hasParamRef = (documents: readonly unknown[], policy: string): boolean =>
  documents.some((document) => {
    const spec = member(document, "spec");
    return member(spec, "paramRef") !== undefined && text(spec, "policyName") === policy;
  });

interface Said {
  namespaceObject: boolean;
  authorizer: boolean;
  /** Keys of the labels that namespace selectors look at. */
  readonly labels: Set<string>;
}

/** What a policy's expressions and selectors name. A name in a text of an expression counts too: that only makes us look for a cluster. */
function saidIn(value: unknown, said: Said = { namespaceObject: false, authorizer: false, labels: new Set() }): Said {
  if (Array.isArray(value)) for (const item of value) saidIn(item, said);
  if (!isObject(value)) return said;
  for (const [key, inner] of Object.entries(value)) {
    if (EXPRESSIONS.has(key) && typeof inner === "string") {
      said.namespaceObject ||= /\bnamespaceObject\b/.test(inner);
      said.authorizer ||= /\bauthorizer\b/.test(inner);
    } else if (key === "namespaceSelector") {
      for (const label of labelsOf(inner)) said.labels.add(label);
    } else saidIn(inner, said);
  }
  return said;
}

function labelsOf(selector: unknown): readonly string[] {
  const [labels, expressions] = [member(selector, "matchLabels"), member(selector, "matchExpressions")];
  return [
    ...(isObject(labels) ? Object.keys(labels) : []),
    ...(Array.isArray(expressions) ? expressions.map((expression) => text(expression, "key")) : []),
  ];
}

/** A list's items are documents of their own. */
function opened(document: unknown): readonly unknown[] {
  const items = member(document, "items");
  return Array.isArray(items) && text(document, "kind").endsWith("List") ? items.flatMap(opened) : [document];
}
