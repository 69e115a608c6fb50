/**
 * The formats of names in Kubernetes, with the API server's words for errors (each function gives all of them, none when the name
 * is valid). Lengths are bytes; the patterns allow ASCII only.
 */

const DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${DNS_LABEL}(\\.${DNS_LABEL})*`;
const DNS_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const NAME_PART = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${NAME_PART})?`;

/** Longest DNS subdomain. */
const SUBDOMAIN_MAX = 253;
/** Longest label, label value, and name part of a qualified name. */
const LABEL_MAX = 63;

const pattern = (source: string): RegExp => new RegExp(`^${source}$`);
const SUBDOMAIN_PATTERN = pattern(SUBDOMAIN);
const DNS_LABEL_PATTERN = pattern(DNS_LABEL);
const DNS_1035_PATTERN = pattern(DNS_1035);
const NAME_PART_PATTERN = pattern(NAME_PART);
const LABEL_VALUE_PATTERN = pattern(LABEL_VALUE);

/** The message for a wrong form. The upstream texts join examples with a comma and two blanks. */
const wrongForm = (what: string, source: string, ...examples: readonly string[]): string => {
  const shown = examples.map((example) => `'${example}'`).join(",  or ");
  return `${what} (e.g. ${shown}, regex used for validation is '${source}')`;
};

/** The unit in messages: the API server always counts bytes, but calls those of object names characters. */
type Unit = "characters" | "bytes";

const tooLong = (limit: number, unit: Unit): string => `must be no more than ${limit} ${unit}`;

function formErrors(name: string, limit: number, unit: Unit, form: RegExp, wrong: () => string): string[] {
  const errors = Buffer.byteLength(name) > limit ? [tooLong(limit, unit)] : [];
  return form.test(name) ? errors : [...errors, wrong()];
}

/** A lowercase RFC 1123 subdomain: names of most objects, API groups. */
export function dns1123SubdomainErrors(name: string): string[] {
  return subdomainErrors(name, "characters");
}

function subdomainErrors(name: string, unit: Unit): string[] {
  const what =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return formErrors(name, SUBDOMAIN_MAX, unit, SUBDOMAIN_PATTERN, () => wrongForm(what, SUBDOMAIN, "example.com"));
}

/** A DNS-1035 label: API versions, kinds in lower case. */
export function dns1035LabelErrors(name: string): string[] {
  const what =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  return formErrors(name, LABEL_MAX, "characters", DNS_1035_PATTERN, () =>
    wrongForm(what, DNS_1035, "my-name", "abc-123"),
  );
}

/** A lowercase RFC 1123 label: names of Namespaces. */
export function dns1123LabelErrors(name: string): string[] {
  const what =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return formErrors(name, LABEL_MAX, "characters", DNS_LABEL_PATTERN, () =>
    wrongForm(what, DNS_LABEL, "my-name", "123-abc"),
  );
}

const NAME_PART_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const NAME_PART_EXAMPLES = ["MyName", "my.name", "123-abc"];

/** A qualified name, `[prefix/]name`: label and annotation keys, names of match conditions. */
export function qualifiedNameErrors(name: string): string[] {
  const parts = name.split("/");
  if (parts.length > 2) {
    const text = wrongForm(`a valid label key ${NAME_PART_RULE}`, NAME_PART, ...NAME_PART_EXAMPLES);
    return [`${text} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const errors: string[] = [];
  if (parts.length === 2) {
    const prefix = parts[0] ?? "";
    if (prefix === "") errors.push("prefix part must be non-empty");
    else errors.push(...subdomainErrors(prefix, "bytes").map((error) => `prefix part ${error}`));
  }
  const part = parts.at(-1) ?? "";
  if (part === "") errors.push("name part must be non-empty");
  else if (Buffer.byteLength(part) > LABEL_MAX) errors.push(`name part ${tooLong(LABEL_MAX, "bytes")}`);
  if (!NAME_PART_PATTERN.test(part)) {
    errors.push(`name part ${wrongForm(NAME_PART_RULE, NAME_PART, ...NAME_PART_EXAMPLES)}`);
  }
  return errors;
}

/** A label's value. */
export function labelValueErrors(value: string): string[] {
  const what =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  const wrong = () => wrongForm(what, LABEL_VALUE, "MyValue", "my_value", "12345");
  return formErrors(value, LABEL_MAX, "bytes", LABEL_VALUE_PATTERN, wrong);
}

/** A name that can be a segment of a URL's path. */
export function pathSegmentErrors(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"]
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
}
