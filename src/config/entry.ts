/** The typed configuration, from which the loader makes policies. All of it is frozen. */

import type { PolicyMode } from "../policy/policy.js";
import type { Origin } from "./documents/origin.js";
import type { Path, Problem } from "./documents/problem.js";
import type { SourceDocument } from "./documents/source-document.js";
import type { ModuleAddress } from "./module-address.js";

/** A readable configuration file, with its valid and invalid entries. */
export interface Config {
  /** The file as it was named. */
  readonly file: string;
  /** In the order of the file. */
  readonly entries: readonly ConfigEntry[];
  /** Every file and folder that was read, for watching; absolute. */
  readonly files: readonly string[];
}

/** A valid or an invalid entry. */
export type ConfigEntry = PolicyEntry | InvalidEntry;

/** An entry with errors: it becomes an unavailable policy, or stops a strict start. */
export interface InvalidEntry {
  readonly kind: "invalid";
  readonly id: string;
  /** The errors; at least one. */
  readonly problems: readonly Problem[];
  /** For a group: the inputs for checking its expression all the same. */
  readonly draft?: GroupDraft;
  /** The readable part, without references: for finding its other mistakes in the same run, and never to be served. */
  readonly salvaged?: PolicyEntry;
}

/** A group with mistakes. */
export interface GroupDraft {
  readonly expression: string;
  readonly members: readonly string[];
  readonly origin: Origin;
}

/** A policy of any kind. */
export type PolicyEntry = ModuleEntry | ResourceEntry | CelEntry | GroupEntry;

/** The common part of every entry and every member. */
interface Common {
  /** The policy's id; for an inline member `<group>/<member>`. */
  readonly id: string;
  /** Its place in the file. */
  readonly origin: Origin;
  /**
   * The namespace that it is confined to: it applies to requests of objects in it only, and sees only this part of the cluster. Absent: it is
   * for all.
   */
  readonly namespace?: string;
  /** Whole seconds; absent: the server's limit. For a group: the limit of the whole group; absent: none beside its members'. */
  readonly timeoutEvalSeconds?: number;
}

/** The part of top-level entries only; members run in protect mode, without mutation, and have their own messages. */
interface Standing extends Common {
  readonly policyMode: PolicyMode;
  readonly allowedToMutate: boolean;
  /** Custom rejection message (spec kubewarden.md 4.4); for a group the status message of a denial. */
  readonly message?: string;
}

/** A Kubernetes kind that a guest may read. */
export interface ContextAwareResource {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The protocols of modules that an entry can choose; `kubewarden` is already read as `kubewarden-wapc`. */
export type ExecutionMode = "kubewarden-wapc" | "opa" | "gatekeeper" | "wasi" | "extism";

/** Limits of the modules of a namespaced policy. */
export interface ModuleLimits {
  /** Most bytes of all together. */
  readonly maxBytes: number;
  /** The allowed beginnings of their addresses (`config/places`); absent: any except files. */
  readonly places?: readonly string[];
}

/** A WASM policy. */
export interface ModuleEntry extends Standing {
  readonly kind: "module";
  readonly module: ModuleAddress;
  /** JSON object in the value model of `data/json`. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly contextAwareResources: readonly ContextAwareResource[];
  /** Checked patterns, trimmed; see `parseCapabilities`. */
  readonly hostCapabilities: readonly string[];
  /** Absent: from the module. */
  readonly executionMode?: ExecutionMode;
  /** Whether our own CEL engine may stand in for a module that only runs CEL rules. */
  readonly native: boolean;
  /** Absent: the server's limit. */
  readonly memoryLimitMiB?: number;
  /** The limits of a namespaced policy's modules. */
  readonly moduleLimits?: ModuleLimits;
  /** Extism: takes precedence over the manifest's. */
  readonly config?: Readonly<Record<string, string>>;
  /** Extism: checked patterns, see `parseHostPatterns`. */
  readonly allowedHosts?: readonly string[];
  /** Extism; absent: `trace`. */
  readonly logLevel?: "trace" | "debug" | "info" | "warn" | "error" | "silent";
  /** Whether its instances may begin with a state that was taken before. */
  readonly warmStart: boolean;
  /** Whether the entry has mistakes in what it passes or grants to the guest: the module may be fetched and checked, but not run. */
  readonly neverRun?: true;
}

/** The action of a failed validation of a CEL policy. */
export type ValidationAction = "Deny" | "Warn" | "Audit";

/** A policy made of Kubernetes resources (Kubewarden's own kinds are already turned into the other entry kinds). */
export interface ResourceEntry extends Standing {
  readonly kind: "resource";
  /** All documents of all files, in order of name and place. */
  readonly documents: readonly SourceDocument[];
  /** Replaces the actions of bindings. */
  readonly validationActions?: readonly ValidationAction[];
  /** Settings of its CertificateRequestPolicies, of which it has at least one. */
  readonly certificateRequests?: CertificateRequestSettings;
  /**
   * Whether broken documents that only exempt, or answer policies' questions, are left out with a warning: they may have other authors than the policies.
   * Default no.
   */
  readonly optionalCompanions?: boolean;
  /** The index of the only rule that counts of a policy with rules, Kyverno's ClusterPolicy or Policy; absent: all do. */
  readonly onlyRule?: number;
}

/** How CertificateRequestPolicies decide where a cluster would (spec certificate-request-policy.md 3.3, 3.4, 7); absent ones have their default. */
export interface CertificateRequestSettings {
  /** The authority on who may use a policy; default `rbac` with RBAC objects among the documents, else `sar`. */
  readonly binding?: "rbac" | "map" | "sar" | "assume-bound";
  /** Required with `map`, and only then. */
  readonly bound?: readonly BoundSubjects[];
  /** Default `self`. */
  readonly readiness?: "self" | "status";
  /** The create guard's answer where no policy decides; default `allow`. */
  readonly unprocessed?: "allow" | "deny";
  /** Default `refuse`. */
  readonly invalidPolicies?: "refuse" | "keep";
  /** Default false. */
  readonly strictNames?: boolean;
  /** Default false. */
  readonly verifySignature?: boolean;
}

/** Users, groups and service accounts (`namespace:name`), and the policies that each of them may use. */
export interface BoundSubjects {
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
  readonly serviceAccounts?: readonly string[];
  /** Wildcard patterns for names of policies. */
  readonly policies: readonly string[];
  /** Wildcard patterns for namespaces of requests; absent: all. */
  readonly namespaces?: readonly string[];
}

/** An inline CEL policy. */
export interface CelEntry extends Standing {
  readonly kind: "cel";
  /** The spec of a ValidatingAdmissionPolicy: known keys with values of the right types, not checked further. */
  readonly cel: Readonly<Record<string, unknown>>;
  readonly validationActions?: readonly ValidationAction[];
}

/**
 * The members with a warning line in a group's answer: `all` every one; `rejected` (the default) every one when the group denies, and
 * only those that rejected, failed or warned when it allows; `none` no warnings.
 */
export type GroupWarnings = "none" | "rejected" | "all";

/** A group of policies under one expression. */
export interface GroupEntry extends Standing {
  readonly kind: "group";
  /** CEL source, unchecked; empty only in a salvaged entry. Its place: `origin.positionOf(["expression"], …)`. */
  readonly expression: string;
  readonly message: string;
  /** CEL source, unchecked: makes the message of a denial. */
  readonly messageExpression?: string;
  readonly auditAnnotations?: readonly GroupAnnotation[];
  readonly groupWarnings: GroupWarnings;
  /** In order of definition; at least one. */
  readonly members: readonly Member[];
}

/** An audit annotation of a group's answer. */
export interface GroupAnnotation {
  readonly key: string;
  /** CEL source, unchecked. */
  readonly valueExpression: string;
  /** The path of the source in the entry. */
  readonly path: Path;
}

/** A member of a group. */
export interface Member {
  /** Its name in the expression. */
  readonly name: string;
  /** An existing entry by id, or a policy of the group's own with the id `<group>/<member>`. */
  readonly policy: { readonly kind: "reference"; readonly id: string } | PolicyEntry;
}
