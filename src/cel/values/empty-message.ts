import { CelError, noSuchOverload } from "./cel-error.js";
import { ObjectValue } from "./value.js";

/** The value of `google.protobuf.Empty{}`: the only message that does not become a plain value. */
export class EmptyMessage extends ObjectValue {
  readonly typeName = "google.protobuf.Empty";

  get(field: string): CelError {
    return new CelError(`no such field '${field}'`);
  }

  has(field: string): CelError {
    return this.get(field);
  }

  override at(): CelError {
    return noSuchOverload();
  }

  fields(): Iterable<string> {
    return [];
  }

  override get isZero(): boolean {
    return true;
  }

  override get nativeName(): string {
    return "*types.protoObj";
  }
}
