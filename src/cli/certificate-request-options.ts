/** Fields of a CertificateRequest made of a CSR: as options of `eval` and `apply`, and as keys of a case in a test file. One definition for all. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { UsageError } from "../data/command-io.js";
import { parseGoDuration } from "../data/go/duration.js";
import { isJsonObject } from "../data/same-value.js";
import type { JsonObject } from "../kubernetes/object.js";
import { ScanError } from "../offline/scan/scan-error.js";
import { type CertificateRequestParts, certificateRequestOf } from "../offline/scan/signing-request.js";
import { unknownUsage } from "../offline/scan/usages.js";

/** Fields with options and keys of their own; its namespace is the request's. */
export type CertificateRequestValues = Omit<CertificateRequestParts, "namespace">;
type Key = keyof CertificateRequestValues;

/** One option, and its key in test files. */
export interface CertificateRequestOption {
  /** Flags in commander's notation. */
  readonly flags: string;
  readonly key: Key;
  /** The key in test files. */
  readonly testKey: string;
  readonly description: string;
  /**
   * Parses the value; absent for a switch.
   * @throws Error with the expected form
   */
  readonly parse?: (text: string) => unknown;
}

/** All options, in the order of the help. */
export const CERTIFICATE_REQUEST_OPTIONS: readonly CertificateRequestOption[] = [
  {
    flags: "--request-name <name>",
    key: "requestName",
    testKey: "requestName",
    description: "its name; default: that of the file, without the ending",
    parse: notEmpty,
  },
  {
    flags: "--issuer <name,kind,group>",
    key: "issuer",
    testKey: "issuer",
    description: "its issuer; kind and group, when left out, are Issuer and cert-manager.io",
    parse: issuer,
  },
  {
    flags: "--usages <list>",
    key: "usages",
    testKey: "usages",
    description: "what the certificate is for, such as server auth,client auth; default: nothing is said",
    parse: usages,
  },
  {
    flags: "--duration <duration>",
    key: "duration",
    testKey: "duration",
    description: "how long, such as 24h or 2160h",
    parse: duration,
  },
  { flags: "--is-ca", key: "isCa", testKey: "isCA", description: "it is to be an authority's" },
  {
    flags: "--username <name>",
    key: "username",
    testKey: "username",
    description: "who asks for it, such as system:serviceaccount:cert-manager:cert-manager",
    parse: notEmpty,
  },
  {
    flags: "--groups <list>",
    key: "groups",
    testKey: "groups",
    description: "their groups; default: those that an API server gives to every user, and to service accounts",
    parse: (text) => (text === "" ? [] : listed(text)),
  },
];

/** Adds the options to a command. */
export function addCertificateRequestOptions(command: Command): void {
  for (const { flags, description, parse } of CERTIFICATE_REQUEST_OPTIONS) {
    const option = new Option(flags, `with a CSR: ${description}`);
    if (parse !== undefined) {
      option.argParser((text: string) => {
        try {
          return parse(text);
        } catch (error) {
          throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
        }
      });
    }
    command.addOption(option);
  }
}

/** The given ones among the values of all options. */
export function certificateRequestValues(values: CertificateRequestValues): CertificateRequestValues {
  const given = CERTIFICATE_REQUEST_OPTIONS.filter(({ key }) => values[key] !== undefined);
  return Object.fromEntries(given.map(({ key }) => [key, values[key]]));
}

/** The flags of given options, for messages: `--issuer, --usages`. */
export const givenFlags = (values: CertificateRequestValues): string =>
  CERTIFICATE_REQUEST_OPTIONS.filter(({ key }) => values[key] !== undefined)
    .map(({ flags }) => flags.replace(/ .*/, ""))
    .join(", ");

/**
 * The same from a case of a test file: texts as on a command line; lists may be lists, and an issuer a map.
 * @throws UsageError that names the key
 */
export function readCertificateRequestKeys(written: Readonly<Record<string, unknown>>): CertificateRequestValues {
  const values: Partial<Record<Key, unknown>> = {};
  for (const { key, testKey, parse } of CERTIFICATE_REQUEST_OPTIONS) {
    const value = written[testKey];
    if (value === undefined) continue;
    try {
      values[key] = parse === undefined ? flag(value) : parse(textOf(key, value));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UsageError(reason, { cause: error, key: testKey });
    }
  }
  return values as CertificateRequestValues;
}

function flag(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new Error("must be true or false");
}

function textOf(key: Key, value: unknown): string {
  if (typeof value === "string") return value;
  const isList = key === "usages" || key === "groups";
  if (isList && Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join(",");
  if (key === "issuer" && isJsonObject(value)) return issuerText(value);
  throw new Error(isList ? "must be a text, or a list of texts" : "must be a text");
}

const ISSUER_MEMBERS = ["name", "kind", "group"];

function issuerText(value: Readonly<Record<string, unknown>>): string {
  const unknown = Object.keys(value).find((member) => !ISSUER_MEMBERS.includes(member));
  if (unknown !== undefined) throw new Error(`unknown key '${unknown}', known are ${ISSUER_MEMBERS.join(", ")}`);
  const parts = ISSUER_MEMBERS.map((member) => value[member] ?? "");
  if (!parts.every((part) => typeof part === "string")) throw new Error("name, kind and group must be texts");
  return parts.join(",");
}

const listed = (text: string): string[] => text.split(",").map((each) => each.trim());

function notEmpty(text: string): string {
  if (text.trim() !== "") return text;
  throw new Error("must not be empty");
}

function issuer(text: string): CertificateRequestParts["issuer"] {
  const [name = "", kind = "", group = "", ...more] = listed(text);
  if (name === "" || more.length > 0) throw new Error(`'${text}' is not name, name,kind or name,kind,group`);
  return { name, ...(kind !== "" && { kind }), ...(group !== "" && { group }) };
}

function usages(text: string): readonly string[] {
  const found = listed(text);
  const problem = unknownUsage(found);
  if (problem === undefined) return found;
  throw new Error(problem);
}

function duration(text: string): string {
  const parsed = parseGoDuration(text);
  if (parsed.ok) return text;
  throw new Error(parsed.error);
}

/**
 * Makes a CertificateRequest of a CSR.
 * @param file the CSR's file, `-` for standard input
 * @throws UsageError for an invalid CSR
 */
export function buildCertificateRequest(content: Buffer, file: string, parts: CertificateRequestParts): JsonObject {
  try {
    return certificateRequestOf(content, file, parts);
  } catch (error) {
    if (error instanceof ScanError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
