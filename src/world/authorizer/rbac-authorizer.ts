/** Decides by Roles and bindings, as Kubernetes' own authorizer does (spec certificate-request-policy.md 3.3). */
import { goQuote } from "../../kubernetes/field-error.js";
import type { Authorizer, AuthorizerAttributes, AuthorizerDecision, AuthorizerUser } from "./authorizer.js";
import type { RbacBinding, RbacObject, RbacRole, RbacRule, RbacSubject } from "./rbac-objects.js";

/** The group whose members may do everything, whatever the roles. */
const PRIVILEGED_GROUP = "system:masters";

/** The rules that a binding gives to one subject. */
interface Grant {
  readonly rules: readonly RbacRule[];
  /** The binding, named in the reason of a decision. */
  readonly binding: RbacBinding;
  readonly subject: RbacSubject;
}

/** The grants of bindings by the names of users and groups. */
interface Grants {
  readonly users: Map<string, Grant[]>;
  readonly groups: Map<string, Grant[]>;
}

/** A user's rights for one kind of question: a user with a thousand questions is looked up once. */
interface Rights {
  readonly asked: AuthorizerAttributes;
  /** The decision for every name, where there is one. */
  readonly all: AuthorizerDecision | undefined;
  readonly names: ReadonlyMap<string, Grant>;
}

const PRIVILEGED: AuthorizerDecision = Object.freeze({ decision: "allow", reason: "" });
const NOT_ALLOWED: AuthorizerDecision = Object.freeze({ decision: "noOpinion", reason: "" });

/** Decides by RBAC objects, after the privileged group. Rights only add up: a binding to a missing role gives none. */
export class RbacAuthorizer implements Authorizer {
  /** Grants by namespace of the binding; `""`: for all namespaces. */
  readonly #grants = new Map<string, Grants>();
  /** The last rights used: a request asks about many names in a row. */
  #last: Rights | undefined;

  /** @param objects one of each kind, namespace and name */
  constructor(objects: readonly RbacObject[]) {
    const roles = new Map<string, RbacRole>();
    for (const object of objects) {
      if ("rules" in object) roles.set(keyOf(object.kind, object.namespace, object.name), object);
    }
    for (const object of objects) {
      if ("rules" in object || !hasScope(object)) continue;
      const { kind, namespace, roleRef } = roleOf(object);
      const role = roles.get(keyOf(kind, namespace, roleRef));
      if (role !== undefined) this.#bind(object, role);
    }
  }

  #bind(binding: RbacBinding, { rules }: RbacRole): void {
    const { namespace } = binding;
    const grants = this.#grants.get(namespace) ?? { users: new Map(), groups: new Map() };
    this.#grants.set(namespace, grants);
    for (const subject of binding.subjects) {
      const user = userOf(subject, namespace);
      const grant: Grant = { rules, binding, subject };
      if (user !== undefined) add(grants.users, user, grant);
      else if (subject.kind === "Group") add(grants.groups, subject.name, grant);
    }
  }

  authorize(asked: AuthorizerAttributes): AuthorizerDecision {
    if (asked.path !== "") return this.#authorizePath(asked);
    if (this.#last === undefined || !isSameQuestion(this.#last.asked, asked)) this.#last = this.#rightsFor(asked);
    const { all, names } = this.#last;
    return all ?? decisionBy(names.get(asked.name));
  }

  #rightsFor(asked: AuthorizerAttributes): Rights {
    const names = new Map<string, Grant>();
    if (asked.user.groups.includes(PRIVILEGED_GROUP)) return { asked, all: PRIVILEGED, names };
    for (const grant of this.#grantsOf(asked.user, asked.namespace)) {
      for (const rule of grant.rules) {
        if (!concerns(rule, asked)) continue;
        if (rule.resourceNames.length === 0) return { asked, all: decisionBy(grant), names };
        for (const name of rule.resourceNames) if (!names.has(name)) names.set(name, grant);
      }
    }
    return { asked, all: undefined, names };
  }

  #authorizePath({ user, namespace, verb, path }: AuthorizerAttributes): AuthorizerDecision {
    if (user.groups.includes(PRIVILEGED_GROUP)) return PRIVILEGED;
    const grant = this.#grantsOf(user, namespace).find(({ rules }) =>
      rules.some((rule) => has(rule.verbs, verb) && rule.nonResourceURLs.some((url) => isPathOf(url, path))),
    );
    return decisionBy(grant);
  }

  /** The grants of the bindings for all namespaces and of those in the namespace; a role that is bound more than once is listed once. */
  #grantsOf({ name, groups }: AuthorizerUser, namespace: string): readonly Grant[] {
    const found = new Map<readonly RbacRule[], Grant>();
    const take = (grants: readonly Grant[] = []): void => {
      for (const grant of grants) if (!found.has(grant.rules)) found.set(grant.rules, grant);
    };
    for (const scope of namespace === "" ? [""] : ["", namespace]) {
      const grants = this.#grants.get(scope);
      if (grants === undefined) continue;
      take(grants.users.get(name));
      for (const group of groups) take(grants.groups.get(group));
    }
    return [...found.values()];
  }
}

/** Whether a binding has a scope. A RoleBinding without a namespace is in none: that must not make it one for all. */
const hasScope = ({ kind, namespace }: RbacBinding): boolean => kind === "ClusterRoleBinding" || namespace !== "";

/** The role that a binding refers to; a RoleBinding's Role is in its own namespace. */
function roleOf({ namespace, roleRef }: RbacBinding) {
  return { kind: roleRef.kind, namespace: roleRef.kind === "Role" ? namespace : "", roleRef: roleRef.name };
}

/** The name of a subject's user; undefined for groups, and for accounts without a namespace. */
function userOf({ kind, name, namespace }: RbacSubject, bindingNamespace: string): string | undefined {
  if (kind === "User") return name;
  const home = namespace || bindingNamespace;
  return kind === "ServiceAccount" && home !== "" ? `system:serviceaccount:${home}:${name}` : undefined;
}

function isSameQuestion(a: AuthorizerAttributes, b: AuthorizerAttributes): boolean {
  return (
    a.user === b.user &&
    a.namespace === b.namespace &&
    a.verb === b.verb &&
    a.group === b.group &&
    a.resource === b.resource &&
    a.subresource === b.subresource
  );
}

function concerns(rule: RbacRule, { verb, group, resource, subresource }: AuthorizerAttributes): boolean {
  if (!has(rule.verbs, verb) || !has(rule.apiGroups, group)) return false;
  if (subresource === "") return has(rule.resources, resource);
  return has(rule.resources, `${resource}/${subresource}`) || rule.resources.includes(`*/${subresource}`);
}

const has = (list: readonly string[], wanted: string): boolean => list.includes("*") || list.includes(wanted);

/** Whether a path matches; stars at the end stand for any text. */
function isPathOf(url: string, path: string): boolean {
  if (url === "*" || url === path) return true;
  return url.endsWith("*") && path.startsWith(url.replace(/\*+$/, ""));
}

function decisionBy(grant: Grant | undefined): AuthorizerDecision {
  if (grant === undefined) return NOT_ALLOWED;
  const { binding, subject } = grant;
  const reason = `RBAC: allowed by ${describe(binding)} to ${describeSubject(subject, binding.namespace)}`;
  return { decision: "allow", reason };
}

function describe({ kind, namespace, name, roleRef }: RbacBinding): string {
  const binding = kind === "RoleBinding" ? `${name}/${namespace}` : name;
  return `${kind} ${goQuote(binding)} of ${roleRef.kind} ${goQuote(roleRef.name)}`;
}

function describeSubject({ kind, name, namespace }: RbacSubject, bindingNamespace: string): string {
  const shown = kind === "ServiceAccount" ? `${name}/${namespace || bindingNamespace}` : name;
  return `${kind} ${goQuote(shown)}`;
}

const keyOf = (kind: string, namespace: string, name: string): string => JSON.stringify([kind, namespace, name]);

function add(grants: Map<string, Grant[]>, name: string, grant: Grant): void {
  const known = grants.get(name);
  if (known === undefined) grants.set(name, [grant]);
  else known.push(grant);
}
