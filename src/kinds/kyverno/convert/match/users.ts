/** `subjects`, `roles` and `clusterRoles` of a block: who asks. */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { isObject, type JsonObject, member, text } from "../../../../kubernetes/object.js";
import { and, type Cel, FALSE, loop, not, or, primary, TRUE } from "../cel-text.js";
import { NotConverted } from "../not-converted.js";
import { matchesAny } from "./wildcard.js";

const USER = primary('request.userInfo.?username.orValue("")');
const GROUPS = primary("request.userInfo.?groups.orValue([])");
const NO_USER = not(primary("has(request.userInfo.username)"));
const BOUND = [
  `s.kind == "User" ? s.name == ${USER.text}`,
  `s.kind == "Group" ? s.name in ${GROUPS.text}`,
  `s.kind == "ServiceAccount" && ${USER.text} == ` +
    '"system:serviceaccount:" + s.?namespace.orValue(b.metadata.?namespace.orValue("")) + ":" + s.name',
].join(" : ");

const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];

/**
 * Whether the requester is one of a block.
 * @param isMatch whether the block is of `match`: a request without any user, as commands over files make it, matches all of them
 */
export function userTest(block: JsonObject, isMatch: boolean, isNamespaced: boolean, path: FieldPath): Cel {
  const subjects = member(block, "subjects");
  const [roles, clusterRoles] = [strings(block.roles), strings(block.clusterRoles)];
  if ((roles.length > 0 || clusterRoles.length > 0) && isNamespaced)
    throw new NotConverted(
      path,
      "roles: a NamespacedValidatingPolicy can't look up bindings of other namespaces: name the subjects, or write a ClusterPolicy",
    );
  const tests = [
    Array.isArray(subjects) && subjects.length > 0 ? or(...subjects.map(subjectTest)) : TRUE,
    roles.length > 0 ? or(...roles.map(roleTest)) : TRUE,
    clusterRoles.length > 0 ? clusterRoleTest(clusterRoles) : TRUE,
  ];
  const all = and(...tests);
  if (all.text === "true") return all;
  return isMatch ? or(NO_USER, all) : roles.length + clusterRoles.length > 0 ? and(not(NO_USER), all) : all;
}

function subjectTest(subject: unknown): Cel {
  if (!isObject(subject)) return FALSE;
  const name = text(subject, "name");
  switch (subject.kind) {
    case "ServiceAccount":
      return matchesAny(USER, [`system:serviceaccount:${text(subject, "namespace")}:${name}`]);
    case "Group":
      return loop(GROUPS, "exists", "group", matchesAny(primary("group"), [name]));
    case "User":
      return matchesAny(USER, [name]);
    default:
      return FALSE;
  }
}

const bindings = (resource: string, namespace: string, test: string): Cel =>
  primary(
    `dyn(resource.List("rbac.authorization.k8s.io/v1", "${resource}", ${namespace}).items).exists(b, ${test} && b.?subjects.orValue([]).exists(s, ${BOUND}))`,
  );

/** A role is `NAMESPACE:NAME`. */
function roleTest(role: string): Cel {
  const [namespace = "", name = ""] = role.split(":").map((part) => JSON.stringify(part));
  return bindings("rolebindings", namespace, `b.roleRef.kind == "Role" && b.roleRef.name == ${name}`);
}

/** Cluster roles are bound in the whole cluster, or in the request's namespace. */
function clusterRoleTest(names: readonly string[]): Cel {
  const test = `b.roleRef.kind == "ClusterRole" && ${matchesAny(primary("b.roleRef.name"), names.map(escaped)).text}`;
  const local = bindings("rolebindings", "request.namespace", test);
  return or(bindings("clusterrolebindings", '""', test), and(primary("has(request.namespace)"), local));
}

/** Roles have no wildcards: no role's name has such a character. */
const escaped = (name: string): string => name.replaceAll(/[*?]/g, "\u0000");

/** A user of a UserInfo file of Kyverno's command, whose roles bindings tell. */
export interface BoundUser {
  readonly userInfo: JsonObject;
  /** ClusterRoleBindings and RoleBindings, for policies to look up. */
  readonly bindings: readonly JsonObject[];
}

/**
 * The user and the bindings that a UserInfo document of Kyverno's command stands for: it names roles outright.
 * @param document with `userInfo`, `roles` (`NAMESPACE:NAME`) and `clusterRoles`
 */
export function bindingsOf(document: JsonObject): BoundUser {
  const given = member(document, "userInfo");
  const userInfo = { username: "user", ...(isObject(given) && given) };
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: userInfo.username }];
  const binding = (kind: string, roleKind: string, name: string, namespace?: string): JsonObject => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind,
    metadata: { name: `user-info-${name}`, ...(namespace !== undefined && { namespace }) },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: roleKind, name },
    subjects: name === "" ? [] : subjects,
  });
  const local = strings(member(document, "roles")).map((role) => {
    const [namespace = "", name = ""] = role.split(":");
    return binding("RoleBinding", "Role", name, namespace);
  });
  const wide = strings(member(document, "clusterRoles")).map((name) =>
    binding("ClusterRoleBinding", "ClusterRole", name),
  );
  // One of each kind without subjects lets policies find the others, or none.
  const empty = [binding("ClusterRoleBinding", "ClusterRole", ""), binding("RoleBinding", "Role", "", "default")];
  return { userInfo, bindings: [...empty, ...wide, ...local] };
}
