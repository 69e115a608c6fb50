/** The result of evaluating a policy, in the engine's terms (spec kyverno.md 2.5 and 5.4); reports have their own (7.1). */
import type { JsonObject } from "../../../kubernetes/object.js";
import type { CompiledPolicy, CompiledVariant } from "../compiled-policy.js";
import type { ExceptionResource } from "../resource.js";

/** The one result of a policy that matched. */
export interface RuleResult {
  /**
   * `exception`: exempted; `evaluation`: conditions or annotations failed; `match`: matching failed; `mutateDigest`: a tag was not replaced; or the name of an
   * ImageValidatingPolicy.
   */
  readonly rule: string;
  readonly status: "pass" | "fail" | "error" | "skip";
  readonly message: string;
  /** The name of the match condition that is false, of a skipped policy. */
  readonly condition?: string;
  /** Audit annotations and `cel.validationIndex`. */
  readonly properties: Readonly<Record<string, string>>;
  /** The exceptions that exempt from it. */
  readonly exceptions: readonly ExceptionResource[];
  /** The object after the policy's mutations, which may have changed nothing. */
  readonly object?: JsonObject | undefined;
  /** The images that an ImageValidatingPolicy is about. */
  readonly images?: Iterable<string> | undefined;
}

/** The answer of a policy, or of one of its variants. */
export interface PolicyResponse {
  readonly policy: CompiledPolicy;
  readonly variant: CompiledVariant;
  /** `undefined`: its match constraints don't match. */
  readonly result: RuleResult | undefined;
  /** Whether the result's object is another than that before it; absent: not found out. */
  readonly changes?: boolean;
}
