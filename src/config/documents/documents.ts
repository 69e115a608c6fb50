/** The common handling of documents for all kinds of policies: lists opened, sorted by group and kind, repeated names found. */
import { isObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import type { Problem } from "./problem.js";
import type { SourceDocument } from "./source-document.js";

/** The identity of a document. Parts that are missing, or not texts, are `""`. */
export interface DocumentIdentity {
  /** `""` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The identity of a document, by its apiVersion, kind and metadata. */
export function identityOf({ value }: Pick<SourceDocument, "value">): DocumentIdentity {
  const apiVersion = text(value, "apiVersion");
  const slash = apiVersion.indexOf("/");
  return {
    group: apiVersion.slice(0, Math.max(slash, 0)),
    version: apiVersion.slice(slash + 1),
    kind: text(value, "kind"),
    namespace: namespaceOf(value),
    name: nameOf(value),
  };
}

/** Whether a document has neither a kind nor a spec: the file of a tool in the same folder, such as kustomization.yaml. */
export function isForeign(document: SourceDocument): boolean {
  const { group, version, kind } = identityOf(document);
  return `${group}${version}${kind}` === "" && isObject(document.value) && member(document.value, "spec") === undefined;
}

/**
 * The documents in their order, with every list (`kind: …List`) replaced by its items: they are documents of their own. Items with
 * neither kind nor apiVersion have those of the list, as in the API server's lists.
 */
export function opened(documents: readonly SourceDocument[]): readonly SourceDocument[] {
  return documents.flatMap((document) => {
    const items = itemsOf(document);
    return items === undefined ? [document] : opened(items);
  });
}

function itemsOf(document: SourceDocument): readonly SourceDocument[] | undefined {
  if (!text(document.value, "kind").endsWith("List")) return undefined;
  const written = member(document.value, "items");
  // Go prints an empty list so.
  const items = written === null ? [] : written;
  const [, kind] = /^(.*)List$/.exec(text(document.value, "kind")) ?? [];
  if (!Array.isArray(items) || kind === undefined) return undefined;
  const apiVersion = text(document.value, "apiVersion");
  return items.map((item: unknown, index) => {
    const told = kind === "" || !isObject(item) || text(item, "kind") !== "" || text(item, "apiVersion") !== "";
    return document.part(["items", index], told ? item : { ...item, apiVersion, kind });
  });
}

/** An error for every document whose kind, namespace and name an earlier one has. Documents without a name are not compared. */
export function repeatedDocuments(documents: readonly SourceDocument[]): readonly Problem[] {
  const seen = new Map<string, SourceDocument>();
  return documents.flatMap((document) => {
    const { group, kind, namespace, name } = identityOf(document);
    if (name === "") return [];
    const key = JSON.stringify([group, kind, namespace, name]);
    const earlier = seen.get(key);
    seen.set(key, earlier ?? document);
    if (earlier === undefined) return [];
    const message = `duplicate name ${JSON.stringify(name)} of a ${kind} (previously seen in ${JSON.stringify(earlier.file)})`;
    return [document.problem("error", ["metadata", "name"], message, undefined, { code: "CONFIG_DUPLICATE_KEY" })];
  });
}
