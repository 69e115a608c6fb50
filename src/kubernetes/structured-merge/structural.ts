/** Whether a custom resource's schema is a structural one: only those are published (apiextensions.k8s.io/v1 refuses all others). */
import { isObject, type JsonObject } from "../object.js";

export function isStructural(schema: JsonObject): boolean {
  return isObject(schema);
}
