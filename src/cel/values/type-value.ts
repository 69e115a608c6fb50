import { MARK } from "./mark.js";

/** A type as a value, as `type(x)` yields it: equal by name (spec kubernetes-cel.md 2.1). */
export class TypeValue {
  get [MARK](): true {
    return true;
  }

  /** @param name the runtime type name: `int`, `list`, `google.protobuf.Timestamp`, `kubernetes.Quantity` … */
  constructor(readonly name: string) {}
}
