import { CelError, noSuchOverload } from "./cel-error.js";
import { ObjectValue } from "./value.js";

/** What `google.protobuf.Empty{}` makes: the only message that stays one. */
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
