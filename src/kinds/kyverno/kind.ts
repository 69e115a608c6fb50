import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import { isObject, type JsonObject, nameOf, text } from "../../kubernetes/object.js";
import { compileQuery } from "../../world/entries/query.js";
import { allNeeds, NAMESPACE_LABELS, type Needs, NO_NEEDS } from "../../world/needs.js";
import { LookupFailure } from "../../world/resources/resource-source.js";
import { worldOf } from "../../world/world.js";
import type { DocumentKind, PreparedDocuments, PreparedEntry } from "../kind.js";
import { reportOrThrow } from "../report-or-throw.js";
import { askInTurn, isOneOf } from "../resource-entry.js";
import type { LabelSelector } from "../shared/match/label-selector.js";
import { findTypesIn, unknownGroups } from "../shared/mutation/merge-types.js";
import type { SchemaFactory } from "../shared/type-check/bundled-schemas.js";
import type { Watcher } from "../shared/watcher.js";
import { mergesObjects, namesIn } from "./compile.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import { createCompilers } from "./dialect.js";
import { KyvernoPolicySet } from "./policy.js";
import { prepareDocuments } from "./prepare-documents.js";
import { CONTEXT_ENTRY_KIND, isMutating, KYVERNO_DOCUMENTS } from "./resource.js";

/** The label that every Namespace has: its value is known without seeing the Namespace. */
const NAME_LABEL = "kubernetes.io/metadata.name";

/**
 * The questions of a policy to the world, derived from its compiled form and the documents beside it.
 * @param objects the documents besides policies: where Namespaces or context entries are among them, others are not looked for in a
 * cluster
 */
function needsOf({ variants }: CompiledPolicy, objects: readonly JsonObject[]): Needs {
  const bringsNamespaces = objects.some(
    (object) => text(object, "apiVersion") === "v1" && text(object, "kind") === "Namespace",
  );
  const bringsEntries = objects.some((object) => text(object, "kind") === CONTEXT_ENTRY_KIND);
  // `http` and `image` need no cluster.
  const resources = variants.some((variant) => namesIn(variant, "resource"));
  const entries = variants.some((variant) => namesIn(variant, "globalContext"));
  const namespaces = variants.some(({ namesNamespace }) => namesNamespace);
  const labels = variants.flatMap(({ spec }) => labelsOf(spec.matchConstraints?.namespaceSelector));
  return {
    asks: resources || entries || namespaces || labels.length > 0,
    requires: [
      ...(resources ? [{ what: "objects (`resource`)" }] : []),
      ...(entries && !bringsEntries ? [{ what: "context entries", documents: `${CONTEXT_ENTRY_KIND} documents` }] : []),
      ...(!bringsNamespaces && labels.some((label) => label !== NAME_LABEL) ? [NAMESPACE_LABELS] : []),
      ...(!bringsNamespaces && namespaces ? [{ what: "`namespaceObject`", documents: "Namespaces" }] : []),
    ],
    parameters: [],
  };
}

function labelsOf(selector: LabelSelector | undefined): readonly string[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
}

/**
 * Kyverno's policies, which judge or mutate, with exceptions and context entries (spec kyverno.md 1 to 6).
 * @param watcher watches the evaluation of their expressions
 * @param httpInNamespaced whether NamespacedValidatingPolicies may use `http` (spec kyverno.md 1.7)
 * @param checked makes the schemas by which expressions are examined; absent: they are not
 */
export function kyvernoKind(watcher?: Watcher, httpInNamespaced = false, checked?: SchemaFactory): DocumentKind {
  const compilers = createCompilers(watcher);
  return {
    ...KYVERNO_DOCUMENTS,
    prepare(documents, warn) {
      const { id, own, others, validationActions, onlyRule, optionalCompanions = false } = documents;
      const definitions = others.flatMap(({ value }) => (isDefinition(value) ? [value] : []));
      const schemas = checked?.(definitions);
      const examined = { ...(schemas && { schemas }), ...(!optionalCompanions && { definitions }) };
      const options = { compilers, now: Date.now(), httpInNamespaced, jmesPathError, onlyRule, ...examined };
      let prepared = prepareDocuments(own, options);
      if (optionalCompanions) {
        // A broken exception exempts nothing, and a broken entry counts as missing.
        const broken = brokenCompanions(own, prepared.problems);
        const left = prepared.problems.filter(({ file }) => broken.has(file));
        if (broken.size > 0)
          prepared = prepareDocuments(
            own.filter(({ file }) => !broken.has(file)),
            options,
          );
        for (const problem of left) warn({ ...problem, severity: "warning" });
      }
      for (const problem of prepared.unconverted) warn(problem);
      reportOrThrow(prepared.problems, warn);
      const { contextEntries } = prepared;
      const brought = others.map(({ value }) => value).filter(isObject) as readonly JsonObject[];
      const objects = [...brought, ...contextEntries.map((entry): JsonObject => ({ ...entry }))];
      const judging = prepared.policies.filter(({ resource }) => !isMutating(resource));
      const mutating = prepared.policies.filter(({ resource }) => isMutating(resource));
      const judged: PreparedEntry = {
        needs: allNeeds(judging.map((policy) => needsOf(policy, objects))),
        policy: (outer) =>
          new KyvernoPolicySet(judging, { id, world: worldOf(objects, outer), validationActions, watcher }),
      };
      const pinning = documents.allowedToMutate === true ? judging.filter(replacesTags) : [];
      const unpinned = judging.filter((policy) => !pinning.includes(policy));
      for (const problem of warningsOfTags(unpinned, own, id)) warn(problem);
      if (mutating.length + pinning.length === 0) return judged;
      const findTypes = findTypesIn(brought);
      const mutates: PreparedDocuments = {
        mutates: [...new Set([...mutating, ...pinning].map(({ resource }) => resource.kind))],
        needs: allNeeds(
          [...mutating, ...pinning].flatMap((policy) => [needsOf(policy, objects), mergingNeeds(policy, brought)]),
        ),
        policy: (outer) => {
          const options = { id, world: worldOf(objects, outer), watcher };
          const pins = () => new KyvernoPolicySet(pinning, { ...options, validationActions, pins: true });
          if (mutating.length === 0) return pins();
          const first = new KyvernoPolicySet(mutating, { ...options, findTypes });
          return pinning.length === 0 ? first : askInTurn(id, [first], [pins()], outer.now);
        },
      };
      return judging.length === 0 ? mutates : { ...mutates, judging: judged };
    },
  };
}

/** Whether a policy replaces tags of images by digests, where its entry may change objects. */
const replacesTags = ({ variants: [base] }: CompiledPolicy): boolean =>
  base?.mode === "Kubernetes" && base.images?.mutateDigest === true;

/** Warnings about policies that do not replace tags, since their entry may not change objects: most of them refuse the tags then. */
function warningsOfTags(
  policies: readonly CompiledPolicy[],
  documents: readonly SourceDocument[],
  id: string,
): readonly Problem[] {
  const path = ["spec", "validationConfigurations"];
  const refusing = policies.filter(({ variants: [base] }) => base?.images?.verifyDigest && base.images.mutateDigest);
  return refusing.flatMap(({ resource: { kind, metadata }, variants: [base] }) => {
    const group = id.includes("/") ? "members of a group never mutate" : undefined;
    const never = base?.mode === "JSON" ? "JSON payloads are never changed" : group;
    const advice = never
      ? `${never}: write verifyDigest: false, or images by their digests`
      : "write allowedToMutate: true in the entry, or verifyDigest: false";
    const document = documents.find(({ value }) => text(value, "kind") === kind && nameOf(value) === metadata.name);
    const message = `images with tags are refused, since tags are not replaced by digests: ${advice}`;
    return document === undefined ? [] : [document.problem("warning", path, message)];
  });
}

/** The needs of apply configurations: how objects of other groups are merged. */
function mergingNeeds({ resource, variants }: CompiledPolicy, objects: readonly JsonObject[]): Needs {
  return mergesObjects(variants) ? unknownGroups(resource.spec.matchConstraints, objects).needs : NO_NEEDS;
}

const isDefinition = (value: unknown): value is JsonObject => text(value, "kind") === "CustomResourceDefinition";

/** The files of companions with errors, without a policy in the same file. */
function brokenCompanions(documents: readonly SourceDocument[], problems: readonly Problem[]): ReadonlySet<string> {
  const files = new Set(problems.flatMap(({ severity, file }) => (severity === "error" ? [file] : [])));
  for (const document of documents) if (isOneOf(KYVERNO_DOCUMENTS.policies, document)) files.delete(document.file);
  return files;
}

/** The error of a query; `undefined` when it is valid. */
function jmesPathError(expression: string): string | undefined {
  const query = compileQuery(expression);
  return query instanceof LookupFailure ? query.message : undefined;
}
