/** The interface of converters of other programs' policies: documents in; policies out, and reasons at their places where something is not converted. */
import type { DocumentIdentity } from "../../config/documents/documents.js";
import type { Problem } from "../../config/documents/problem.js";
import type { SourceDocument } from "../../config/documents/source-document.js";
import type { JsonObject } from "../../kubernetes/object.js";

/** The form of what policies become: Kyverno's own policies in CEL, ValidatingAdmissionPolicies with their bindings, or entries with `cel:`. */
export type Target = "cel" | "kyverno" | "vap";

/** A converted policy. */
export interface Converted {
  readonly name: string;
  /** Lines of comments before it, without `#`. */
  readonly comments: readonly string[];
  /** The policy in the form that is asked for, with what belongs to it; none: it can only be entries. */
  readonly documents: readonly JsonObject[];
  /** Entries of policies.yaml, which say the same. */
  readonly entries: Readonly<Record<string, JsonObject>>;
  /** Sources of a module by their paths below the folder of policies.yaml; policies may share some. */
  readonly files: ReadonlyMap<string, string>;
  /** The command that makes the module, to be run in the same folder; `""`: there is no module. */
  readonly build: string;
}

/** The result of a conversion. */
export interface Conversion {
  readonly policies: readonly Converted[];
  /** Errors: what is not converted. Warnings: what is, but not quite as it was. */
  readonly problems: readonly Problem[];
}

/** Reads the policies of one program. */
export interface Reader {
  /** Whether documents of a kind are this program's: those of its kinds that can't be converted, too. */
  reads(identity: DocumentIdentity): boolean;
  /**
   * Converts all of its documents together, as they belong to each other.
   * @param documents single ones: lists are opened
   * @param hasFolder whether files can be written beside the policies
   * @param target undefined: what fits the program best
   */
  convert(documents: readonly SourceDocument[], hasFolder: boolean, target?: Target): Conversion;
}
