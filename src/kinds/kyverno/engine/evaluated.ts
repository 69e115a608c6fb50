/** The inputs and the result of evaluating one policy, or a variant of it, for one object. */
import type { Value } from "../../../cel/index.js";
import type { GroupVersionResource } from "../../../kubernetes/names.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import type { Patching } from "../mutating/patching.js";
import type { ExceptionResource } from "../resource.js";
import type { EngineState } from "./engine-state.js";

/** The inputs of an evaluation. */
export interface EvaluationData {
  readonly object: Value;
  readonly oldObject: Value;
  readonly request: Value;
  readonly namespaceObject: Value;
  /** Identifies evaluations of the same policy for one request: the place of the pod template. */
  readonly about: string;
  /** Milliseconds since 1970: exceptions that expired before don't count. */
  readonly now: number;
  /** Applies mutations; absent: nothing is changed. */
  readonly patching?: Patching | undefined;
  readonly state: EngineState;
  /** The resource whose images are known without extractors; absent: none are. */
  readonly resource?: GroupVersionResource | undefined;
  /** Whether tags of images are replaced by digests, and nothing is judged. */
  readonly pins?: boolean;
}

/** The result when conditions, mutations or annotations could not be evaluated. */
export interface Failed {
  readonly kind: "failed";
  readonly message: string;
}

/** The result of an evaluation. */
export type Evaluated =
  | { readonly kind: "skip"; readonly condition?: string }
  | { readonly kind: "exempt"; readonly exceptions: readonly ExceptionResource[] }
  | Failed
  | { readonly kind: "error"; readonly message: string; readonly index: number }
  | {
      readonly kind: "fail";
      readonly message: string;
      readonly index: number;
      readonly annotations: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: "pass";
      readonly annotations: Readonly<Record<string, string>>;
      /** The object after the policy's mutations. */
      readonly object?: JsonObject;
      /** The images that an ImageValidatingPolicy is about. */
      readonly images?: Iterable<string>;
    }
  /** Some tags could not be replaced; `object` has the others replaced. */
  | { readonly kind: "unpinned"; readonly message: string; readonly object: JsonObject };
