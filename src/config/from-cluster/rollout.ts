/**
 * Decides which version of a cluster's policy is in force, and which is in shadow. It depends on the document, so that all processes of all replicas decide
 * alike; on what was in force before only until the leader has noted it in the document.
 */
import { parseJson } from "../../data/json.js";
import { kubectlText } from "../../data/kubectl-text.js";
import { isJsonObject, sameValue } from "../../data/same-value.js";
import type { ClusterDocument } from "./cluster-document.js";
import {
  type ActiveNote,
  NOTES,
  OURS,
  type Promotion,
  ROLLOUT,
  type RolloutProblem,
  readRollout,
} from "./rollout-annotations.js";

/** The basis of the decision which version is in force: the leader noted it; it was in force before; or neither, and it is assumed. */
export type RolloutBasis = "noted" | "held" | "guessed";

/** The versions of a policy. */
export interface Versions {
  /** The document in the cluster. */
  readonly document: ClusterDocument;
  /** The version in force; absent: none is yet. The document itself for a policy that is not rolled out. */
  readonly active?: ClusterDocument;
  /** How it is rolled out; absent: the document is in force, and always was. */
  readonly rollout?: Rollout;
}

/** How a policy is rolled out. */
export interface Rollout {
  /** Whether changes go into shadow; false when people have taken that back, and only notes are left. */
  readonly isShadow: boolean;
  /** The version in shadow; absent: the document is in force. */
  readonly shadow?: ShadowDocument;
  /** Namespaces in which the version in shadow is in force. */
  readonly enforcedNamespaces: readonly string[];
  readonly promotion: Promotion;
  readonly basis: RolloutBasis;
  /** The note that the leader has to write, or has written if the basis says so. */
  readonly note: ActiveNote;
  readonly problems: readonly RolloutProblem[];
}

/** A version in shadow. */
export interface ShadowDocument {
  readonly document: ClusterDocument;
  /** Identifies this version beside the one in force, over restarts and in all replicas: `<generation>.<generation in force>.<of the resource's uid>`. */
  readonly version: string;
}

/** Characters of a uid in the name of a version. */
const UID_CHARACTERS = 8;
/** Kinds that are not rolled out, and why, by their group. */
const NOT_ROLLED_OUT: ReadonlyMap<string, string> = new Map([
  ["policy.cert-manager.io", "they decide together"],
  ["admissionregistration.k8s.io", "the API server itself enforces what stands in them"],
]);

/**
 * The versions of a document.
 * @param before those of the same resource (its uid) that this process has served; absent: it has not
 */
export function rollout(document: ClusterDocument, before?: Versions): Versions {
  // Checked for each change of each policy: most are not rolled out.
  if (!document.text.includes(OURS)) return { document, active: document };
  const resource = parseJson(document.text);
  const metadata = isJsonObject(resource) ? resource.metadata : undefined;
  const annotations = isJsonObject(metadata) ? metadata.annotations : undefined;
  if (!isJsonObject(resource) || !isJsonObject(metadata) || !isJsonObject(annotations))
    return { document, active: document };
  const { isShadow, promotion, enforcedNamespaces, note, problems } = readRollout(annotations);
  const hasNotes = NOTES.some((name) => annotations[name] !== undefined);
  if (!isShadow && !hasNotes) return { document, active: document };
  const shown = hasNotes ? withoutNotes(document, resource, metadata, annotations) : document;
  const { spec } = resource;
  const present = { generation: document.generation, spec };
  const common = { isShadow, promotion, enforcedNamespaces, problems };
  const whyNever = NOT_ROLLED_OUT.get(document.key.split("/", 1).join());
  if (!isShadow || whyNever !== undefined) {
    const rolled: Rollout = {
      ...common,
      isShadow: false,
      basis: "noted",
      note: present,
      problems: whyNever !== undefined && isShadow ? [...problems, never(whyNever)] : problems,
    };
    return { document, active: shown, rollout: rolled };
  }
  const { basis, active } =
    note === undefined ? fromBefore(present, before) : { basis: "noted" as const, active: note };
  if (active.generation > 0 && sameValue(active.spec, spec))
    return { document, active: shown, rollout: { ...common, basis, note: present } };
  const version = `${document.generation}.${active.generation}.${document.uid.slice(0, UID_CHARACTERS)}`;
  const shadow = { document: shown, version };
  const inForce = active.generation === 0 ? undefined : withSpec(shown, active);
  return { document, ...(inForce && { active: inForce }), rollout: { ...common, shadow, basis, note: active } };
}

const never = (why: string): RolloutProblem => ({
  path: ["metadata", "annotations", ROLLOUT],
  message: `policies of this kind are not rolled out, since ${why}: what stands here is in force`,
});

/** The version in force as long as it is not noted. */
function fromBefore(
  present: ActiveNote,
  before: Versions | undefined,
): { readonly basis: RolloutBasis; readonly active: ActiveNote } {
  if (before === undefined) {
    // A resource that was never changed counts as new: otherwise it would deny before it is promoted. Any other may have been in force.
    return { basis: "guessed", active: present.generation > 1 ? present : { generation: 0 } };
  }
  const { active } = before;
  if (active === undefined)
    return { basis: before.rollout?.basis === "guessed" ? "guessed" : "held", active: { generation: 0 } };
  const resource = parseJson(active.text);
  return {
    basis: "held",
    active: { generation: active.generation, spec: isJsonObject(resource) ? resource.spec : undefined },
  };
}

/** A document with another spec. */
function withSpec(document: ClusterDocument, { generation, spec }: ActiveNote): ClusterDocument {
  const resource = parseJson(document.text);
  if (!isJsonObject(resource)) return document;
  return { ...document, generation, text: kubectlText({ ...resource, spec }) };
}

/** The document without the leader's notes: their changes are not changes of the policy. The lines stay as they are. */
function withoutNotes(
  document: ClusterDocument,
  resource: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>>,
  annotations: Readonly<Record<string, unknown>>,
): ClusterDocument {
  const kept = Object.entries(annotations).map(([name, value]) => [name, NOTES.includes(name) ? "" : value]);
  const masked = { ...resource, metadata: { ...metadata, annotations: Object.fromEntries(kept) } };
  return { ...document, text: kubectlText(masked) };
}
