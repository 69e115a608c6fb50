/** The rules of the named formats, with the messages that Kubernetes has for them (spec kubernetes-cel.md 4.11). */

import { utf8Length } from "../../data/utf8.js";
import { daysInMonth } from "../values/calendar.js";
import { requestUriError } from "./url-value.js";

/** Finds the errors of a text; empty when there are none. */
export type Check = (text: string) => readonly string[];

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const DNS_1035_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?";
const NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const VALUE = `(${NAME})?`;

const exactly = (pattern: string): RegExp => new RegExp(`^${pattern}$`);
const isLabel = exactly(LABEL);
const isSubdomain = exactly(SUBDOMAIN);
const isDns1035Label = exactly(DNS_1035_LABEL);
const isName = exactly(NAME);
const isValue = exactly(VALUE);

const MAX_LABEL = 63;
const MAX_SUBDOMAIN = 253;

/** A rule with its pattern and examples: `RULE (e.g. 'a',  or 'b', regex used for validation is '…')`. */
const patternMessage = (rule: string, pattern: string, ...examples: readonly string[]): string =>
  `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(" or ")}regex used for validation is '${pattern}')`;

const LABEL_MESSAGE = patternMessage(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  LABEL,
  "my-name",
  "123-abc",
);
const SUBDOMAIN_MESSAGE = patternMessage(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  SUBDOMAIN,
  "example.com",
);
const DNS_1035_MESSAGE = patternMessage(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  DNS_1035_LABEL,
  "my-name",
  "abc-123",
);
const NAME_MESSAGE = patternMessage(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  NAME,
  "MyName",
  "my.name",
  "123-abc",
);
const VALUE_MESSAGE = patternMessage(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  VALUE,
  "MyValue",
  "my_value",
  "12345",
);

const tooLong = (text: string, max: number, unit: "characters" | "bytes"): readonly string[] =>
  utf8Length(text) > max ? [`must be no more than ${max} ${unit}`] : [];

const mismatch = (text: string, pattern: RegExp, message: string): readonly string[] =>
  pattern.test(text) ? [] : [message];

/** An RFC 1123 label. */
export const dns1123Label: Check = (text) => [
  ...tooLong(text, MAX_LABEL, "characters"),
  ...mismatch(text, isLabel, isSubdomain.test(text) ? "must not contain dots" : LABEL_MESSAGE),
];

/** RFC 1123 labels with dots between them. */
export const dns1123Subdomain: Check = (text) => [
  ...tooLong(text, MAX_SUBDOMAIN, "characters"),
  ...mismatch(text, isSubdomain, SUBDOMAIN_MESSAGE),
];

/** A DNS-1035 label. */
export const dns1035Label: Check = (text) => [
  ...tooLong(text, MAX_LABEL, "characters"),
  ...mismatch(text, isDns1035Label, DNS_1035_MESSAGE),
];

/**
 * The rule for the prefix of a generated name: a dash at the end, with the octet before it, counts as a letter. After a longer character, part of it
 * would remain, which no rule accepts: the dash then stays, and is an error as well.
 */
export const asPrefix =
  (check: Check): Check =>
  (text) =>
    check(text.replace(/[\0-\x7f]-$/, "a"));

/** A label key: a name, and a subdomain with a slash before it if there is one. */
export const qualifiedName: Check = (text) => {
  const parts = text.split("/");
  if (parts.length > 2) {
    return [
      `a valid label key ${NAME_MESSAGE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? "";
  return [...(parts.length === 2 ? prefixPart(parts[0] ?? "") : []), ...namePart(name)];
};

function prefixPart(prefix: string): readonly string[] {
  if (prefix === "") return ["prefix part must be non-empty"];
  const problems = [...tooLong(prefix, MAX_SUBDOMAIN, "bytes"), ...mismatch(prefix, isSubdomain, SUBDOMAIN_MESSAGE)];
  return problems.map((problem) => `prefix part ${problem}`);
}

function namePart(name: string): readonly string[] {
  const problems = name === "" ? ["must be non-empty"] : tooLong(name, MAX_LABEL, "bytes");
  return [...problems, ...mismatch(name, isName, NAME_MESSAGE)].map((problem) => `name part ${problem}`);
}

/** A label's value. */
export const labelValue: Check = (text) => [
  ...tooLong(text, MAX_LABEL, "bytes"),
  ...mismatch(text, isValue, VALUE_MESSAGE),
];

/** An absolute URI or path. */
export const uri: Check = (text) => {
  const problem = requestUriError(text);
  return problem === undefined ? [] : [problem];
};

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** A UUID, with or without dashes. */
export const uuid: Check = (text) => mismatch(text, UUID, "does not match the UUID format");

/** Standard base64, not empty. Its last group is matched apart, so that the test needs no long memory of the others. */
export const byte: Check = (text) => {
  const groups = text.length >= 4 && text.length % 4 === 0 && /^[A-Za-z0-9+/]*$/.test(text.slice(0, -4));
  const last = /^(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text.slice(-4));
  return groups && last ? [] : ["invalid base64"];
};

function isDate(text: string): boolean {
  const match = /^([0-9]{4})-([0-9]{2})-([0-9]{2})$/.exec(text);
  if (match === null) return false;
  const [, year, month, day] = match.map(Number) as [number, number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}

/** `YYYY-MM-DD`. */
export const date: Check = (text) => (isDate(text) ? [] : ["invalid date"]);

/** The pattern of a time; any character may start the fraction. */
const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[^\n][0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/u;

/** A date, a `t` and a time with its zone, in any case; the text after another `t` is ignored. */
export const datetime: Check = (text) => {
  const [dateText = "", timeText = ""] = text.toLowerCase().split("t");
  const match = isDate(dateText) ? TIME.exec(timeText) : null;
  const [, hour = "99", minute = "99", second = "99"] = match ?? [];
  return hour <= "23" && minute <= "59" && second <= "59" ? [] : ["invalid datetime"];
};
