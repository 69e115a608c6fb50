/** Reads Gatekeeper's documents: Constraints become policies, each by the template of its kind. */
import { identityOf } from "../../../config/documents/documents.js";
import type { SourceDocument } from "../../../config/documents/source-document.js";
import { sameValue } from "../../../data/same-value.js";
import { createExpressionCompiler } from "../../../kinds/validating-admission-policy/index.js";
import { type JsonObject, member, text } from "../../../kubernetes/object.js";
import type { Conversion, Converted, Reader, Target } from "../conversion.js";
import { Reading } from "../reading.js";
import { actionsOf } from "./actions.js";
import { celPolicy } from "./cel-policy.js";
import { matchOf, patterns } from "./match.js";
import { parametersOf } from "./parameters.js";
import { regoPolicy } from "./rego-policy.js";
import { kindOf, readTemplate, type Template } from "./template.js";

const TEMPLATES = "templates.gatekeeper.sh";
const CONSTRAINTS = "constraints.gatekeeper.sh";
const OWN_GROUP = /(?:^|\.)gatekeeper\.sh$/;
/** Gatekeeper's other kinds by their groups, with the counterpart here. */
const NOT_CONVERTED: Readonly<Record<string, string>> = {
  "mutations.gatekeeper.sh": "mutation: write a MutatingAdmissionPolicy",
  "expansion.gatekeeper.sh": "generated objects are not judged: ask policies about Pods",
  "externaldata.gatekeeper.sh": "external data providers are not supported",
};
const NAME = /^(?=.{1,63}$)[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** The reader of ConstraintTemplates and Constraints, and of what Config and SyncSet documents say about them. */
export const gatekeeper: Reader = {
  reads: ({ group }) => OWN_GROUP.test(group) && group !== "test.gatekeeper.sh",
  convert: (documents, hasFolder, target) => new Run(withoutRepeated(documents), hasFolder, target).convert(),
};

/** One conversion (disposable). */
class Run {
  readonly #compiler = createExpressionCompiler();
  /** By the kind of their constraints; undefined: it can't be converted. */
  readonly #templates = new Map<string, Template | undefined>();
  readonly #synced: JsonObject[] = [];
  readonly #exempt: string[] = [];
  /** The names of bindings and entries. */
  readonly #taken = new Set<string>();

  constructor(
    readonly readings: readonly Reading[],
    readonly hasFolder: boolean,
    readonly target: Target | undefined,
  ) {}

  convert(): Conversion {
    const constraints = this.#of(CONSTRAINTS);
    const kinds = new Set(constraints.map(({ document }) => identityOf(document).kind));
    for (const reading of this.#of(TEMPLATES)) {
      const template = readTemplate(reading);
      const kind = kindOf(reading);
      if (kind !== "" && !kinds.has(kind))
        reading.error([], `no Constraint of kind ${kind} is there, so Gatekeeper judges nothing: give its file, too`);
      if (this.#templates.get(kind) === undefined) this.#templates.set(kind, template);
    }
    for (const reading of this.readings) this.#other(reading);
    const names = constraints.map(({ document }) => identityOf(document).name);
    const shared = new Set(names.filter((name, index) => names.indexOf(name) !== index)).add("policies");
    const policies = constraints.flatMap((reading) => {
      const { kind, name } = identityOf(reading.document);
      return this.#policy(reading, shared.has(name) ? `${kind.toLowerCase()}-${name}` : name) ?? [];
    });
    return { policies, problems: this.readings.flatMap(({ problems }) => problems) };
  }

  #of(group: string): readonly Reading[] {
    return this.readings.filter(({ document }) => identityOf(document).group === group);
  }

  #policy(constraint: Reading, name: string): Converted | undefined {
    const own = identityOf(constraint.document);
    const kindName = own.kind.toLowerCase();
    if (this.target === "kyverno")
      constraint.error(["kind"], "policies of Gatekeeper become ValidatingAdmissionPolicies: convert it with --to vap");
    if (!NAME.test(own.name))
      constraint.error(["metadata", "name"], "expected at most 63 characters, of a to z, digits, - and .");
    if (!/^v1(?:alpha1|beta1)$/.test(own.version)) constraint.error(["apiVersion"], `expected ${CONSTRAINTS}/v1beta1`);
    const template = this.#templates.get(own.kind);
    const made = template && this.#made(template, constraint, name);
    if (!this.#templates.has(own.kind)) {
      const near = [...this.#templates.keys()].find((kind) => kind.toLowerCase() === kindName);
      const hint = near === undefined ? "give its file, too" : `that of ${near} is`;
      constraint.error(["kind"], `no ConstraintTemplate of kind ${own.kind} is there: ${hint}`);
    } else if (template === undefined || template.reading.failed)
      constraint.error(["kind"], `its ConstraintTemplate ${kindName} is not converted`);
    const keys = Object.keys(made?.entries ?? {});
    const taken = keys.find((key) => this.#taken.has(key));
    if (taken !== undefined)
      constraint.error(["metadata", "name"], `another policy gets the name ${taken}: rename one`);
    for (const key of keys) this.#taken.add(key);
    return taken === undefined ? made : undefined;
  }

  #made(template: Template, constraint: Reading, name: string): Converted | undefined {
    constraint.onlyKnown(["spec"], ["match", "parameters", "enforcementAction", "scopedEnforcementActions"]);
    const { code, reading } = template;
    if ("rego" in code && !this.hasFolder)
      constraint.error(
        ["kind"],
        "its ConstraintTemplate is in Rego, which needs files: say where with --output FOLDER",
      );
    const parts = {
      template,
      constraint,
      matched: matchOf(constraint, template.operations, this.#exempt),
      parameters: parametersOf(constraint, template),
      actions: actionsOf(constraint),
      name,
      comments: [reading, constraint].flatMap(({ document }) => document.commentsAbove()),
    };
    return "source" in code ? celPolicy(parts, code.source, this.#compiler) : regoPolicy(parts, code, this.#synced);
  }

  /** Reads what is neither a template nor a Constraint. */
  #other(reading: Reading): void {
    const { group, kind } = identityOf(reading.document);
    if (group === TEMPLATES || group === CONSTRAINTS || group === "status.gatekeeper.sh") return;
    if (kind === "SyncSet") this.#sync(reading.list(["spec", "gvks"]));
    else if (kind !== "Config")
      reading.error(["kind"], `${kind}: ${NOT_CONVERTED[group] ?? "this kind is not converted"}`);
    else {
      this.#sync(reading.list(["spec", "sync", "syncOnly"]));
      // Of several only one is in force, and which one is not known.
      if (this.#of(group).length > 1) return;
      for (const [index, each] of reading.list(["spec", "match"]).entries()) {
        const names = patterns(reading, ["spec", "match", index, "excludedNamespaces"]);
        const processes = member(each, "processes");
        if (Array.isArray(processes) && (processes.includes("*") || processes.includes("webhook")) && !reading.failed)
          this.#exempt.push(...names);
      }
    }
  }

  #sync(kinds: readonly unknown[]): void {
    for (const each of kinds) {
      const group = text(each, "group");
      const apiVersion = `${group === "" ? "" : `${group}/`}${text(each, "version")}`;
      this.#synced.push({ apiVersion, kind: text(each, "kind") });
    }
  }
}

/** The documents without those that are there twice; where they differ, none of them can be converted. */
function withoutRepeated(documents: readonly SourceDocument[]): readonly Reading[] {
  const seen = new Map<string, Reading>();
  return documents.flatMap((document) => {
    const { group, kind, name } = identityOf(document);
    const key = JSON.stringify([group, kind, name]);
    const [earlier, reading] = [seen.get(key), new Reading(document)];
    if (earlier === undefined) seen.set(key, reading);
    else if (sameValue(earlier.document.value, document.value)) return [];
    else if (kind !== "Config")
      for (const [one, other] of [[earlier, reading] as const, [reading, earlier] as const]) {
        const { file, line } = other.document.positionOf([]);
        if (!one.failed)
          one.error(["metadata", "name"], `another ${kind} has this name, and other content: ${file}:${line}`);
      }
    return [reading];
  });
}
