/** Results of `inspect`, as `-o json` prints them. */

import type { FoundSignature } from "../../fetch/index.js";
import type { ModuleDescription } from "../../wasm/index.js";

/** An artifact in a registry. */
export interface InspectedArtifact {
  /** `host/repository@sha256:…`. */
  readonly reference: string;
  readonly config?: string;
  readonly layers: readonly { readonly mediaType: string; readonly size: number; readonly digest: string }[];
  readonly annotations: Readonly<Record<string, string>>;
  /** With `--show-signatures`. */
  readonly signatures?: readonly FoundSignature[];
}

/** A module with its artifact. */
export interface InspectedModule extends ModuleDescription {
  /** The requested address, without secrets. */
  readonly address: string;
  readonly size: number;
  /** Digest of the bytes. */
  readonly digest: string;
  readonly artifact?: InspectedArtifact;
  /** The plugin of an Extism manifest. */
  readonly plugin?: {
    readonly modules: readonly { readonly name: string; readonly source: string; readonly hash?: string }[];
    /** Keys only: values may be secrets. */
    readonly config: readonly string[];
    readonly allowedHosts: readonly string[];
  };
}

/** A document of a file. */
export interface InspectedDocument {
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  /** Numbers of validations, variables and so on in its spec, by name. */
  readonly parts: Readonly<Record<string, number>>;
  /** Kind of the parameters that it looks up. */
  readonly params?: string;
  /** The policy of a binding. */
  readonly binds?: string;
}

/** A loaded policy. */
export interface InspectedPolicy {
  readonly id: string;
  /** `file:line`. */
  readonly place: string;
  /** `module`, `resource`, `cel`, `group`, or `invalid`. */
  readonly kind: string;
  /** The mechanism that decides. */
  readonly implementation: string;
  readonly mode?: string;
  readonly allowedToMutate?: boolean;
  readonly expression?: string;
  readonly messageExpression?: string;
  /** Expressions of a group's audit annotations, by key. */
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  /** Members of a group, by name, each with its policy. */
  readonly members?: Readonly<Record<string, string>>;
  /** The requests that it matches, if declared. */
  readonly rules: readonly string[];
  /** Expressions by path. */
  readonly expressions: readonly string[];
  /** Its needs of a cluster. */
  readonly needs: readonly string[];
  readonly documents: readonly InspectedDocument[];
  readonly module?: InspectedModule;
}

/** All results. */
export interface Inspected {
  readonly module?: InspectedModule;
  readonly policies?: readonly InspectedPolicy[];
  /** `file:line:column: path: message`. */
  readonly problems: readonly string[];
  readonly errors: number;
}
