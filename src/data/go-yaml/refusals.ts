/** What Go's YAML reader refuses though the one that is used here reads it: a text must not have a value where it has none. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, Scalar, visit } from "yaml";
import { aliasTargets, isEmpty, isMergeKey } from "../yaml.js";

/** Control characters, and line breaks that only YAML 1.1 has: Go's reader takes the latter, in its own way. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNREADABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]/;
/** A line of a document that is nothing. */
const EMPTY_LINE = /^(?:---)? *(?:#.*)?\r?$/;
const HALF_CHARACTER = /\\u[dD][89a-fA-F]/;
const CORE_TAG = "tag:yaml.org,2002:";
/** Tags of the language whose values the two readers make differently. */
const OTHER_VALUES: ReadonlySet<string> = new Set(["binary", "omap", "pairs", "float"].map((name) => CORE_TAG + name));
/** Fractions that are printed alike whatever precision the printer thinks them to have. */
const SHORT_FRACTION = /^-?[0-9]{1,3}\.[0-9]{1,3}$/;
const LEAST_INT = -(2n ** 63n);
const LARGEST_INT = 2n ** 63n - 1n;

/** Go's reader has a value, but another one than is made here. */
export const READ_OTHERWISE = "it is read in another way";

/** Why Go's reader does not read a text whose first document this is; {@link READ_OTHERWISE}; `undefined` where nothing is known against it. */
export function goYamlRefusal(text: string, document: Document.Parsed): string | undefined {
  if (UNREADABLE.test(text)) return "control characters are not allowed";
  const { explicit, version } = document.directives.yaml;
  if (explicit && (version !== "1.1" || (text.match(/^%YAML/gm)?.length ?? 0) > 1))
    return "found incompatible YAML document";
  if (document.warnings.some(({ code }) => code === "BAD_DIRECTIVE")) return "found unknown directive name";
  if (isEmpty(document) && !beginsWithNothing(text)) return "did not find expected node content";
  const refusal = refusalWithin(text, document);
  if (refusal !== undefined) return refusal;
  // Some of these have a value for Go, as `!!float '3'`, and some have none.
  const isUnknown = ({ code, message }: { readonly code: string; readonly message: string }): boolean =>
    code === "TAG_RESOLVE_FAILED" && message.includes(CORE_TAG);
  return document.warnings.some(isUnknown) ? READ_OTHERWISE : undefined;
}

/** Whether a text that begins with an empty document has nothing in it that only looks like nothing: a tab, an end without a beginning. */
function beginsWithNothing(text: string): boolean {
  let begun = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("...")) return begun;
    if (!EMPTY_LINE.test(line)) return false;
    if (!line.startsWith("---")) continue;
    if (begun) return true;
    begun = true;
  }
  return true;
}

function refusalWithin(text: string, document: Document.Parsed): string | undefined {
  const targets = aliasTargets(document);
  const followed = (node: unknown): unknown => (isAlias(node) ? targets.get(node) : node);
  let refusal: string | undefined;
  visit(document, {
    Node: (_, node: Node) => {
      if (OTHER_VALUES.has((isAlias(node) ? undefined : node.tag) ?? "")) refusal ??= READ_OTHERWISE;
      if (isScalar(node)) refusal ??= scalarRefusal(text, node);
    },
    Pair: (_, { key, value }: Pair) => {
      if (isScalar(key) && isMergeKey(key)) {
        const isMerged = (one: unknown): boolean => isMap(followed(one));
        if (isMerged(value) || (isSeq(value) && value.items.every(isMerged))) return;
        refusal ??= "map merge requires map or sequence of maps as the value";
      } else refusal ??= keyRefusal(followed(key));
    },
  });
  return refusal;
}

function scalarRefusal(text: string, { type, value, source = "", range }: Scalar): string | undefined {
  if (type === Scalar.QUOTE_DOUBLE) {
    const written = text.slice(range?.[0], range?.[1]);
    return HALF_CHARACTER.test(written) ? "found invalid Unicode character escape code" : undefined;
  }
  if (type !== Scalar.PLAIN || typeof value !== "string") return undefined;
  if (source.startsWith(":")) return "did not find expected node content";
  // Go's reader leaves out all underscores before it looks for a number.
  const isNumber = /^[-+.0-9]/.test(source) && Number.isFinite(Number(source.replaceAll("_", "")));
  return isNumber && source.includes("_") ? READ_OTHERWISE : undefined;
}

/** Keys are texts, booleans, ints, and fractions whose text is certain. */
function keyRefusal(key: unknown): string | undefined {
  if (!isScalar(key)) return "invalid map key";
  const { value, source = "" } = key;
  if (typeof value === "bigint") {
    if (value < LEAST_INT) return READ_OTHERWISE;
    return value <= LARGEST_INT ? undefined : "invalid map key";
  }
  if (typeof value === "number") return SHORT_FRACTION.test(source) ? undefined : READ_OTHERWISE;
  return typeof value === "string" || typeof value === "boolean" ? undefined : "invalid map key";
}

/** Takes away the line break that is put behind a block that ends a text without one. */
export function dropAddedBreak(text: string, document: Document.Parsed): void {
  if (text.endsWith("\n")) return;
  visit(document, {
    Scalar: (_, node) => {
      const isBlock = node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED;
      if (!isBlock || typeof node.value !== "string" || (node.range?.[1] ?? 0) < text.length) return;
      node.value = node.value.replace(/\n$/, "");
    },
  });
}
