/**
 * The values of the authorizer library (spec kubernetes-cel.md 4.12). They collect a question; the host decides.
 */
import { answered, type Waiting } from "../questions.js";
import { CelError, noSuchOverload } from "../values/cel-error.js";
import { OpaqueValue } from "../values/value.js";

/** The subject of a question: the request's user, or a service account. */
export type AuthorizationSubject =
  | { readonly kind: "user" }
  | { readonly kind: "serviceAccount"; readonly namespace: string; readonly name: string };

/** A question; parts that are not set are `""`. Selectors are as written. */
export type AuthorizationQuestion = { readonly subject: AuthorizationSubject; readonly verb: string } & (
  | { readonly kind: "path"; readonly path: string }
  | ({ readonly kind: "resource" } & ResourceQuestion)
);

/** The resource and verb of a resource check. */
export interface ResourceQuestion {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

/** The host's answer. */
export interface AuthorizationAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  /** `undefined` when the authorizer could decide. */
  readonly error: string | undefined;
}

/** Decides questions. {@link Waiting} ends the evaluation, which has to be repeated when the answer has come. */
export type Authorize = (question: AuthorizationQuestion) => AuthorizationAnswer | Waiting;

/** A value that only serves as a receiver. */
abstract class ReceiverValue extends OpaqueValue {
  equals(): CelError {
    return noSuchOverload();
  }

  toString(): string {
    return this.typeName;
  }
}

/** The value of `authorizer`. */
export class AuthorizerValue extends ReceiverValue {
  readonly typeName = "kubernetes.authorization.Authorizer";

  constructor(
    readonly authorize: Authorize,
    readonly subject: AuthorizationSubject = { kind: "user" },
  ) {
    super();
  }
}

/** `authorizer.path(…)`. */
export class PathCheckValue extends ReceiverValue {
  readonly typeName = "kubernetes.authorization.PathCheck";

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly path: string,
  ) {
    super();
  }

  check(verb: string): DecisionValue {
    const { authorize, subject } = this.authorizer;
    return new DecisionValue(answered(authorize({ kind: "path", subject, verb, path: this.path })));
  }
}

/** `authorizer.group(…)`. */
export class GroupCheckValue extends ReceiverValue {
  readonly typeName = "kubernetes.authorization.GroupCheck";

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly group: string,
  ) {
    super();
  }
}

/** `authorizer.group(…).resource(…)` and the value of `authorizer.requestResource`. */
export class ResourceCheckValue extends ReceiverValue {
  readonly typeName = "kubernetes.authorization.ResourceCheck";

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly question: ResourceQuestion,
  ) {
    super();
  }

  with(part: Partial<ResourceQuestion>): ResourceCheckValue {
    return new ResourceCheckValue(this.authorizer, { ...this.question, ...part });
  }

  check(verb: string): DecisionValue {
    const { authorize, subject } = this.authorizer;
    return new DecisionValue(answered(authorize({ kind: "resource", subject, verb, ...this.question })));
  }
}

/** `….check(verb)`. */
export class DecisionValue extends ReceiverValue {
  readonly typeName = "kubernetes.authorization.Decision";

  constructor(readonly answer: AuthorizationAnswer) {
    super();
  }
}

const isBlank = (text: string): boolean => /^\p{White_Space}*$/u.test(text);
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** `authorizer.path(path)` */
export const pathCheck = (authorizer: AuthorizerValue, path: string): PathCheckValue | CelError =>
  isBlank(path) ? new CelError("path must not be empty") : new PathCheckValue(authorizer, path);

/** `group.resource(resource)` */
export const resourceCheck = (
  { authorizer, group }: GroupCheckValue,
  resource: string,
): ResourceCheckValue | CelError =>
  isBlank(resource)
    ? new CelError("resource must not be empty")
    : new ResourceCheckValue(authorizer, {
        group,
        resource,
        subresource: "",
        namespace: "",
        name: "",
        fieldSelector: "",
        labelSelector: "",
      });

/** `authorizer.serviceAccount(namespace, name)`: the name is checked first. */
export function serviceAccount(
  { authorize }: AuthorizerValue,
  namespace: string,
  name: string,
): AuthorizerValue | CelError {
  if (name.length > 253 || !SUBDOMAIN.test(name)) return new CelError("Invalid service account name");
  if (namespace.length > 63 || !LABEL.test(namespace)) return new CelError("Invalid service account namespace");
  return new AuthorizerValue(authorize, { kind: "serviceAccount", namespace, name });
}
