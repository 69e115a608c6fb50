/** Service accounts in user names (spec certificate-request-policy.md 5.3). */
import {
  BOOL,
  CelError,
  type FunctionDeclaration,
  fn,
  method,
  noSuchOverload,
  OpaqueValue,
  objectType,
  overload,
  STRING,
  type Value,
} from "../../cel/index.js";
import { dns1123LabelErrors, dns1123SubdomainErrors } from "../../kubernetes/name-formats.js";

const TYPE_NAME = "cm.io.policy.pkg.internal.approver.validation.ServiceAccount";

const PREFIX = "system:serviceaccount:";
const INVALID = "Username must be in the form system:serviceaccount:namespace:name";

/** The longest user name of a service account: longer ones need not be parsed. */
const MAX_LENGTH = PREFIX.length + 63 + ":".length + 253;

/** A service account: two are equal by namespace and name. */
export class ServiceAccount extends OpaqueValue {
  readonly typeName = TYPE_NAME;

  constructor(
    readonly namespace: string,
    readonly name: string,
  ) {
    super();
  }

  equals(other: Value): boolean | CelError {
    if (!(other instanceof ServiceAccount)) return noSuchOverload();
    return this.name === other.name && this.namespace === other.namespace;
  }

  override get nativeName(): string {
    return "validation.ServiceAccount";
  }

  /** Its user name. */
  toString(): string {
    return `${PREFIX}${this.namespace}:${this.name}`;
  }
}

/** The service account with a user name; `undefined` when it is not one's. */
function serviceAccountOf(username: string): ServiceAccount | undefined {
  if (!username.startsWith(PREFIX) || username.length > MAX_LENGTH) return undefined;
  const colon = username.indexOf(":", PREFIX.length);
  if (colon === -1) return undefined;
  const namespace = username.slice(PREFIX.length, colon);
  const name = username.slice(colon + 1);
  if (dns1123LabelErrors(namespace).length > 0 || dns1123SubdomainErrors(name).length > 0) return undefined;
  return new ServiceAccount(namespace, name);
}

const convert = (username: string): ServiceAccount | CelError =>
  serviceAccountOf(username) ??
  new CelError(`Unable to convert to serviceaccount: err: ${INVALID}, username: ${username}`);

const TYPE = objectType(TYPE_NAME);
/** The work of these functions: a name is some hundred characters at most, and parsing one costs little. */
const WORK = { fixed: 1_000, each: 0, deep: false } as const;

/** `isServiceAccount`, `serviceAccount`, `getName` and `getNamespace`. */
export const SERVICE_ACCOUNT_FUNCTIONS: readonly FunctionDeclaration[] = [
  fn("isServiceAccount", {
    ...overload("serviceaccount_is_sa", [STRING], BOOL, (username: string) => serviceAccountOf(username) !== undefined),
    work: WORK,
  }),
  fn("serviceAccount", { ...overload("username_to_serviceaccount", [STRING], TYPE, convert), work: WORK }),
  fn("getName", {
    ...method("serviceaccount_get_name", [TYPE], STRING, (account: ServiceAccount) => account.name),
    work: WORK,
  }),
  fn("getNamespace", {
    ...method("serviceaccount_get_namespace", [TYPE], STRING, (account: ServiceAccount) => account.namespace),
    work: WORK,
  }),
];
