/** Field selectors as text: `status.phase=Running,spec.nodeName!=`. */

/** One requirement of a field or label selector. */
export interface SelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** The requirements of a selector, sorted as written; or its error. */
export function parseFieldSelector(selector: string): readonly SelectorRequirement[] | { readonly error: string } {
  const requirements: SelectorRequirement[] = [];
  for (const term of splitTerms(selector).sort()) {
    if (term === "") continue;
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (match === null) return { error: `invalid selector: '${selector}'; can't understand '${term}'` };
    const value = unescapeValue(match[3] ?? "");
    if (typeof value !== "string") return value;
    requirements.push({ key: match[1] ?? "", operator: match[2] === "!=" ? "!=" : "=", values: [value] });
  }
  return requirements;
}

/** The terms of a selector; a backslash keeps the next character from ending a term. */
function splitTerms(selector: string): string[] {
  const terms = [""];
  let escaped = false;
  for (const character of selector) {
    if (character === "," && !escaped) terms.push("");
    else terms[terms.length - 1] += character;
    escaped = !escaped && character === "\\";
  }
  return terms;
}

function unescapeValue(text: string): string | { readonly error: string } {
  let value = "";
  let escaped = false;
  for (const character of text) {
    const special = character === "\\" || character === "," || character === "=";
    if (escaped) {
      if (!special) return { error: `invalid field selector: invalid escape sequence: \\${character}` };
      value += character;
      escaped = false;
    } else if (character === "\\") {
      escaped = true;
    } else if (special) {
      return { error: `invalid field selector: unescaped character in value: ${character.codePointAt(0)}` };
    } else {
      value += character;
    }
  }
  return escaped ? { error: "invalid field selector: invalid escape sequence: \\" } : value;
}

/** A selector's canonical text. */
export const formatFieldSelector = (requirements: readonly SelectorRequirement[]): string =>
  requirements.map(({ key, operator, values }) => `${key}${operator}${values.join("")}`).join(",");
