/** Service accounts in user names (spec kyverno.md 4.6). */
import {
  CelError,
  type FunctionDeclaration,
  type ObjectTypeDeclaration,
  ObjectValue,
  objectType,
  STRING,
} from "../../../cel/index.js";
import { functions, growing } from "./declare.js";

const PREFIX = "system:serviceaccount:";
const TYPE_NAME = "user.ServiceAccount";

/** The type of {@link ServiceAccount}. */
export const SERVICE_ACCOUNT: ObjectTypeDeclaration = {
  name: TYPE_NAME,
  fields: new Map([
    ["Name", STRING],
    ["Namespace", STRING],
  ]),
  construct: (fields) => new ServiceAccount(String(fields.get("Namespace") ?? ""), String(fields.get("Name") ?? "")),
};

/** The service account of a user name; both fields are empty where it has none. */
export class ServiceAccount extends ObjectValue {
  readonly typeName = TYPE_NAME;

  constructor(
    readonly namespace: string,
    readonly name: string,
  ) {
    super();
  }

  /** Reads a user name: the text behind the namespace is the name, colons and all. */
  static parse(user: string): ServiceAccount {
    const rest = user.startsWith(PREFIX) ? user.slice(PREFIX.length) : "";
    const colon = rest.indexOf(":");
    return colon === -1 ? new ServiceAccount("", "") : new ServiceAccount(rest.slice(0, colon), rest.slice(colon + 1));
  }

  get(field: string): string | CelError {
    if (field === "Name") return this.name;
    return field === "Namespace" ? this.namespace : new CelError(`no such field: ${field}`, "no-such-key");
  }

  /** Whether a field is present: an empty one counts as absent. */
  has(field: string): boolean | CelError {
    const value = this.get(field);
    return value instanceof CelError ? value : value !== "";
  }

  fields(): Iterable<string> {
    return ["Name", "Namespace"];
  }
}

/** `parseServiceAccount`. */
export const USER_FUNCTIONS: readonly FunctionDeclaration[] = functions(
  ["parseServiceAccount", "user.parseServiceAccount"],
  "parse_service_account_string",
  [STRING],
  objectType(TYPE_NAME),
  ServiceAccount.parse,
  growing(1),
);
