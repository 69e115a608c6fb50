/** What is known of a value by the field of Kubernetes that it comes from: conditions about it are written shorter. */

import type { Term } from "../term.js";
import type { Operand } from "./membership.js";
import { hasWildcard } from "./texts.js";

/** Fields of Kubernetes' own kinds that are whole numbers. */
const NUMBERS =
  /^(?:replicas|minReplicas|maxReplicas|containerPort|hostPort|runAsUser|runAsGroup|fsGroup|generation|elementIndex\d*)$/;

/** Fields that are texts without wildcards. */
const TEXTS = /^(?:name|namespace|kind|apiVersion|image|operation|username|uid|[a-z]+Name|[a-zA-Z]+Policy)$/;

/** Lists whose items are texts without wildcards. */
const PLAIN_LISTS =
  /(?:\b(?:add|drop|finalizers|groups)|\b(?:name|namespace|kind|image))(?:\[\])?$|keys\(@?[^()]*\)(?:\[\])?$/;

/** Fields of Kubernetes' own kinds that are lists of maps or texts. */
const LISTS =
  /(?:^|\.)(?:\w*[cC]ontainers|volumes|volumeMounts|env|envFrom|ports|rules|subjects|tls|hosts|paths|tolerations|verbs|resources|apiGroups)(?:\[\])?$/;

/** Whether a query ends with a field that is a list. */
export const isKnownList = (source: string): boolean => LISTS.test(source.trim());

/** The name of a loop's variable, such as `container` for a list of containers. */
export const loopNameOf = (source: string): string =>
  /(container|volume|mount|port|rule|subject|host|path)s(?:\[\])?$/i.exec(source.trim())?.[1]?.toLowerCase() ??
  "element";

/** The term of a key or value, and whether it may have wildcards. @param source as it stands in the policy */
export function operandOf(term: Term, source: unknown): Operand {
  if (term.constant !== undefined) {
    const { value } = term.constant;
    return { ...term, nullable: value === null, wild: hasWildcard(JSON.stringify(value)) };
  }
  const path = typeof source === "string" ? /^\{\{\s*(.*?)\s*\}\}$/s.exec(source)?.[1]?.trim() : undefined;
  if (path === undefined) return { ...term, wild: true };
  // `a.name || 'x'`, and what is piped into nothing, is told by its path.
  const plain = path.replace(/\s*\|\|\s*(?:'[^'*?]*'|`\[\]`|`""`)$/, "").replace(/^\((.*)\)$/s, "$1");
  const field = /(?:^|[.])([A-Za-z]+\d*)$/.exec(plain)?.[1] ?? "";
  const isPath = /^[\w.[\]"/-]+$/.test(plain);
  const wild = !(isPath && TEXTS.test(field)) && !PLAIN_LISTS.test(plain);
  // At admission every object has a name.
  if (/^request\.object\.metadata\.name$/.test(plain)) return { ...term, fails: false, nullable: false, wild };
  // Null is dropped where a field has a type.
  const isTyped = /^request\.(?:object|oldObject)\.metadata\.|^element\.(?:name|image)$/.test(plain);
  const sure = { ...term, nullable: term.nullable && !term.fails };
  if (isTyped && term.fails) return { ...sure, type: term.type, wild };
  if (term.type !== "dyn" || !isPath) return { ...term, wild };
  if (TEXTS.test(field) && !plain.includes("[")) return { ...sure, type: "string", wild };
  if (NUMBERS.test(field)) return { ...sure, type: "number", wild };
  return { ...term, wild };
}
