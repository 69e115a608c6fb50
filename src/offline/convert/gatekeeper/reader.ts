/** Reads Gatekeeper's documents: Constraints become policies, each by the template of its kind. */
import { type DocumentIdentity, identityOf } from "../../../config/documents/documents.js";
import { formatProblem, type Problem } from "../../../config/documents/problem.js";
import type { SourceDocument } from "../../../config/documents/source-document.js";
import { sameValue } from "../../../data/same-value.js";
import { createExpressionCompiler } from "../../../kinds/validating-admission-policy/index.js";
import { isObject, type JsonObject, member } from "../../../kubernetes/object.js";
import type { CelPolicy, Conversion, ConversionOptions, ModulePolicy, Reader } from "../conversion.js";
import { Reading } from "../reading.js";
import { actionsOf } from "./actions.js";
import { celPolicy } from "./cel-policy.js";
import { matchOf } from "./match.js";
import { parametersOf } from "./parameters.js";
import { regoPolicy } from "./rego-policy.js";
import { type Bound, readTemplate, type Template } from "./template.js";

const TEMPLATES = "templates.gatekeeper.sh";
const CONSTRAINTS = "constraints.gatekeeper.sh";
const CONFIG = "config.gatekeeper.sh";
const OWN_GROUP = /(?:^|\.)gatekeeper\.sh$/;
/** Gatekeeper's other kinds by their groups, with the counterpart here. */
const NOT_CONVERTED: Readonly<Record<string, string>> = {
  "mutations.gatekeeper.sh": "mutation: write a MutatingAdmissionPolicy",
  "expansion.gatekeeper.sh": "generated objects are not judged: ask policies about Pods",
  "externaldata.gatekeeper.sh": "external data providers are not supported",
};
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const MAX_NAME = 63;

/** The reader of ConstraintTemplates and Constraints, and of what Config and SyncSet documents say about them. */
export const gatekeeper: Reader = {
  reads: ({ group }) => OWN_GROUP.test(group) && group !== "test.gatekeeper.sh",
  convert: (documents, options) => new Run(documents, options).convert(),
};

interface Found {
  readonly identity: DocumentIdentity;
  readonly reading: Reading;
}

/** One conversion (disposable). */
class Run {
  readonly #found: readonly Found[];
  /** The kinds of all Constraints. */
  readonly #kinds: ReadonlySet<string>;
  readonly #compiler = createExpressionCompiler();
  /** Templates by the kind of their constraints; undefined: it can't be converted, and its reading says why. */
  readonly #templates = new Map<string, { readonly reading: Reading; readonly template: Template | undefined }>();
  /** Problems of documents that are not read further. */
  readonly #problems: Problem[] = [];
  readonly #synced: JsonObject[] = [];
  readonly #exempt: string[] = [];

  constructor(
    documents: readonly SourceDocument[],
    readonly options: ConversionOptions,
  ) {
    const all = documents.map((document) => ({ identity: identityOf(document), reading: new Reading(document) }));
    this.#kinds = new Set(all.flatMap(({ identity }) => (identity.group === CONSTRAINTS ? [identity.kind] : [])));
    this.#found = this.#withoutRepeated(all);
  }

  convert(): Conversion {
    const constraints = this.#found.filter(({ identity }) => identity.group === CONSTRAINTS);
    for (const { identity, reading } of this.#found) this.#other(identity, reading);
    for (const { identity, reading } of this.#found) {
      if (identity.group !== TEMPLATES) continue;
      const template = readTemplate(reading);
      const kind = kindOf(reading);
      if (kind !== "" && !this.#kinds.has(kind))
        reading.error([], `no Constraint of kind ${kind} is there, so Gatekeeper judges nothing: give its file, too`);
      if (this.#templates.get(kind)?.template === undefined) this.#templates.set(kind, { reading, template });
    }
    const names = constraints.map(({ identity }) => identity.name);
    const policies = constraints.flatMap(({ identity, reading }) => {
      const isShared = names.filter((name) => name === identity.name).length > 1;
      const name = isShared ? `${identity.kind.toLowerCase()}-${identity.name}` : identity.name;
      return this.#policy(identity, reading, name) ?? [];
    });
    const problems = [...this.#problems, ...this.#found.flatMap(({ reading }) => reading.problems)];
    return { policies, problems: distinct(problems) };
  }

  #policy(identity: DocumentIdentity, reading: Reading, name: string): CelPolicy | ModulePolicy | undefined {
    if (identity.name.length > MAX_NAME || !NAME.test(identity.name))
      reading.error(["metadata", "name"], `expected at most ${MAX_NAME} characters, of a to z, digits, - and .`);
    if (!/^v1(?:alpha1|beta1)$/.test(identity.version))
      reading.error(["apiVersion"], `expected ${CONSTRAINTS}/v1beta1`);
    const own = this.#templates.get(identity.kind);
    if (own === undefined) {
      const near = [...this.#templates.keys()].find((kind) => kind.toLowerCase() === identity.kind.toLowerCase());
      const hint = near === undefined ? "give its file, too" : `that of ${near} is`;
      reading.error(["kind"], `no ConstraintTemplate of kind ${identity.kind} is there: ${hint}`);
      return undefined;
    }
    const { template, reading: ofTemplate } = own;
    if (template === undefined) {
      reading.error(["kind"], `its ConstraintTemplate ${identityOf(ofTemplate.document).name} is not converted`);
      return undefined;
    }
    reading.onlyKnown(["spec"], ["match", "parameters", "enforcementAction", "scopedEnforcementActions"]);
    if (template.code.engine === "rego" && !this.options.hasFolder)
      reading.error(["kind"], "its ConstraintTemplate is in Rego, which needs files: say where with --output FOLDER");
    const { commentsOf } = this.options;
    const parts = {
      ofTemplate: new Reading(template.document),
      ofConstraint: reading,
      matched: matchOf(reading, template.operations, this.#exempt),
      parameters: parametersOf(reading, template),
      actions: actionsOf(reading),
      name,
      comments: [template.document, reading.document].flatMap(commentsOf),
    };
    const made =
      template.code.engine === "cel"
        ? celPolicy({ ...parts, template: template as Bound<"cel">["template"] }, this.#compiler)
        : regoPolicy({ ...parts, template: template as Bound<"rego">["template"] }, this.#synced);
    ofTemplate.problems.push(...parts.ofTemplate.problems);
    if (made === undefined && parts.ofTemplate.failed && !reading.failed)
      reading.error(["kind"], `its ConstraintTemplate ${template.name} can't be converted`);
    return made;
  }

  /** Reads what is neither a template nor a Constraint. */
  #other({ group, kind }: DocumentIdentity, reading: Reading): void {
    if (group === TEMPLATES || group === CONSTRAINTS) return;
    if (kind === "Config") {
      for (const each of reading.list(["spec", "sync", "syncOnly"]) ?? []) this.#sync(each);
      // Of several only one is in force, and which one is not known.
      if (this.#found.filter(({ identity }) => identity.group === CONFIG).length > 1) return;
      (reading.list(["spec", "match"]) ?? []).forEach((each, index) => {
        const processes = member(each, "processes");
        if (Array.isArray(processes) && (processes.includes("*") || processes.includes("webhook")))
          this.#exempt.push(...(reading.texts(["spec", "match", index, "excludedNamespaces"]) ?? []));
      });
    } else if (kind === "SyncSet") for (const each of reading.list(["spec", "gvks"]) ?? []) this.#sync(each);
    else if (group !== "status.gatekeeper.sh")
      reading.error(["kind"], `${kind}: ${NOT_CONVERTED[group] ?? "this kind is not converted"}`);
  }

  #sync(each: unknown): void {
    if (!isObject(each)) return;
    const group = String(each.group ?? "");
    this.#synced.push({
      apiVersion: group === "" ? String(each.version) : `${group}/${String(each.version)}`,
      kind: String(each.kind),
    });
  }

  /** The documents without those that are there twice; where they differ, none of them is converted. */
  #withoutRepeated(all: readonly Found[]): readonly Found[] {
    const byKey = new Map<string, Found[]>();
    for (const found of all) {
      const { group, kind, name } = found.identity;
      const key = JSON.stringify([group, kind, name]);
      byKey.set(key, [...(byKey.get(key) ?? []), found]);
    }
    return [...byKey.values()].flatMap((same) => {
      const [first, ...others] = same;
      const differing = others.find(({ reading }) => !sameValue(reading.document.value, first?.reading.document.value));
      if (first === undefined || differing === undefined) return first === undefined ? [] : [first];
      if (first.identity.group === CONFIG) return same;
      for (const { reading, identity } of same) {
        const other = same.find((each) => each.reading !== reading)?.reading.document.positionOf([]);
        const place = `${other?.file}:${other?.line}`;
        reading.error(["metadata", "name"], `another ${identity.kind} has this name, and other content: ${place}`);
        this.#problems.push(...reading.problems);
        if (identity.group === TEMPLATES) this.#templates.set(kindOf(reading), { reading, template: undefined });
      }
      return [];
    });
  }
}

/** The kind of a template's constraints. */
const kindOf = (reading: Reading): string => String(reading.at(["spec", "crd", "spec", "names", "kind"]) ?? "");

/** Problems without repetitions: several Constraints find the same mistakes in a template. */
const distinct = (problems: readonly Problem[]): readonly Problem[] => [
  ...new Map(problems.map((problem) => [formatProblem(problem), problem])).values(),
];
