/** Texts with variables in patterns. */
import * as cel from "../cel-text.js";
import { template } from "../jmespath/template.js";
import { NotConverted } from "../not-converted.js";
import type { Scope } from "../scope.js";
import { quantityTest, type Test, type TestFor, testOf } from "./scalar.js";
import type { Comparison } from "./text-pattern.js";

type Cel = cel.Cel;

const VARIABLE = /\{\{(?:[^{}]|\{[^{}]*\})*\}\}/g;
/** Roots of values that are names, texts of objects or amounts; what others hold may be a pattern of its own. */
const PLAIN = /^\{\{-?\s*(request|element\d*|elementIndex\d*|serviceAccountName|serviceAccountNamespace)\b/;

/**
 * The test of a text with variables. Their values are compared as they are: Kyverno, which reads the text after it put the values in, would also take operators and
 * wildcards from them.
 */
export function variableTest(text: string, use: TestFor, scope: Scope): Test {
  const whole = template(text, scope);
  if (whole.constant !== undefined) return testOf(whole.constant.value, use);
  const [, operator = "", rest = ""] = /^(>=|<=|>|<|!)?\s*(.*)$/s.exec(text.trim()) ?? [];
  const words = rest.replaceAll(VARIABLE, "");
  const isPure = words.trim() === "";
  const [, left = "", right = ""] = /^(\**)[^*?|&]*?(\**)$/.exec(words) ?? ["", "?"];
  const isPlain = (text.match(VARIABLE) ?? []).every((variable) => PLAIN.test(variable));
  const isRange = /^[-+\d.A-Za-z]*!?-[-+\d.A-Za-z]*$/.test(words) && (rest.match(VARIABLE) ?? []).length > 1;
  if (!isPlain || isRange || left === "?" || (left !== "" && right !== "") || ["map", "list"].includes(whole.type))
    throw new NotConverted([], "what this variable holds may be a pattern of its own: write the condition in CEL");
  const term = template(rest.slice(left.length, rest.length - right.length), scope);
  const wanted = isPure && term.type !== "string" && use.type !== "string" ? cel.call("string", term.cel) : term.cel;
  const { type } = use;
  if (whole.type === "bool") return { of: (value) => cel.equal(value, term.cel), nullPasses: false };
  const asText = (value: Cel): Cel => (type === "string" ? value : cel.call("string", value));
  if (operator !== "" && operator !== "!") {
    const of = (value: Cel): Cel => {
      if (type === "number" && whole.type === "int") return cel.relation(operator as Comparison, value, term.cel);
      return quantityTest(asText(value), operator as Comparison, wanted);
    };
    return { of, nullPasses: false, failing: cel.literal(type === "string" ? "0" : 0) };
  }
  const test = (value: Cel): Cel => {
    if (right !== "") return cel.method(asText(value), "startsWith", wanted);
    if (left !== "") return cel.method(asText(value), "endsWith", wanted);
    if (!isPure || type === "string") return cel.equal(value, term.cel);
    if (type === "quantity") return quantityTest(asText(value), "==", wanted);
    if (type !== undefined) return cel.equal(asText(value), wanted);
    const amounts = [cel.call("isQuantity", asText(value)), cel.call("isQuantity", wanted)];
    return cel.or(cel.equal(value, term.cel), cel.and(...amounts, quantityTest(asText(value), "==", wanted)));
  };
  if (operator === "") return { of: test, nullPasses: false };
  // A wildcard in the variable's value would match more texts, and so refuse more.
  const isLiteral = cel.not(cel.method(wanted, "matches", cel.literal("[*?|&]")));
  return { of: (value) => cel.and(isLiteral, cel.not(test(value))), nullPasses: false };
}
