/** A file that is no policies.yaml, but one of the files that people take for one: what it is, and what to do with it. */
import { basename } from "node:path";
import { inlineYaml, yamlName } from "../data/print-yaml.js";
import type { DocumentIdentity } from "./documents/documents.js";
import { adviceOn, type KnownKind, knownKind } from "./documents/known-kinds.js";
import type { Problem } from "./documents/problem.js";
import type { SourceDocument } from "./documents/source-document.js";
import { pairOf, type SourceNode } from "./documents/source-node.js";

/** Characters that a name has in an entry that is to be pasted without quotes. */
const PLAIN_NAME = /^[A-Za-z][\w.-]*$/;
const MUTATING = "MutatingAdmissionPolicy";

/** What to say of a Kubernetes resource that is given as the configuration; undefined for what is none. */
export function resourceAsPolicies(document: SourceDocument, file: string): Problem | undefined {
  const { root } = document;
  const [apiVersion, kind] = [textAt(root, "apiVersion"), textAt(root, "kind")];
  if (apiVersion === undefined || kind === undefined) return undefined;
  const slash = apiVersion.indexOf("/");
  const known = knownKind({ group: apiVersion.slice(0, Math.max(slash, 0)), kind });
  const what = known?.what ?? `a Kubernetes resource, a ${kind} of ${apiVersion}`;
  return {
    severity: "error",
    ...document.keySpanOf(["kind"]),
    path: [],
    message: `this is ${what}: a policies.yaml is a map from policy name to policy`,
    code: "CONFIG_NOT_POLICIES",
    hint:
      inConfigMap(root, kind) ??
      (known === undefined || known.use === "none" ? elsewhere(known) : pasted(root, kind, file)),
  };
}

function elsewhere(known: KnownKind | undefined): string {
  if (known !== undefined) return adviceOn(known);
  return "write an entry for each policy, with module, resource, cel or expression (docs/configuration.md)";
}

/** Where the configuration stands that a pod mounts. */
function inConfigMap(root: SourceNode, kind: string): string | undefined {
  const data = kind === "ConfigMap" && root.kind === "map" ? pairOf(root, "data")?.value : undefined;
  const key = data?.kind === "map" ? data.pairs.find((pair) => /\.ya?ml$/.test(pair.key))?.key : undefined;
  if (key === undefined) return undefined;
  return `check what stands in it under ${key}: write that to a file of its own, or pipe it into \`policy-server check -\``;
}

/** The entry that names it, ready to be pasted. */
function pasted(root: SourceNode, kind: DocumentIdentity["kind"], file: string): string {
  const metadata = root.kind === "map" ? pairOf(root, "metadata")?.value : undefined;
  const name = metadata === undefined ? undefined : textAt(metadata, "name");
  const id = name !== undefined && PLAIN_NAME.test(name) ? name : "my-policy";
  const path = inlineYaml(`./${basename(file)}`);
  const more = kind === MUTATING ? "\n  allowedToMutate: true" : "";
  return `name it by \`resource:\` in a policies.yaml beside it:\n${yamlName(id)}:\n  resource: ${path}${more}`;
}

function textAt(node: SourceNode, key: string): string | undefined {
  const value = node.kind === "map" ? pairOf(node, key)?.value : undefined;
  return value?.kind === "scalar" && typeof value.value === "string" ? value.value : undefined;
}
