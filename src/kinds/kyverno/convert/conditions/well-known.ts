/** What is known of a value by the field of Kubernetes that it comes from: conditions about it are written shorter. */
import type { Term, TermType } from "../term.js";
import type { Operand } from "./membership.js";

/** Fields of Kubernetes' own kinds that are whole numbers. */
const NUMBERS =
  /^(?:replicas|minReplicas|maxReplicas|containerPort|hostPort|runAsUser|runAsGroup|fsGroup|generation|elementIndex\d*)$/;

/** Fields that are texts without wildcards. */
const TEXTS = /^(?:name|namespace|kind|apiVersion|image|operation|username|uid|[a-z]+Name|[a-zA-Z]+Policy)$/;

/** Lists whose items are texts without wildcards. */
const PLAIN_LISTS =
  /(?:\b(?:add|drop|finalizers|groups)|\b(?:name|namespace|kind|image))(?:\[\])?$|keys\(@?[^()]*\)(?:\[\])?$/;

/** The term of a key or value, and whether it may have wildcards. @param source as it stands in the policy */
export function operandOf(term: Term, source: unknown): Operand {
  if (term.constant !== undefined) {
    const { value } = term.constant;
    return { ...term, type: typeOfConstant(value, term.type), nullable: value === null, fails: false, wild: true };
  }
  const path = typeof source === "string" ? /^\{\{\s*(.*?)\s*\}\}$/s.exec(source)?.[1]?.trim() : undefined;
  if (path === undefined) return { ...term, wild: true };
  // `a.name || 'x'`, and what is piped into nothing, is told by its path.
  const plain = path.replace(/\s*\|\|\s*(?:'[^'*?]*'|`\[\]`|`""`)$/, "").replace(/^\((.*)\)$/s, "$1");
  const field = /(?:^|[.])([A-Za-z]+\d*)$/.exec(plain)?.[1] ?? "";
  const isPath = /^[\w.[\]"/-]+$/.test(plain);
  const wild = !(isPath && TEXTS.test(field)) && !PLAIN_LISTS.test(plain);
  if (term.type !== "dyn" || !isPath) return { ...term, wild };
  if (TEXTS.test(field) && !plain.includes("[")) return { ...term, type: "string", wild };
  if (NUMBERS.test(field)) return { ...term, type: "number", wild };
  return { ...term, wild };
}

function typeOfConstant(value: unknown, otherwise: TermType): TermType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (typeof value === "object") return "map";
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  return typeof value === "number" || typeof value === "bigint" ? "number" : otherwise;
}
