/** Audit annotations of groups, within the limits that the API server has for those of its own policies (spec validating-admission-policy.md 1.1). */

import type { GroupAnnotation } from "./entry.js";
import { record, required } from "./record-shape.js";
import { listOf, mapOf, mismatch, type Shape, text } from "./shape.js";

/** Most annotations of a group. */
const MAX_ANNOTATIONS = 20;
/** A key: the API server puts the webhook's name and a slash before it, and takes qualified names only. */
const KEY = "^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
const KEY_RULE = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";

const asMap = mapOf(text("a CEL expression of a text"));
const asList = listOf(
  record({
    key: required(text("a key"), "The key, behind the webhook's name in the audit log."),
    valueExpression: required(text("a CEL expression of a text"), "CEL expression of the value."),
  }),
);

/** A map from keys to expressions, or a list as Kubernetes has it. */
export const groupAnnotations: Shape<readonly GroupAnnotation[]> = {
  label: "map of string, or list of `key` and `valueExpression`",
  schema: {
    anyOf: [
      { ...asMap.schema, propertyNames: { pattern: KEY }, maxProperties: MAX_ANNOTATIONS },
      { ...asList.schema, maxItems: MAX_ANNOTATIONS },
    ],
  },
  read(node, path, sink) {
    const before = sink.errorCount;
    const own = path.slice(-1);
    const annotations: GroupAnnotation[] = [];
    if (node.kind === "map") {
      for (const [key, valueExpression] of Object.entries(asMap.read(node, path, sink) ?? {}))
        annotations.push({ key, valueExpression, path: [...own, key] });
    } else if (node.kind === "list") {
      for (const [i, each] of (asList.read(node, path, sink) ?? []).entries())
        annotations.push({ ...each, path: [...own, i, "valueExpression"] });
    } else return mismatch(node, path, sink, "a map from key to expression, or a list of key and valueExpression");
    if (annotations.length > MAX_ANNOTATIONS) {
      sink.error(path, `has ${annotations.length} annotations, at most ${MAX_ANNOTATIONS}`, { code: "CONFIG_LIMIT" });
    }
    const seen = new Set<string>();
    for (const [i, { key }] of annotations.entries()) {
      const at = [...path, ...(node.kind === "map" ? [key] : [i, "key"])];
      const message = `${JSON.stringify(key)} is not the key of an audit annotation: ${KEY_RULE}`;
      if (!new RegExp(KEY).test(key)) sink.error(at, message, { code: "CONFIG_NAME" });
      if (seen.has(key)) sink.error(at, "a second one of this key", { code: "CONFIG_DUPLICATE_KEY" });
      seen.add(key);
    }
    return sink.errorCount > before ? undefined : Object.freeze(annotations);
  },
};
