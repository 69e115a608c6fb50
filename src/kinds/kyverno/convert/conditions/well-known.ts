/** The knowledge about keys, values and lists by the names of the fields that they come from. */
import { method } from "../cel-text.js";
import type { Value } from "../jmespath/value.js";
import { hasWildcard } from "../pattern/scalar.js";
import { ask, type Operand } from "./test.js";

/** Fields that are texts, or lists of texts, without wildcards. */
const PLAIN =
  /(?:\b(?:name|namespace|kind|apiVersion|image|operation|username|uid|add|drop|finalizers|groups|[a-z]+Name|registry|tag|digest)|keys\(@?[^()]*\))(?:\[\])?$/;

/** Fields of built-in kinds that may have wildcards: rules of roles and webhooks, hosts, and free texts. */
const WILD =
  /\b(?:verbs|resources|apiGroups|resourceNames|nonResourceURLs|hosts?|rules|annotations|command|args|value|data|key)\b/;

/** Fields of Kubernetes' own kinds that are lists of maps or texts. */
const LISTS =
  /(?:^|\.)(?:\w*[cC]ontainers|volumes|volumeMounts|env|envFrom|ports|rules|subjects|tls|hosts|paths|tolerations|verbs|resources|apiGroups)(?:\[\])?$/;

/** Whether a query ends with a field that is a list. */
export const isKnownList = (source: string): boolean => LISTS.test(source.trim());

/** The name of a loop's variable, such as `container` for a list of containers. */
export const loopNameOf = (source: string): string =>
  /(container|volume|mount|port|rule|subject|host|path)s(?:\[\])?$/i.exec(source.trim())?.[1]?.toLowerCase() ??
  "element";

/** A single text of that sort. */
const NAME = /\b(?:name|namespace|kind|apiVersion|image|operation|username|uid|[a-z]+Name)$/;

/**
 * The term of a key or value, with what its source tells.
 * @param source as it stands in the policy
 * @param isSoft whether the condition does not hold, instead of failing, where the value is missing
 */
export function operandOf(term: Value, source: unknown, isSoft: boolean): Operand {
  if (term.constant !== undefined) return { ...term, wild: hasWildcard(JSON.stringify(term.constant.value)) };
  const path =
    typeof source === "string" ? /^\{\{((?:[^{}]|\{\{?[^{}]*\}\}?)*)\}\}$/s.exec(source)?.[1]?.trim() : undefined;
  // Of a text with variables: what stands beside them.
  if (path === undefined)
    return {
      ...term,
      wild: true,
      word: typeof source === "string" && /[^\w.+-]/.test(source.replace(/\{\{.*?\}\}/gs, "")),
    };
  const plain = path
    .replace(/\s*\|\|\s*(?:'[^'*?]*'|`\[\]`|`""`)$/, "")
    .replace(/^\((.*)\)$/s, "$1")
    .replace(/\.(?:to_upper|to_lower|trim)\(@\)$/, "");
  const isPath = !/[|&=!<>?:]/.test(plain);
  const isKnown = (term.shape ?? term.items?.shape) !== undefined;
  const wild = !(isPath && PLAIN.test(plain)) && (!isKnown || WILD.test(plain));
  const word = isPath && NAME.test(plain) && (term.type === "dyn" || term.type === "string");
  // At admission every object has a name; labels and annotations are texts.
  const isNamed = /^request\.object\.metadata\.name$/.test(plain);
  const nullable =
    term.nullable &&
    !(term.fails && term.breaks !== true && term.inside === undefined && (isNamed || term.type === "string"));
  const there =
    isSoft && term.fails && term.optional !== undefined
      ? (term.present ?? method(term.optional, "hasValue"))
      : undefined;
  return {
    ...term,
    ...(word && { type: "string" as const, word }),
    ...(there !== undefined && { presence: ask(there) }),
    nullable,
    fails: term.fails && !isNamed && there === undefined,
    wild,
    path,
  };
}
