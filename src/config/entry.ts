/** The typed configuration: what the loader makes policies of. All of it is frozen. */

import type { PolicyMode } from "../policy/policy.js";
import type { Origin } from "./documents/origin.js";
import type { Problem } from "./documents/problem.js";
import type { SourceDocument } from "./documents/source-document.js";
import type { ModuleAddress } from "./module-address.js";

/** A configuration file that could be read, with the entries that are right and those that aren't. */
export interface Config {
  /** The file as it was named. */
  readonly file: string;
  /** In the order of the file. */
  readonly entries: readonly ConfigEntry[];
  /** Every file and folder that was read, for watching; absolute. */
  readonly files: readonly string[];
}

/** A policy, or what is left of one. */
export type ConfigEntry = PolicyEntry | InvalidEntry;

/** An entry with errors: it becomes an unavailable policy, or stops a strict start. */
export interface InvalidEntry {
  readonly kind: "invalid";
  readonly id: string;
  /** The errors; at least one. */
  readonly problems: readonly Problem[];
  /** For a group: what its expression can be checked with all the same. */
  readonly draft?: GroupDraft;
  /** What of it could be read, references aside: for finding its other mistakes in the same run, and never to be served. */
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

/** What every entry and every member has. */
interface Common {
  /** The policy's id; for an inline member `<group>/<member>`. */
  readonly id: string;
  /** Where it stands in its file. */
  readonly origin: Origin;
  /**
   * The namespace that it is confined to: it applies to requests of objects in it only, and sees nothing of the cluster but what is in it. Absent: it is
   * for all.
   */
  readonly namespace?: string;
  /** Whole seconds; absent: the server's limit. For a group: the limit of the whole group; absent: none beside its members'. */
  readonly timeoutEvalSeconds?: number;
}

/** What only top-level entries can have; members run in protect mode, without mutation, and say their own words. */
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

/** The protocols that a module can be told to speak; `kubewarden` is already read as `kubewarden-wapc`. */
export type ExecutionMode = "kubewarden-wapc" | "opa" | "gatekeeper" | "wasi" | "extism";

/** What the modules of a namespaced policy are held to. */
export interface ModuleLimits {
  /** Bytes that they may have together. */
  readonly maxBytes: number;
  /** What their addresses begin with (`config/places`); absent: they may be anywhere but in files. */
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
  /** Of a namespaced policy. */
  readonly moduleLimits?: ModuleLimits;
  /** Extism: goes before the manifest's. */
  readonly config?: Readonly<Record<string, string>>;
  /** Extism: checked patterns, see `parseHostPatterns`. */
  readonly allowedHosts?: readonly string[];
  /** Extism; absent: `trace`. */
  readonly logLevel?: "trace" | "debug" | "info" | "warn" | "error" | "silent";
  /** Whether its instances may begin with a state that was taken before. */
  readonly warmStart: boolean;
  /** Of an entry with mistakes in what it tells or grants the guest: the module may be fetched and looked at, but not run. */
  readonly neverRun?: true;
}

/** What a failed validation of a CEL policy does. */
export type ValidationAction = "Deny" | "Warn" | "Audit";

/** A policy made of Kubernetes resources (Kubewarden's own kinds are already turned into the other entry kinds). */
export interface ResourceEntry extends Standing {
  readonly kind: "resource";
  /** All documents of all files, in order of name and place. */
  readonly documents: readonly SourceDocument[];
  /** Replaces the actions of bindings. */
  readonly validationActions?: readonly ValidationAction[];
  /** How its CertificateRequestPolicies decide; there is one at least. */
  readonly certificateRequests?: CertificateRequestSettings;
  /** Whether documents that only exempt, or answer what policies ask, are left out with a warning when they are broken: they may be others' than the policies. Default no. */
  readonly optionalCompanions?: boolean;
}

/** How CertificateRequestPolicies decide where a cluster would (spec certificate-request-policy.md 3.3, 3.4, 7); what is absent has its default. */
export interface CertificateRequestSettings {
  /** Who says who may use a policy; default `rbac` with objects of RBAC among the documents, else `sar`. */
  readonly binding?: "rbac" | "map" | "sar" | "assume-bound";
  /** With `map`, and only then. */
  readonly bound?: readonly BoundSubjects[];
  /** Default `self`. */
  readonly readiness?: "self" | "status";
  /** What the create guard does where no policy decides; default `allow`. */
  readonly unprocessed?: "allow" | "deny";
  /** Default `refuse`. */
  readonly invalidPolicies?: "refuse" | "keep";
  /** Default false. */
  readonly strictNames?: boolean;
  /** Default false. */
  readonly verifySignature?: boolean;
}

/** Users, groups and service accounts (`namespace:name`), and what each of them may use. */
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
  /** The spec of a ValidatingAdmissionPolicy: known keys with values of the right types; meaning unchecked. */
  readonly cel: Readonly<Record<string, unknown>>;
  readonly validationActions?: readonly ValidationAction[];
}

/**
 * Which members a group's answer carries a warning line for: `all` every one; `rejected` (the default) every one when the group denies, and
 * only those that rejected, failed or warned when it allows; `none` no warnings.
 */
export type GroupWarnings = "none" | "rejected" | "all";

/** A group of policies under one expression. */
export interface GroupEntry extends Standing {
  readonly kind: "group";
  /** CEL source, unchecked; empty only in what is salvaged. Its place: `origin.positionOf(["expression"], …)`. */
  readonly expression: string;
  readonly message: string;
  readonly groupWarnings: GroupWarnings;
  /** In order of definition; at least one. */
  readonly members: readonly Member[];
}

/** A member of a group. */
export interface Member {
  /** Its name in the expression. */
  readonly name: string;
  /** An existing entry by id, or a policy of the group's own with the id `<group>/<member>`. */
  readonly policy: { readonly kind: "reference"; readonly id: string } | PolicyEntry;
}
