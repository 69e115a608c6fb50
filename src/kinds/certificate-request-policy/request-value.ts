/** `cr`, the request as rules see it: a protobuf message with four fields (spec certificate-request-policy.md 5.1). */
import {
  CelError,
  type Kind,
  kindOf,
  listType,
  noSuchOverload,
  type ObjectTypeDeclaration,
  ObjectValue,
  STRING,
  typeNameOf,
  type Value,
} from "../../cel/index.js";
import { ServiceAccount } from "./service-account.js";

const TYPE_NAME = "cm.io.policy.pkg.internal.approver.validation.CertificateRequest";

const FIELDS: readonly string[] = ["name", "namespace", "username", "groups"];

/** The part of a CertificateRequest that rules see. Made once for a request, and read in place. */
export class RequestValue extends ObjectValue {
  readonly typeName = TYPE_NAME;

  constructor(
    readonly name: string,
    readonly namespace: string,
    readonly username: string,
    readonly groups: readonly string[],
  ) {
    super();
  }

  get(field: string): string | readonly string[] | CelError {
    switch (field) {
      case "name":
        return this.name;
      case "namespace":
        return this.namespace;
      case "username":
        return this.username;
      case "groups":
        return this.groups;
      default:
        return noField(field);
    }
  }

  /** Whether a field is present: an empty one counts as absent, as in any message of protobuf's third version. */
  has(field: string): boolean | CelError {
    const value = this.get(field);
    return value instanceof CelError ? value : value.length > 0;
  }

  fields(): Iterable<string> {
    return FIELDS;
  }

  override at(): CelError {
    return noSuchOverload();
  }

  override get nativeName(): string {
    return "*types.protoObj";
  }

  override get goName(): string {
    return "*validation.CertificateRequest";
  }
}

/** A request that a rule has made: equal by its fields, but the reference has another class for it. */
class MadeRequest extends RequestValue {
  override get goName(): string {
    return "*dynamicpb.Message";
  }
}

const noField = (field: string): CelError => new CelError(`no such field '${field}'`, "no-such-key");

/** The type of {@link RequestValue}: a rule may make one, and compare. */
export const REQUEST_TYPE: ObjectTypeDeclaration = {
  name: TYPE_NAME,
  fields: new Map([
    ["name", STRING],
    ["namespace", STRING],
    ["username", STRING],
    ["groups", listType(STRING)],
  ]),
  construct: (fields) => {
    const texts = new Map<string, string>();
    let groups: readonly string[] = [];
    for (const [field, value] of fields) {
      if (field === "groups") {
        const read = readGroups(value);
        if (read instanceof CelError) return read;
        groups = read;
      } else {
        const text = textOf(value);
        if (text instanceof CelError) return mismatch(field, text);
        texts.set(field, text);
      }
    }
    const text = (field: string): string => texts.get(field) ?? "";
    return new MadeRequest(text("name"), text("namespace"), text("username"), groups);
  },
};

const mismatch = (field: string, { message }: CelError): CelError =>
  new CelError(`field type conversion error for ${TYPE_NAME}.${field} value type: ${message}`, "conversion");

function readGroups(value: Value): readonly string[] | CelError {
  if (!Array.isArray(value)) {
    const name = kindOf(value) === "map" ? "map(dyn, dyn)" : typeNameOf(value);
    return new CelError(`unsupported field type for ${TYPE_NAME}.groups: ${name}`, "conversion");
  }
  const groups: string[] = [];
  for (const element of value as readonly Value[]) {
    const text = textOf(element);
    if (text instanceof CelError) return mismatch("groups", text);
    groups.push(text);
  }
  return groups;
}

/** The reference's error for a value that should be a text, by the value's kind. */
const COMPLAINTS: Readonly<Partial<Record<Kind, string>>> = {
  int: "unsupported type conversion from 'int' to string",
  uint: "unsupported type conversion from 'uint' to string",
  double: "type conversion error from Double to 'string'",
  bool: "type conversion error from bool to 'string'",
  bytes: "type conversion error from Bytes to 'string'",
  null: "type conversion error from 'null_type' to 'string'",
  list: "type conversion error from list to 'string'",
  map: "type conversion error from map to 'string'",
  timestamp: "type conversion error from 'Timestamp' to 'string'",
  duration: "type conversion error from 'Duration' to 'string'",
  type: "type conversion not supported for 'type'",
};

/** The text of a field. A service account is its user name there, but not elsewhere. */
function textOf(value: Value): string | CelError {
  if (typeof value === "string") return value;
  if (value instanceof ServiceAccount) return value.toString();
  const kind = value instanceof ObjectValue ? `'${value.goName}'` : typeNameOf(value);
  return new CelError(COMPLAINTS[kindOf(value)] ?? `type conversion error from ${kind} to 'string'`, "conversion");
}
