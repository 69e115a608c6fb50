/** What becomes of an object by one mutation (spec mutating-admission-policy.md 6 and 7). */
import { applyJsonPatch } from "../../kubernetes/json-patch/apply.js";
import type { JsonObject } from "../../kubernetes/object.js";
import { applyConfiguration } from "../../kubernetes/structured-merge/apply-configuration.js";
import type { VersionSchemas } from "../../kubernetes/structured-merge/merge-schemas.js";
import type { Failure } from "../../policy/outcome.js";
import { internalError } from "./decision.js";
import type { Mutation } from "./evaluate-mutation.js";

/** The object after it (the same where it changed nothing); why it failed; or what ends the request. */
export type Patched = { readonly object: JsonObject } | { readonly failure: string } | Failure;

/** Applies what a mutation asks for. The object is not changed. */
export function mutate(mutation: Mutation, object: JsonObject, types: VersionSchemas): Patched {
  switch (mutation.kind) {
    case "error":
      return { failure: mutation.message };
    case "apply-configuration":
      return applyConfiguration(types, object, mutation.configuration);
    case "json-patch": {
      const outcome = applyJsonPatch(object, mutation.operations);
      switch (outcome.kind) {
        case "patched":
          return { object: outcome.object };
        case "unchanged":
          return { object };
        case "error":
          return { failure: outcome.message };
        case "internal":
        case "panic":
          return internalError(outcome.message);
      }
    }
  }
}
