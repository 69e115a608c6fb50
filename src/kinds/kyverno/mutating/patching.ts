/** Applies the mutations of Kyverno's policies to objects, which are JSON to it: no struct of Go drops what it does not know. */
import { type Result, Waiting } from "../../../cel/index.js";
import { parseApiVersion } from "../../../kubernetes/names.js";
import { type JsonObject, text } from "../../../kubernetes/object.js";
import { PatchMemory } from "../../../kubernetes/patch-memory.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import type { Attempt } from "../../shared/expressions/attempt.js";
import type { CompiledMutation } from "../../shared/mutation/compile-mutation.js";
import { mutationOf } from "../../shared/mutation/evaluate-mutation.js";
import type { FindTypes } from "../../shared/mutation/merge-types.js";
import { apply, patchedBy } from "../../shared/mutation/mutate.js";
import { MutationSteps } from "../../shared/mutation/mutation-steps.js";

/** The changed object; or the error, in Kyverno's words. */
export type Patched = { readonly object: JsonObject } | { readonly failure: string };

/** The patches of one request (disposable); its attempts share it. */
export class Patching {
  readonly #findTypes: FindTypes;
  readonly #steps = new MutationSteps();
  readonly #memory = new PatchMemory();

  constructor(findTypes: FindTypes) {
    this.#findTypes = findTypes;
  }

  /** Must be called when an attempt begins. */
  begin(): void {
    this.#steps.begin();
  }

  /**
   * Applies a mutation; {@link Waiting} while types are looked up, or others must have their turn.
   * @param value what its expression evaluated to
   * @param replaces whether apply configurations may write lists and maps that are replaced as a whole
   */
  patch(
    mutation: CompiledMutation,
    value: Result,
    object: JsonObject,
    attempt: Attempt,
    replaces: boolean,
  ): Patched | Waiting {
    const { group, version } = parseApiVersion(text(object, "apiVersion")) ?? { group: "", version: "" };
    const kind = { group, version, kind: text(object, "kind") };
    const merges = mutation.patchType === "ApplyConfiguration";
    const types = merges ? this.#findTypes(group, version, attempt.world) : undefined;
    if (types instanceof Waiting) return types;
    if (types instanceof LookupFailure) return { failure: types.message };
    const target = { kind, typed: false, replaces };
    const taken = this.#steps.take(object, value, attempt, {
      ask: () => mutationOf(mutation.patchType, value, {}, undefined, mutation.behaviour),
      apply: (asked) => {
        if (asked.kind === "apply-configuration" && types === undefined) return NO_TYPES;
        return apply(asked, object, types ?? NONE, target, this.#memory);
      },
      patch: (applied) => patchedBy(applied, object, target, this.#memory),
    });
    if (taken === undefined) return Waiting.INSTANCE;
    const [patched, pausing] = taken;
    if (pausing) return Waiting.INSTANCE;
    return "object" in patched || "failure" in patched ? patched : { failure: patched.message };
  }
}

/** The types of a version that has none: JSON patches need none. */
const NONE = { typeOf: () => undefined };

/** The error of an apply configuration for a kind whose schema is not known. */
const NO_TYPES = { kind: "failed", message: "error applying patch: type converter must not be nil" } as const;
