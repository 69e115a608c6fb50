/** Relations between types that need no substitution (spec kubernetes-cel.md 7.1). */
import type { Behaviour } from "../../data/kubernetes-version.js";
import { partsOf, type Type } from "../types.js";

/** Whether a type is dyn or any: every value has such a type. */
export function isDynamic(type: Type): boolean {
  return type.kind === "dyn" || type.kind === "any";
}

/** The content of an optional type; `undefined` for other types. */
export function optionalContent(type: Type): Type | undefined {
  return type.kind === "opaque" && type.name === "optional_type" ? type.params[0] : undefined;
}

/** The scalar of a wrapper, which counts as it; other types as they are. */
export function unwrapped(type: Type): Type {
  return type.kind === "wrapper" ? type.of : type;
}

/** Whether two types are the same; `byName` false lets any two type parameters be so. */
function isSame(a: Type, b: Type, byName: boolean): boolean {
  if (a === b) return true;
  const left = unwrapped(a);
  const right = unwrapped(b);
  switch (left.kind) {
    case "list":
      return right.kind === "list" && isSame(left.element, right.element, byName);
    case "map":
      return right.kind === "map" && isSame(left.key, right.key, byName) && isSame(left.value, right.value, byName);
    case "opaque":
      return (
        right.kind === "opaque" &&
        left.name === right.name &&
        left.params.length === right.params.length &&
        left.params.every((param, index) => isSame(param, right.params[index]!, byName))
      );
    case "object":
      return right.kind === "object" && left.name === right.name;
    case "type":
      if (right.kind !== "type") return false;
      if (left.of === undefined || right.of === undefined) return left.of === right.of;
      return isSame(left.of, right.of, byName);
    case "param":
      return right.kind === "param" && (!byName || left.name === right.name);
    default:
      return left.kind === right.kind;
  }
}

/** The same type, type parameters by name. */
export function isExactType(a: Type, b: Type): boolean {
  return isSame(a, b, true);
}

/** The same type, where any type parameter equals any other. */
export function isEquivalentType(a: Type, b: Type): boolean {
  return isSame(a, b, false);
}

/** Whether null may stand where this type is expected. */
export function isNullable(type: Type): boolean {
  switch (type.kind) {
    case "null":
    case "wrapper":
    case "opaque":
    case "object":
    case "timestamp":
    case "duration":
    case "any":
      return true;
    default:
      return false;
  }
}

/** Whether `a` is as general as `b`, or more. */
function isAtLeastAsGeneral(a: Type, b: Type, behaviour: Behaviour): boolean {
  if (isDynamic(a) || a.kind === "param") return true;
  if (isDynamic(b) || b.kind === "param") return false;
  switch (a.kind) {
    case "list":
      return b.kind === "list" && isAtLeastAsGeneral(a.element, b.element, behaviour);
    case "map":
      return (
        b.kind === "map" &&
        isAtLeastAsGeneral(a.key, b.key, behaviour) &&
        isAtLeastAsGeneral(a.value, b.value, behaviour)
      );
    case "opaque":
      return (
        b.kind === "opaque" &&
        a.name === b.name &&
        a.params.length === b.params.length &&
        a.params.every((param, index) => isAtLeastAsGeneral(param, b.params[index]!, behaviour))
      );
    case "type":
      if (b.kind !== "type" || behaviour === "1.37") return b.kind === "type";
      return a.of === undefined || (b.of !== undefined && isAtLeastAsGeneral(a.of, b.of, behaviour));
    default:
      return isExactType(a, b);
  }
}

/** The more general of two types that are assignable to each other. */
export function mostGeneral(a: Type, b: Type, behaviour: Behaviour): Type {
  return isAtLeastAsGeneral(a, b, behaviour) ? a : b;
}

/** Whether a type is a type parameter or made of one. */
export const hasParameter = (type: Type): boolean => type.kind === "param" || partsOf(type).some(hasParameter);
