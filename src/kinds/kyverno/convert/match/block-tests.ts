/** The demands of a block of `match` or `exclude` beside kinds and operations, as CEL. */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { isObject, type JsonObject, member, text } from "../../../../kubernetes/object.js";
import {
  and,
  type Cel,
  conditional,
  equal,
  FALSE,
  literal,
  method,
  not,
  optionalMember,
  primary,
  TRUE,
} from "../cel-text.js";
import { NotConverted } from "../not-converted.js";
import type { Block } from "./autogen.js";
import { userTest } from "./users.js";
import { hasEntry, hasWildcard, matchesAny } from "./wildcard.js";

/** The objects that a rule can be about. */
export interface Subjects {
  /** The object that is judged, without variables: of a deletion the old one. */
  readonly object: Cel;
  /** Whether all of them are known to live in namespaces. */
  readonly namespaced: boolean;
  /** Whether Namespaces are among them, or nothing else. */
  readonly namespaces: "all" | "none" | "some";
  /** Whether the policy is a Policy, which sees its own namespace only. */
  readonly confined: boolean;
}

/** A part of a block, named after what it looks at. */
export interface Test {
  readonly name: string;
  readonly cel: Cel;
  readonly from: FieldPath;
}

const NAMESPACE_OR_NONE = primary('request.?namespace.orValue("")');
const IS_NAMESPACE = equal(primary("request.kind.kind"), literal("Namespace"));
const NAMESPACE_LABELS = primary("namespaceObject.?metadata.?labels");

const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];

const entriesOf = (value: unknown): readonly (readonly [string, string])[] =>
  isObject(value) ? Object.entries(value).map(([key, each]) => [key, String(each)]) : [];

/** The tests of a block, in the order of cost. */
export function blockTests({ value, resources, path }: Block, subjects: Subjects, isMatch: boolean): readonly Test[] {
  const at = [...path, "resources"];
  const { name } = resources;
  const metadata = primary(`${subjects.object.text}.metadata`);
  const labels = (key: string): Cel => primary(`${metadata.text}.?${key}`);
  const names = [...(typeof name === "string" && name !== "" ? [name] : []), ...strings(resources.names)];
  const namespaces = strings(resources.namespaces);
  const { selector, namespaceSelector } = resources;
  const annotations = entriesOf(resources.annotations).map(([key, each]) =>
    hasEntry(labels("annotations"), key, [each]),
  );
  const tests: Test[] = [
    {
      name: "name",
      cel: names.length === 0 ? TRUE : matchesAny(NAME, names),
      from: [...at, typeof name === "string" ? "name" : "names"],
    },
    {
      name: "namespace",
      cel: namespaces.length === 0 ? TRUE : matchesAny(namespaceOf(subjects), namespaces),
      from: [...at, "namespaces"],
    },
    { name: "annotations", cel: and(...annotations), from: [...at, "annotations"] },
    { name: "labels", cel: selects(selector, labels("labels"), [...at, "selector"]), from: [...at, "selector"] },
    {
      name: "namespace-labels",
      cel: namespaceTest(namespaceSelector, subjects, [...at, "namespaceSelector"]),
      from: [...at, "namespaceSelector"],
    },
    { name: "user", cel: userTest(value, isMatch, subjects.confined, path), from: path },
  ];
  return tests.filter(({ cel }) => cel.text !== "true");
}

/** The name; of an object that is created with `generateName` its beginning. */
const NAME = primary('request.?name.or(object.?metadata.?generateName).orValue("")');

/** The namespace that `namespaces` is about: of a Namespace its name. */
function namespaceOf({ namespaced, namespaces }: Subjects): Cel {
  if (namespaces === "all") return NAME;
  if (namespaced || namespaces === "none") return NAMESPACE_OR_NONE;
  return primary(`(${conditional(IS_NAMESPACE, NAME, NAMESPACE_OR_NONE).text})`);
}

function namespaceTest(selector: unknown, { namespaces }: Subjects, path: FieldPath): Cel {
  if (!isObject(selector)) return TRUE;
  if (namespaces === "all") return FALSE;
  const labels = selects(selector, NAMESPACE_LABELS, path);
  return namespaces === "none" ? labels : and(not(IS_NAMESPACE), labels);
}

/** Whether labels match a selector whose `matchLabels` may have wildcards. */
export function selects(selector: unknown, labels: Cel, path: FieldPath): Cel {
  if (!isObject(selector)) return TRUE;
  const expressions = member(selector, "matchExpressions");
  return and(
    ...entriesOf(member(selector, "matchLabels")).map(([key, value]) => hasEntry(labels, key, [value])),
    ...(Array.isArray(expressions) ? expressions : [])
      .filter(isObject)
      .map((each) => expressionTest(each, labels, path)),
  );
}

function expressionTest(expression: JsonObject, labels: Cel, path: FieldPath): Cel {
  const key = text(expression, "key");
  const values = strings(expression.values);
  const exists = method(optionalMember(labels, key), "hasValue");
  switch (expression.operator) {
    case "In":
      return hasEntry(labels, key, values);
    case "NotIn":
      return not(hasEntry(labels, key, values));
    case "Exists":
      return exists;
    case "DoesNotExist":
      return not(exists);
    default:
      throw new NotConverted([...path, "matchExpressions"], "expected one of In, NotIn, Exists, DoesNotExist");
  }
}

/** Whether resource rules can say a selector of namespaces: it has no wildcards, and all objects live in namespaces. */
export const isPlainSelector = (selector: unknown): selector is JsonObject =>
  isObject(selector) && !entriesOf(selector.matchLabels).flat().some(hasWildcard);
