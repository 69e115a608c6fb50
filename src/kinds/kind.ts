/**
 * The interfaces of a kind of policies: how its policies are read, checked and compiled, and how they become policies that can
 * be evaluated. A kind knows no other kind; `registry.ts` names them all, and the loader knows them only through it.
 */

import type { Problem } from "../config/documents/problem.js";
import type { SourceDocument } from "../config/documents/source-document.js";
import type { CelEntry, CertificateRequestSettings, GroupDraft, GroupEntry, ModuleEntry } from "../config/entry.js";
import type { PluginManifest } from "../config/plugin-manifest/read.js";
import type { Policy } from "../policy/index.js";
import type { Needs } from "../world/needs.js";
import type { OuterWorld } from "../world/world.js";

/** Receives warnings; never blocks. */
export type Warn = (problem: Problem) => void;

/** A policy that was read, checked and compiled, but has no world yet. */
export interface PreparedEntry {
  /** The questions to the world that it will need. */
  readonly needs: Needs;
  /**
   * The policy in a world. May throw or reject.
   * @throws LoadError
   */
  policy(world: OuterWorld): Policy | Promise<Policy>;
}

/** A type of documents, of any version. */
export interface DocumentType {
  readonly group: string;
  readonly kind: string;
}

/** The documents of one `resource:` entry that belong to one kind. */
export interface DocumentSet {
  /** The id of the policy that they make together. */
  readonly id: string;
  /** The kind's own documents, in order; lists are opened, and names are unique. At least one of them is a policy. */
  readonly own: readonly SourceDocument[];
  /** Every other document of the entry: Namespaces, parameters, definitions. */
  readonly others: readonly SourceDocument[];
  /** Replaces the actions of bindings; absent: the bindings' own. */
  readonly validationActions?: readonly string[];
  /** Settings of CertificateRequestPolicies' decisions; absent: the defaults. */
  readonly certificateRequests?: CertificateRequestSettings;
  /** Whether broken documents other than policies are left out, with a warning; default no: they are errors. */
  readonly optionalCompanions?: boolean;
  /** The index of the only rule that counts of a policy with rules; absent: all do. */
  readonly onlyRule?: number;
  /** Whether the entry may change objects; default no. */
  readonly allowedToMutate?: boolean;
}

/** The documents of a kind. Known without its code, which is loaded when there are some. */
export interface KindDocuments {
  /** The documents that are policies. */
  readonly policies: readonly DocumentType[];
  /** Documents that belong to them, such as bindings. */
  readonly companions: readonly DocumentType[];
}

/** The policies of a kind in one entry. */
export interface PreparedDocuments extends PreparedEntry {
  /**
   * The kinds of those that change objects; absent: they only judge. They are evaluated first, as in a cluster, and those that judge about the changed object. Their
   * outcomes carry the changed object with their patch.
   */
  readonly mutates?: readonly string[];
  /** Those of the same kind that judge, beside ones that mutate; absent: there are none. */
  readonly judging?: PreparedEntry;
}

/** Policies that are documents (`resource:`). */
export interface DocumentKind extends KindDocuments {
  /**
   * All policies among the documents, as one that evaluates them together.
   * @throws LoadError with every mistake at its place; one broken policy is enough, since its restrictions are not known
   */
  prepare(documents: DocumentSet, warn: Warn): PreparedDocuments;
}

/** Policies written in their entry (`cel:`). */
export interface InlineKind {
  /** @throws LoadError with every mistake at its place */
  prepare(entry: CelEntry, warn: Warn): PreparedEntry;
}

/** The modules at the address of a module entry. */
export interface ModuleContents {
  /** The module's bytes; of an Extism manifest, the main module's. They are the kind's own. */
  readonly bytes: Uint8Array;
  /** For an Extism manifest. */
  readonly plugin?: {
    readonly manifest: PluginManifest;
    /** The modules beside the main one, by name. */
    readonly linked: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  };
}

/** The file at the address of a module entry. */
export interface ModuleFiles {
  /** `sha256:<hex>` of the file; absent: not computed. */
  readonly digest?: string;
  /** Reads what is in it; all calls have the same result. Rejects with a LoadError. */
  readonly read: () => Promise<ModuleContents>;
  /** To be called when the bytes are no longer needed: other loads wait for the memory. */
  readonly used?: () => void;
  /** To be called when no policy of these files is left: they may be removed from the download folder. */
  readonly release?: () => void;
}

/** Policies that are WASM modules (`module:`). */
export interface ModuleKind {
  /** The questions to the world that a module may ask, derived from its entry: the module itself need not be there. */
  needs(entry: ModuleEntry): Needs;
  /** The policy; undefined when another kind must run the module. Rejects with a LoadError. */
  policy(entry: ModuleEntry, files: ModuleFiles): Promise<Policy | undefined> | Policy | undefined;
}

/** A member under the name that its group's expression calls. */
export interface GroupMember {
  /** A CEL identifier, unique in the group. */
  readonly name: string;
  readonly policy: Policy;
  /** Milliseconds that one answer may take; Infinity for no limit but the group's. */
  readonly timeout: number;
}

/** Policies made of others (`expression:`). */
export interface GroupKind {
  /**
   * The group over its members, in order of definition.
   * @throws LoadError when the expression does not compile
   */
  policy(entry: GroupEntry, members: readonly GroupMember[], warn: Warn): Policy;
  /** The mistakes in the expression of a group that can't be loaded anyway, so that one run reports all of them. */
  mistakes(draft: GroupDraft): readonly Problem[];
}

/** All kinds. */
export interface Kinds {
  readonly documents: readonly DocumentKind[];
  readonly inline: InlineKind;
  /** Kinds of modules, tried in this order; the last one takes every module. */
  readonly modules: readonly ModuleKind[];
  readonly group: GroupKind;
}
