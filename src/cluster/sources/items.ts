import type { ClusterDocument } from "../../config/from-cluster/cluster-document.js";
import { parseJson } from "../../data/json.js";
import { kubectlLength } from "../../data/kubectl-text.js";
import type { ListTarget } from "../../kubernetes/client/watched-list.js";
import { isObject, type JsonObject, member, namespaceOf, text } from "../../kubernetes/object.js";
import { documentOf, keyOf, type NamedKind, saysTheSame } from "./document.js";
import { HeldSizes, type LeftOut, type Size } from "./held-sizes.js";
import { shortOnly, stubOf, whyLeftOut } from "./left-out.js";
import { MAX_DOCUMENTS, MAX_KIND_BYTES, MAX_NAMESPACE_BYTES, MAX_NAMESPACE_DOCUMENTS } from "./limits.js";

/** A document with its status. */
export interface WatchedItem {
  readonly document: ClusterDocument;
  /** The status in the cluster, whatever its author. */
  readonly status: unknown;
}

/** The options of a list. */
export interface ItemsOptions {
  readonly kind: NamedKind;
  /** Selects objects; the others are only counted. */
  readonly wanted: (object: JsonObject) => boolean;
  /** Whether they are policies: those of omitted namespaces deny. Other objects of such namespaces count as absent. */
  readonly arePolicies: boolean;
  /** The known documents of the kind. */
  readonly before?: ReadonlyMap<string, WatchedItem>;
  /** Namespaces that are omitted from the beginning: {@link Items.next} of the list before. */
  readonly out?: LeftOut;
}

/** The documents of a list. A document with unchanged contents stays the same object. */
export class Items implements ListTarget {
  readonly all = new Map<string, WatchedItem>();
  readonly #options: ItemsOptions;
  readonly #sizes: HeldSizes;
  /** The size of each document that is kept. */
  readonly #bytes = new Map<string, number>();
  /** Policies of omitted namespaces, by namespace: their creation times, by key. */
  readonly #stubs = new Map<string, Map<string, string>>();
  readonly #touched = new Set<string>();
  #unwanted = 0;
  #isListed = false;
  #isStale = false;

  constructor(options: ItemsOptions) {
    this.#options = options;
    this.#sizes = new HeldSizes(options.kind.kind, options.out);
  }

  /** Number of objects of the list that were not selected. */
  get unwanted(): number {
    return this.#unwanted;
  }

  /** The omitted namespaces. */
  get out(): LeftOut {
    return this.#sizes.out;
  }

  /** Whether a new list may omit other namespaces. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /** The namespaces that the next list omits from its beginning: which have most is known once all is read. */
  get next(): LeftOut {
    return new Map([...this.#sizes.due].filter(([, limit]) => limit === "kind"));
  }

  /** Must be called when the list is complete. */
  listed(): void {
    this.#isListed = true;
    this.#isStale = !this.#isDue;
    this.#touched.clear();
  }

  /** Keys of documents that may have changed since the last call. */
  touched(): readonly string[] {
    const keys = [...this.#touched];
    this.#touched.clear();
    return keys;
  }

  /** @throws ResourceError when too many stand in no namespace */
  put(object: unknown): void {
    if (!isObject(object)) return;
    if (!this.#options.wanted(object)) {
      this.#unwanted += 1;
      this.delete(object);
      return;
    }
    const namespace = namespaceOf(object);
    const key = this.#keyOf(object);
    // Objects of omitted namespaces are counted once, by the list.
    if (this.out.has(namespace) && this.#isListed) {
      this.#isStale ||= this.#isAnother(key, object);
      this.#putStub(key, namespace, object);
      return;
    }
    let bytes = kubectlLength(object);
    const isPrinted = !this.out.has(namespace) && bytes <= (namespace === "" ? MAX_KIND_BYTES : MAX_NAMESPACE_BYTES);
    const document = isPrinted ? documentOf(object, this.#options.kind) : undefined;
    bytes = Math.max(bytes, document?.text.length ?? 0);
    const before = this.#bytes.get(key);
    const size = { bytes: bytes - (before ?? 0), count: before === undefined ? 1 : 0 };
    for (const each of this.#add(namespace, size)) this.#leaveOut(each);
    if (document === undefined || this.out.has(namespace)) this.#putStub(key, namespace, object);
    else {
      this.#bytes.set(key, bytes);
      this.#set(key, document, member(object, "status"));
    }
  }

  delete(object: unknown): void {
    const key = this.#keyOf(object);
    const namespace = namespaceOf(object);
    const bytes = this.#bytes.get(key);
    if (bytes !== undefined) this.#add(namespace, { bytes: -bytes, count: -1 });
    else if (this.out.has(namespace)) this.#isStale ||= this.#isListed;
    this.#bytes.delete(key);
    this.#stubs.get(namespace)?.delete(key);
    this.all.delete(key);
    this.#touched.add(key);
  }

  /** Counts a size. A reduction in one namespace may make room for another. */
  #add(namespace: string, size: Size): readonly string[] {
    const out = this.#sizes.add(namespace, size);
    if (this.#isListed && [...this.out.values()].includes("kind")) this.#isStale ||= !this.#isDue;
    return out;
  }

  /** Whether exactly those namespaces are omitted that should be. */
  get #isDue(): boolean {
    const { due } = this.#sizes;
    return due.size === this.out.size && [...due.keys()].every((namespace) => this.out.has(namespace));
  }

  #keyOf(object: unknown): string {
    const { group, kind } = this.#options.kind;
    return keyOf(group, kind, object);
  }

  #set(key: string, document: ClusterDocument, status: unknown): void {
    const known = (this.all.get(key) ?? this.#options.before?.get(key))?.document;
    const said = known !== undefined && saysTheSame(known, document) ? known : document;
    this.all.set(key, { document: said, status });
    this.#touched.add(key);
  }

  /** Whether an object of an omitted namespace has changed, apart from its status. */
  #isAnother(key: string, object: JsonObject): boolean {
    const known = this.all.get(key)?.document;
    const { uid, generation } = documentOf({ metadata: member(object, "metadata") }, this.#options.kind);
    return known?.uid !== uid || known.generation !== generation;
  }

  /** Replaces the documents of a namespace by stubs. */
  #leaveOut(namespace: string): void {
    const of = `${this.#options.kind.group}/${this.#options.kind.kind}/${namespace}/`;
    for (const [key, { document, status }] of [...this.all]) {
      if (!key.startsWith(of)) continue;
      this.all.delete(key);
      this.#bytes.delete(key);
      this.#touched.add(key);
      const object = parseJson(document.text);
      if (isObject(object)) this.#putStub(key, namespace, { ...object, status });
    }
  }

  /** Keeps a stub. The oldest ones are kept, so that new ones displace none of those that existed before. */
  #putStub(key: string, namespace: string, object: JsonObject): void {
    const { kind, arePolicies } = this.#options;
    const limit = this.out.get(namespace);
    if (!arePolicies || limit === undefined || this.all.size >= 2 * MAX_DOCUMENTS) return;
    const stubs = this.#stubs.get(namespace) ?? new Map<string, string>();
    this.#stubs.set(namespace, stubs);
    stubs.set(key, text(member(object, "metadata"), "creationTimestamp"));
    this.#set(key, stubOf(object, kind, whyLeftOut(namespace, kind.kind, limit)), shortOnly(member(object, "status")));
    if (stubs.size <= MAX_NAMESPACE_DOCUMENTS) return;
    let youngest: readonly [key: string, made: string] = ["", ""];
    for (const each of stubs) if (each[1] >= youngest[1]) youngest = each;
    stubs.delete(youngest[0]);
    this.all.delete(youngest[0]);
    this.#touched.add(youngest[0]);
  }
}
