/** What `inspect` finds, as it is printed by `-o json`. */

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

/** A module, and what it came in. */
export interface InspectedModule extends ModuleDescription {
  /** As it was asked for, without secrets. */
  readonly address: string;
  readonly size: number;
  /** Of the bytes. */
  readonly digest: string;
  readonly artifact?: InspectedArtifact;
  /** Of an Extism manifest. */
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
  /** Of its spec, by name: how many validations, variables and so on. */
  readonly parts: Readonly<Record<string, number>>;
  /** Kind of the parameters that it looks up. */
  readonly params?: string;
  /** Of a binding: the policy. */
  readonly binds?: string;
}

/** A policy as it is loaded. */
export interface InspectedPolicy {
  readonly id: string;
  /** `file:line`. */
  readonly place: string;
  /** `module`, `resource`, `cel`, `group`, or `invalid`. */
  readonly kind: string;
  /** What decides. */
  readonly implementation: string;
  readonly mode?: string;
  readonly allowedToMutate?: boolean;
  readonly expression?: string;
  /** Of a group, by name: the policy that stands for it. */
  readonly members?: Readonly<Record<string, string>>;
  /** Requests that it is for, as far as it says so. */
  readonly rules: readonly string[];
  /** Expressions by path. */
  readonly expressions: readonly string[];
  /** What it needs of a cluster. */
  readonly needs: readonly string[];
  readonly documents: readonly InspectedDocument[];
  readonly module?: InspectedModule;
}

/** Everything. */
export interface Inspected {
  readonly module?: InspectedModule;
  readonly policies?: readonly InspectedPolicy[];
  /** `file:line:column: path: message`. */
  readonly problems: readonly string[];
  readonly errors: number;
}
