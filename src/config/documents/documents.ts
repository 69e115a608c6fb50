/** Documents of any kind, as the kinds of policies share them: lists opened, told apart by group and kind, repeated names found. */
import { isObject, member, nameOf, namespaceOf, text } from "../../kubernetes/object.js";
import type { Problem } from "./problem.js";
import type { SourceDocument } from "./source-document.js";

/** What a document says it is. Parts that are missing, or are no texts, are `""`. */
export interface DocumentIdentity {
  /** `""` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** What a document says it is, by its apiVersion, kind and metadata. */
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

/** Whether a document neither says what it is nor has a spec: the file of a tool that stands in the same folder, as kustomization.yaml. */
export function isForeign(document: SourceDocument): boolean {
  const { group, version, kind } = identityOf(document);
  return `${group}${version}${kind}` === "" && isObject(document.value) && member(document.value, "spec") === undefined;
}

/**
 * The documents in their order, with the items of every list (`kind: …List`) in its place: they are documents of their own. Items that say
 * neither kind nor apiVersion have those of the list, as in lists that the API server answers.
 */
export function opened(documents: readonly SourceDocument[]): readonly SourceDocument[] {
  return documents.flatMap((document) => {
    const items = itemsOf(document);
    return items === undefined ? [document] : opened(items);
  });
}

function itemsOf(document: SourceDocument): readonly SourceDocument[] | undefined {
  const written = member(document.value, "items");
  // So Go prints an empty list.
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
