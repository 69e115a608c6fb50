/** Reads Kyverno's old policies and exceptions: they become its policies in CEL, or ValidatingAdmissionPolicies. */
import { identityOf } from "../../../config/documents/documents.js";
import type { SourceDocument } from "../../../config/documents/source-document.js";
import {
  type ConvertedDocument,
  convertException,
  convertPolicy,
  type Definition,
  documentErrors,
  isOldException,
  isOldPolicy,
  type KnownPolicy,
  type PolicyConversion,
} from "../../../kinds/kyverno/convert/index.js";
import { createExpressionCompiler } from "../../../kinds/validating-admission-policy/index.js";
import { formatPath } from "../../../kubernetes/field-error.js";
import { isObject, type JsonObject, member, nameOf, namespaceOf, text } from "../../../kubernetes/object.js";
import type { Conversion, Converted, Reader, Target } from "../conversion.js";
import { Reading } from "../reading.js";
import { admissionPolicies } from "./admission-policy.js";
import { brokenLines } from "./expression-lines.js";

const KINDS = ["ClusterPolicy", "Policy", "PolicyException", "CleanupPolicy", "ClusterCleanupPolicy"];
const EXPRESSIONS = ["expression", "messageExpression", "valueExpression"];

/** The reader of ClusterPolicies, Policies and PolicyExceptions, and of CustomResourceDefinitions, which name the resources of kinds. */
export const kyverno: Reader = {
  reads: ({ group, kind }) =>
    (group === "kyverno.io" && KINDS.includes(kind)) ||
    (group === "apiextensions.k8s.io" && kind === "CustomResourceDefinition"),
  convert: (documents, _hasFolder, target) => new Run(documents, target ?? "kyverno").convert(),
};

/** One conversion (disposable). */
class Run {
  readonly #compiler = createExpressionCompiler();
  readonly #definitions: readonly Definition[];
  /** Names of files. */
  readonly #names = new Set(["policies"]);
  /** Kinds, namespaces and names of what is written. */
  readonly #identities = new Set<string>();

  constructor(
    readonly documents: readonly SourceDocument[],
    readonly target: Target,
  ) {
    this.#definitions = documents.flatMap(({ value }) => definitionOf(value));
  }

  convert(): Conversion {
    const readings = this.documents.map((document) => new Reading(document));
    const known: KnownPolicy[] = [];
    const policies = readings.flatMap((reading) => {
      const { value } = reading.document;
      if (!isOldPolicy(value)) return [];
      const toAdmissionPolicy = this.target !== "kyverno";
      const circumstances = { definitions: this.#definitions, toAdmissionPolicy, compiles: !toAdmissionPolicy };
      const conversion = convertPolicy(value, circumstances);
      known.push({ policy: value, conversion });
      return this.#policy(reading, value, conversion) ?? [];
    });
    const exceptions = readings.flatMap((reading) => {
      const { value } = reading.document;
      const { kind } = identityOf(reading.document);
      if (isOldException(value)) return this.#exception(reading, value, known) ?? [];
      if (kind.endsWith("CleanupPolicy")) reading.error(["kind"], `${kind}: write a DeletingPolicy for Kyverno`);
      return [];
    });
    return { policies: [...policies, ...exceptions], problems: readings.flatMap(({ problems }) => problems) };
  }

  #policy(reading: Reading, policy: JsonObject, conversion: PolicyConversion): Converted | undefined {
    for (const { path, message } of conversion.reasons) reading.error(path, message);
    const rules = member(member(policy, "spec"), "rules") as readonly unknown[] | undefined;
    const made = conversion.rules.flatMap(({ index, documents, reasons, notes }) => {
      for (const { path, message } of reasons) reading.error(path, message);
      for (const { path, message } of notes) reading.note(path, message);
      return documents.flatMap((document) => this.#document(reading, document, rules?.[index], index) ?? []);
    });
    return made.length === 0 ? undefined : this.#converted(reading, made);
  }

  #exception(reading: Reading, exception: JsonObject, known: readonly KnownPolicy[]): Converted | undefined {
    if (this.target !== "kyverno") {
      reading.error(
        ["kind"],
        "a ValidatingAdmissionPolicy has no exceptions: write match conditions, or convert without --to",
      );
      return undefined;
    }
    const { documents, reasons, notes } = convertException(exception, known, { definitions: this.#definitions });
    for (const { path, message } of reasons) reading.error(path, message);
    for (const { path, message } of notes) reading.note(path, message);
    const made = documents.map((document) => ({ documents: [withLines(document)], entries: {} }));
    return made.length === 0 ? undefined : this.#converted(reading, made);
  }

  #converted(reading: Reading, made: readonly Pick<Converted, "documents" | "entries">[]): Converted | undefined {
    const { name, namespace, kind } = identityOf(reading.document);
    const documents = made.flatMap((each) => each.documents);
    const identities = documents.map((each) =>
      [text(each, "kind"), namespaceOf(each), nameOf(each)].filter(Boolean).join("/"),
    );
    const taken = identities.find((each) => this.#identities.has(each));
    if (taken !== undefined) {
      reading.error(["metadata", "name"], `another policy becomes ${taken}: rename one`);
      return undefined;
    }
    for (const each of identities) this.#identities.add(each);
    const lower = kind.toLowerCase();
    const longer = [name, `${lower}-${name}`, `${lower}-${namespace}-${name}`];
    const file = longer.find((each) => !this.#names.has(each)) ?? `${lower}-${this.#names.size}`;
    this.#names.add(file);
    return {
      name: file,
      comments: reading.document.commentsAbove(),
      documents,
      entries: Object.assign({}, ...made.map(({ entries }) => entries)) as Readonly<Record<string, JsonObject>>,
      files: new Map(),
      build: "",
    };
  }

  /** A document of the target; undefined where it would not load, with the reasons at their places in the old policy. */
  #document(
    reading: Reading,
    document: ConvertedDocument,
    rule: unknown,
    index: number,
  ): Pick<Converted, "documents" | "entries"> | undefined {
    const isKyverno = this.target === "kyverno";
    const made = isKyverno
      ? { documents: [document.value], entries: {}, errors: documentErrors(document.value) }
      : admissionPolicies(document, rule, this.#compiler);
    for (const { path, text: message } of made.errors) {
      const place =
        path.length === 0
          ? undefined
          : (document.places.get(formatPath(path.slice(0, 3))) ?? document.places.get(formatPath(path.slice(0, 2))));
      const unknown = isKyverno ? undefined : /undeclared reference to '(\w+)'/.exec(message)?.[1];
      const why = unknown === undefined ? message : `it uses ${unknown}, which only Kyverno's policies have`;
      const prefix = isKyverno ? "" : "it can't be a ValidatingAdmissionPolicy: ";
      reading.error(place ?? ["spec", "rules", index], prefix + why);
    }
    return made.errors.length > 0 ? undefined : { documents: made.documents.map(withLines), entries: made.entries };
  }
}

/** The document with long expressions on several lines. */
function withLines(value: JsonObject): JsonObject {
  const entries = Object.entries(value).map(([key, each]) => [
    key,
    typeof each === "string" && EXPRESSIONS.includes(key) ? brokenLines(each) : deeper(each),
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

const deeper = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(deeper) : isObject(value) ? withLines(value) : value;

/** The kind that a CustomResourceDefinition defines. */
function definitionOf(value: unknown): readonly Definition[] {
  if (!isObject(value) || value.kind !== "CustomResourceDefinition") return [];
  const spec = member(value, "spec");
  const names = member(spec, "names");
  const [kind, plural] = [text(names, "kind"), text(names, "plural")];
  if (kind === "" || plural === "" || nameOf(value) === "") return [];
  return [{ group: text(spec, "group"), kind, plural, namespaced: text(spec, "scope") === "Namespaced" }];
}
