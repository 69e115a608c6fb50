/** What policies of documents need of the world. */
import { parseApiVersion } from "../../kubernetes/names.js";
import { isObject, member, nameOf, text } from "../../kubernetes/object.js";
import { allNeeds, type Needs } from "../../world/needs.js";

/** The label that every Namespace has: its value is known without seeing the Namespace. */
const NAME_LABEL = "kubernetes.io/metadata.name";
/** Members whose text is CEL. */
const EXPRESSIONS: ReadonlySet<string> = new Set(["expression", "messageExpression", "valueExpression"]);

/** What the policies among the documents ask, told from what they say. */
export function needsOf(documents: readonly unknown[]): Needs {
  const kinds = new Set(documents.map((document) => `${text(document, "apiVersion")}/${text(document, "kind")}`));
  const bringsNamespaces = kinds.has("v1/Namespace");
  const uses: Needs[] = [];
  for (const document of documents) {
    const spec = member(document, "spec");
    const paramKind = member(spec, "paramKind");
    if (paramKind !== undefined && hasParamRef(documents, nameOf(document))) {
      const apiVersion = text(paramKind, "apiVersion");
      const kind = text(paramKind, "kind");
      const version = parseApiVersion(apiVersion);
      const parameters = kind !== "" && version !== undefined ? [{ ...version, kind }] : [];
      uses.push({ asks: true, requires: !kinds.has(`${apiVersion}/${kind}`), parameters });
    }
    const said = saidIn(spec);
    if (said.labels.size > 0) {
      uses.push({
        asks: true,
        requires: !bringsNamespaces && [...said.labels].some((label) => label !== NAME_LABEL),
        parameters: [],
      });
    }
    if (said.namespaceObject) uses.push({ asks: true, requires: !bringsNamespaces, parameters: [] });
    if (said.authorizer) uses.push({ asks: true, requires: true, parameters: [] });
  }
  return allNeeds(uses);
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
