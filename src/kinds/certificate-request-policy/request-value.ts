/** `cr`, the request as rules see it: a protobuf message with four fields (spec certificate-request-policy.md 5.1). */
import {
  CelError,
  listType,
  type ObjectTypeDeclaration,
  ObjectValue,
  type Result,
  STRING,
  type Value,
} from "../../cel/index.js";

const TYPE_NAME = "cm.io.policy.pkg.internal.approver.validation.CertificateRequest";

const FIELDS: readonly string[] = ["name", "namespace", "username", "groups"];

/** What of a CertificateRequest rules see. Made once for a request, and read in place. */
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

  /** What is empty counts as absent, as in any message of protobuf's third version. */
  has(field: string): boolean | CelError {
    const value = this.get(field);
    return value instanceof CelError ? value : value.length > 0;
  }

  fields(): Iterable<string> {
    return FIELDS;
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
    for (const [field, value] of fields) {
      const misfit = field === "groups" ? groupsMisfit(value) : textMisfit(value);
      if (misfit !== undefined)
        return new CelError(`field type conversion error for ${TYPE_NAME}.${field} value type: ${misfit}`);
    }
    const text = (field: string): string => (fields.get(field) ?? "") as string;
    return new RequestValue(
      text("name"),
      text("namespace"),
      text("username"),
      (fields.get("groups") ?? []) as readonly string[],
    );
  },
};

function textMisfit(value: Value): string | undefined {
  return typeof value === "string" ? undefined : "TODO";
}

function groupsMisfit(value: Result): string | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === "string") ? undefined : "TODO";
}
