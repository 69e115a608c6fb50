/** Label selectors as text: `app in (a,b),!legacy,tier=web`, with the API server's words for errors. */
import { goQuote } from "./field-error.js";
import type { SelectorRequirement } from "./field-selector.js";
import { labelValueErrors, qualifiedNameErrors } from "./name-formats.js";
import { compareNames } from "./names.js";

interface Token {
  readonly kind: "identifier" | "end" | "(" | ")" | "," | "!" | "=" | "==" | "!=" | ">" | "<" | "in" | "notin";
  readonly text: string;
}

const SYMBOL = /[=!(),<>]/;
const LONGEST_FIRST = ["==", "!=", "=", "!", "(", ")", ",", "<", ">"] as const;
const BINARY = "in, notin, =, ==, !=, gt, lt";

/** The error of a selector. Thrown inside this file only. */
class SelectorError extends Error {}

/** The requirements of a selector in the order written, values sorted; or its error. */
export function parseLabelSelector(selector: string): readonly SelectorRequirement[] | { readonly error: string } {
  try {
    return new Parser(scan(selector)).parse();
  } catch (error) {
    if (error instanceof SelectorError) return { error: error.message };
    throw error;
  }
}

/** The canonical text of a parsed selector: by key, values sorted as they are. */
export function formatLabelSelector(requirements: readonly SelectorRequirement[]): string {
  return [...requirements]
    .sort((a, b) => compareNames(a.key, b.key))
    .map(({ key, operator, values }) => {
      const sorted = values.join(",");
      if (operator === "exists") return key;
      if (operator === "!") return `!${key}`;
      return operator === "in" || operator === "notin"
        ? `${key} ${operator} (${sorted})`
        : `${key}${operator}${sorted}`;
    })
    .join(", ");
}

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  let i = 0;
  while (i < text.length) {
    const character = text[i] ?? "";
    if (/[ \t\r\n]/.test(character)) {
      i++;
    } else if (SYMBOL.test(character)) {
      const symbol = LONGEST_FIRST.find((each) => text.startsWith(each, i)) ?? "!";
      tokens.push({ kind: symbol, text: symbol });
      i += symbol.length;
    } else {
      const start = i;
      while (i < text.length && !/[ \t\r\n=!(),<>]/.test(text[i] ?? "")) i++;
      const word = text.slice(start, i);
      tokens.push({ kind: word === "in" || word === "notin" ? word : "identifier", text: word });
    }
  }
  tokens.push({ kind: "end", text: "" });
  return tokens;
}

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): SelectorRequirement[] {
    const requirements: SelectorRequirement[] = [];
    for (;;) {
      const { kind, text } = this.#peekValue();
      if (kind === "end") return requirements;
      if (kind !== "identifier" && kind !== "!") throw expected(text, ", expected: !, identifier, or 'end of string'");
      requirements.push(this.#requirement());
      const next = this.#takeValue();
      if (next.kind === "end") return requirements;
      if (next.kind !== ",") throw expected(next.text, ", expected: ',' or 'end of string'");
      const after = this.#peekValue();
      if (after.kind !== "identifier" && after.kind !== "!")
        throw expected(after.text, ", expected: identifier after ','");
    }
  }

  #requirement(): SelectorRequirement {
    try {
      return this.#parseRequirement();
    } catch (error) {
      if (error instanceof SelectorError) throw new SelectorError(`unable to parse requirement: ${error.message}`);
      throw error;
    }
  }

  #parseRequirement(): SelectorRequirement {
    let token = this.#takeValue();
    const negated = token.kind === "!";
    if (negated) token = this.#takeValue();
    if (token.kind !== "identifier") throw expected(token.text, ", expected: identifier");
    const key = token.text;
    const keyErrors = qualifiedNameErrors(key);
    if (keyErrors.length > 0) throw new SelectorError(`<nil>: Invalid value: ${goQuote(key)}: ${keyErrors.join("; ")}`);
    const next = this.#peekValue();
    if (negated) return { key, operator: "!", values: [] };
    if (next.kind === "end" || next.kind === ",") return { key, operator: "exists", values: [] };
    const operator = this.#take();
    switch (operator.kind) {
      case "in":
      case "notin":
        return checked(key, operator.kind, this.#values());
      case "=":
      case "==":
      case "!=":
      case ">":
      case "<":
        return checked(key, operator.kind, [this.#exactValue()]);
      default:
        throw expected(operator.text, `, expected: ${BINARY}`);
    }
  }

  #values(): string[] {
    const open = this.#takeValue();
    if (open.kind !== "(") throw expected(open.text, " expected: '('");
    const first = this.#peekValue();
    if (first.kind === ")") {
      this.#take();
      return [""];
    }
    if (first.kind !== "identifier" && first.kind !== ",")
      throw expected(first.text, ", expected: ',', ')' or identifier");
    const values = this.#identifiers();
    if (this.#takeValue().kind !== ")") throw expected(first.text, ", expected: ')'");
    return [...values].sort(compareNames);
  }

  /** A list whose members may be empty; stops before the closing parenthesis. */
  #identifiers(): Set<string> {
    const values = new Set<string>();
    for (;;) {
      const { kind, text } = this.#takeValue();
      const next = this.#peekValue();
      if (kind === "identifier") {
        values.add(text);
        if (next.kind === ")") return values;
        if (next.kind !== ",") throw expected(next.text, ", expected: ',' or ')'");
      } else if (kind === ",") {
        if (values.size === 0 || next.kind === ")" || next.kind === ",") values.add("");
        if (next.kind === ")") return values;
      } else {
        throw expected(text, ", expected: ',', or identifier");
      }
    }
  }

  #exactValue(): string {
    const next = this.#peekValue();
    if (next.kind === "end" || next.kind === ",") return "";
    const { kind, text } = this.#takeValue();
    if (kind !== "identifier") throw expected(text, ", expected: identifier");
    return text;
  }

  #take(): Token {
    return this.#tokens[this.#position++] ?? END;
  }

  /** Takes a value: where one may stand, `in` and `notin` are ordinary words. */
  #takeValue(): Token {
    return asValue(this.#take());
  }

  #peekValue(): Token {
    return asValue(this.#tokens[this.#position] ?? END);
  }
}

const END: Token = { kind: "end", text: "" };
const asValue = (token: Token): Token =>
  token.kind === "in" || token.kind === "notin" ? { kind: "identifier", text: token.text } : token;
const expected = (found: string, rest: string): SelectorError => new SelectorError(`found '${found}'${rest}`);

function checked(key: string, operator: string, values: readonly string[]): SelectorRequirement {
  const errors: string[] = [];
  if (operator === ">" || operator === "<") {
    values.forEach((value, i) => {
      if (/^[+-]?[0-9]+$/.test(value)) return;
      errors.push(
        `values[${i}]: Invalid value: ${goQuote(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    });
  }
  values.forEach((value, i) => {
    const valueErrors = labelValueErrors(value);
    if (valueErrors.length > 0) {
      errors.push(`values[${i}][${key}]: Invalid value: ${goQuote(value)}: ${valueErrors.join("; ")}`);
    }
  });
  if (errors.length > 0) throw new SelectorError(errors.length === 1 ? (errors[0] ?? "") : `[${errors.join(", ")}]`);
  return { key, operator, values };
}
