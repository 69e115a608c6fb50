/** Audit annotations of groups, within the limits that the API server has for those of its own policies (spec validating-admission-policy.md 1.1). */

import type { Path } from "./documents/problem.js";
import { type MapNode, pairOf, type SourceNode } from "./documents/source-node.js";
import type { GroupAnnotation } from "./entry.js";
import type { ProblemSink } from "./problem-sink.js";
import { record, required } from "./record-shape.js";
import { listOf, mismatch, type Shape, text } from "./shape.js";

/** Most annotations of a group. */
const MAX_ANNOTATIONS = 20;
/** Longest expression, in bytes. */
const MAX_EXPRESSION_BYTES = 5 * 1024;
/** A key: the API server puts the webhook's name and a slash before it, and takes qualified names only. */
const KEY = "^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";

const keyText = text("a key");
const valueText = text("a CEL expression of a text");
const item = record({
  key: required(keyText, "The key, behind the webhook's name in the audit log."),
  valueExpression: required(valueText, "CEL expression of the value."),
});

/** A map from keys to expressions, or a list as Kubernetes has it. */
export const groupAnnotations: Shape<readonly GroupAnnotation[]> = {
  label: "map of string, or list of `key` and `valueExpression`",
  schema: {
    anyOf: [
      {
        type: "object",
        propertyNames: { pattern: KEY },
        additionalProperties: valueText.schema,
        maxProperties: MAX_ANNOTATIONS,
      },
      { ...listOf(item).schema, maxItems: MAX_ANNOTATIONS },
    ],
  },
  read(node, path, sink) {
    const before = sink.errorCount;
    const written = node.kind === "map" ? ofMap(node) : ofList(node, path, sink);
    const annotations = written.flatMap((each) => annotationOf(each, path, sink));
    if (annotations.length > MAX_ANNOTATIONS) {
      sink.error(path, `has ${annotations.length} annotations, at most ${MAX_ANNOTATIONS}`, { code: "CONFIG_LIMIT" });
    }
    return sink.errorCount > before ? undefined : Object.freeze(annotations);
  },
};

/** A key with its expression, at their places below the annotations. */
interface Written {
  readonly key: string;
  readonly keyPath: Path;
  readonly node: SourceNode;
  readonly path: Path;
}

const ofMap = ({ pairs }: MapNode): readonly Written[] =>
  pairs.map(({ key, value }) => ({ key, keyPath: [key], node: value, path: [key] }));

function ofList(node: SourceNode, path: Path, sink: ProblemSink): readonly Written[] {
  if (node.kind !== "list") {
    mismatch(node, path, sink, "a map from key to expression, or a list of key and valueExpression");
    return [];
  }
  const seen = new Set<string>();
  return node.items.flatMap((each, index) => {
    const fields = item.read(each, [...path, index], sink);
    const value = each.kind === "map" ? pairOf(each, "valueExpression")?.value : undefined;
    if (fields === undefined || value === undefined) return [];
    const { key } = fields;
    const keyPath = [index, "key"];
    if (seen.has(key)) sink.error([...path, ...keyPath], "a second one of this key", { code: "CONFIG_DUPLICATE_KEY" });
    seen.add(key);
    return [{ key, keyPath, node: value, path: [index, "valueExpression"] }];
  });
}

function annotationOf(
  { key, keyPath, node, path }: Written,
  base: Path,
  sink: ProblemSink,
): readonly GroupAnnotation[] {
  if (!new RegExp(KEY).test(key)) {
    const rule = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";
    const message = `${JSON.stringify(key)} is not the key of an audit annotation: ${rule}`;
    const about = { code: "CONFIG_NAME" } as const;
    // In a map the key itself is wrong, in a list a value.
    if (keyPath.length === 1) sink.keyError([...base, ...keyPath], message, about);
    else sink.error([...base, ...keyPath], message, about);
  }
  const at = [...base, ...path];
  const valueExpression = valueText.read(node, at, sink);
  if (valueExpression === undefined) return [];
  if (Buffer.byteLength(valueExpression) > MAX_EXPRESSION_BYTES) {
    sink.error(at, `must not have more than ${MAX_EXPRESSION_BYTES} bytes`, { code: "CONFIG_LIMIT" });
  }
  return [{ key, valueExpression, path: [...base.slice(-1), ...path] }];
}
