/** One operation of a JSON Patch, made by the API server from a CEL value (spec mutating-admission-policy.md 6). */
export interface PatchOperation {
  readonly op: string;
  readonly path: string;
  /** `""`: there is none. */
  readonly from: string;
  /** JSON in the value model of `data/json`, as protobuf's Value writes it; `undefined`: there is none. */
  readonly value: unknown;
}
