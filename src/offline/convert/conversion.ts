/** The interface of converters of other programs' policies: documents in; policies out, and reasons at their places where something is not converted. */
import type { DocumentIdentity } from "../../config/documents/documents.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { JsonObject } from "../../kubernetes/object.js";

/** Where a policy applies: the members of a binding's `matchResources`. */
export interface Scope {
  /** The end of the binding's name, which tells it from the policy's others; `""` for a single one. */
  readonly suffix: string;
  readonly matchResources: JsonObject;
}

/** A policy in CEL. */
export interface CelPolicy {
  readonly name: string;
  /** Lines of comments before it, without `#`. */
  readonly comments: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The spec of a ValidatingAdmissionPolicy. */
  readonly spec: JsonObject;
  /** `Deny`, `Warn` or `Audit`. */
  readonly actions: readonly string[];
  /** At least one. */
  readonly scopes: readonly Scope[];
}

/** A policy that becomes a module: its sources, and the entry of policies.yaml. */
export interface ModulePolicy {
  readonly name: string;
  readonly comments: readonly string[];
  readonly entry: JsonObject;
  /** Its files by their paths below the folder of policies.yaml; policies may share some. */
  readonly files: ReadonlyMap<string, string>;
  /** The command that makes the module, to be run in the same folder. */
  readonly build: string;
}

/** The result of a conversion. */
export interface Conversion {
  readonly policies: readonly (CelPolicy | ModulePolicy)[];
  /** Errors: what is not converted. Warnings: what is, but not quite as it was. */
  readonly problems: readonly Problem[];
}

/** Options of a conversion. */
export interface ConversionOptions {
  /** The comment lines above a document, without `#`. */
  readonly commentsOf: (document: SourceDocument) => readonly string[];
  /** Whether files can be written beside the policies. */
  readonly hasFolder: boolean;
}

/** Reads the policies of one program. */
export interface Reader {
  /** Whether documents of a kind are this program's: those of its kinds that can't be converted, too. */
  reads(identity: DocumentIdentity): boolean;
  /**
   * Converts all of its documents together, as they belong to each other.
   * @param documents single ones: lists are opened
   */
  convert(documents: readonly SourceDocument[], options: ConversionOptions): Conversion;
}

/** Whether a policy is one in CEL. */
export const isCelPolicy = (policy: CelPolicy | ModulePolicy): policy is CelPolicy => "spec" in policy;
