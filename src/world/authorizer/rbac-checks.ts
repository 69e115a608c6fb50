/** The API server's checks of RBAC objects that can be read, in its words. */
import { didYouMean } from "../../data/suggest.js";
import { type FieldError, type FieldPath, goJson, notSupported, required } from "../../kubernetes/field-error.js";
import { RBAC_GROUP, type RbacBinding, type RbacObject, type RbacRule, type RbacSubject } from "./rbac-objects.js";

/** The mistakes of an object. */
export function checkRbacObject(object: RbacObject): readonly FieldError[] {
  const namespaced = object.kind === "Role" || object.kind === "RoleBinding";
  return [
    ...(object.name === "" ? [required(["metadata", "name"])] : []),
    ...(namespaced && object.namespace === "" ? [required(["metadata", "namespace"])] : []),
    ...("rules" in object
      ? object.rules.flatMap((rule, index) => checkRule(rule, namespaced, ["rules", index]))
      : [
          ...checkRoleRef(object),
          ...object.subjects.flatMap((subject, index) => checkSubject(subject, namespaced, ["subjects", index])),
        ]),
  ];
}

function checkRule(rule: RbacRule, namespaced: boolean, path: FieldPath): readonly FieldError[] {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  const errors: FieldError[] = [];
  if (verbs.length === 0) errors.push(required([...path, "verbs"], "verbs must contain at least one value"));
  if (nonResourceURLs.length > 0) {
    const wrong = (detail: string): void => {
      const text = `Invalid value: ${goJson(nonResourceURLs)}: ${detail}`;
      errors.push({ path: [...path, "nonResourceURLs"], text });
    };
    if (namespaced) wrong("namespaced rules cannot apply to non-resource URLs");
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      wrong("rules cannot apply to both regular resources and non-resource URLs");
    }
    return errors;
  }
  if (apiGroups.length === 0) {
    errors.push(required([...path, "apiGroups"], "resource rules must supply at least one api group"));
  }
  if (resources.length === 0) {
    errors.push(required([...path, "resources"], "resource rules must supply at least one resource"));
  }
  return errors;
}

function checkRoleRef({ kind, roleRef }: RbacBinding): readonly FieldError[] {
  const kinds = kind === "RoleBinding" ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return [
    ...(roleRef.apiGroup === RBAC_GROUP ? [] : [unsupported(["roleRef", "apiGroup"], roleRef.apiGroup, [RBAC_GROUP])]),
    ...(kinds.includes(roleRef.kind) ? [] : [unsupported(["roleRef", "kind"], roleRef.kind, kinds)]),
    ...(roleRef.name === "" ? [required(["roleRef", "name"])] : []),
  ];
}

function checkSubject(subject: RbacSubject, namespaced: boolean, path: FieldPath): readonly FieldError[] {
  const { apiGroup, kind, name, namespace } = subject;
  const errors: FieldError[] = name === "" ? [required([...path, "name"])] : [];
  switch (kind) {
    case "ServiceAccount":
      if (apiGroup !== "") errors.push(unsupported([...path, "apiGroup"], apiGroup, [""]));
      if (!namespaced && namespace === "") errors.push(required([...path, "namespace"]));
      break;
    case "User":
    case "Group":
      if (apiGroup !== RBAC_GROUP) errors.push(unsupported([...path, "apiGroup"], apiGroup, [RBAC_GROUP]));
      break;
    default:
      errors.push(unsupported([...path, "kind"], kind, ["ServiceAccount", "User", "Group"]));
  }
  return errors;
}

function unsupported(path: FieldPath, value: string, supported: readonly string[]): FieldError {
  const error = notSupported(path, value, supported);
  return { path, text: `${error.text}${didYouMean(value, supported)}` };
}
