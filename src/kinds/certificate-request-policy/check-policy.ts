/**
 * The checks of the reference's webhook when a policy is created or changed, in its order and with its texts (spec certificate-request-policy.md 2.5). The
 * order is not that of evaluation, and places in lists by object identifier are given by index here.
 */
import { goDurationText } from "../../data/go/duration.js";
import {
  type FieldError,
  type FieldPath,
  goJsonMap,
  goQuote,
  invalid,
  notSupported,
  required,
} from "../../kubernetes/field-error.js";
import { matchLabelsError } from "../../kubernetes/match-labels.js";
import type { ExpressionCompiler } from "../shared/expressions/expression-compiler.js";
import type {
  Allowed,
  AllowedByOid,
  AllowedList,
  AllowedString,
  CertificateRequestPolicy,
  Constraints,
} from "./resource.js";
import { compileRule } from "./rules.js";
import { ALGORITHMS, NAMED_ATTRIBUTES, SUBJECT_LISTS } from "./words.js";

/** The options of the checks. */
export interface CheckOptions {
  /** Compiles rules. */
  readonly compiler: ExpressionCompiler;
  /** Names of plugins that there are, in order; default none. */
  readonly registeredPlugins?: readonly string[];
}

/** The largest size of a key, in bits, that a policy may name. */
const MAX_KEY_SIZE = 8192;

/** All mistakes of a policy. */
export function checkPolicy(policy: CertificateRequestPolicy, options: CheckOptions): readonly FieldError[] {
  const { allowed, constraints } = policy;
  return [
    ...checkPlugins(policy, options.registeredPlugins ?? []),
    ...checkSelector(policy),
    ...(allowed === undefined ? [] : checkAllowed(allowed, options)),
    ...(constraints === undefined ? [] : checkConstraints(constraints)),
  ];
}

function checkPlugins({ plugins }: CertificateRequestPolicy, registered: readonly string[]): readonly FieldError[] {
  const unknown = plugins.filter((name) => !registered.includes(name));
  return unknown.map((name) => notSupported(["spec", "plugins"], name, registered, goQuote));
}

function checkSelector({ selector: { issuerRef, namespace } }: CertificateRequestPolicy): readonly FieldError[] {
  if (issuerRef === undefined && namespace === undefined) {
    const detail = "one of issuerRef or namespace must be defined, hint: `{}` on either matches everything";
    return [required(["spec", "selector"], detail)];
  }
  const labels = namespace?.matchLabels;
  const wrong = labels && matchLabelsError(labels);
  if (labels === undefined || wrong === undefined) return [];
  return [
    { path: ["spec", "selector", "namespace", "matchLabels"], text: `Invalid value: ${goJsonMap(labels)}: ${wrong}` },
  ];
}

const ALLOWED: FieldPath = ["spec", "allowed"];
const SUBJECT: FieldPath = [...ALLOWED, "subject"];

function checkAllowed(allowed: Allowed, options: CheckOptions): readonly FieldError[] {
  const { subject } = allowed;
  const entry = (path: FieldPath, found: AllowedList | AllowedString | undefined, wanted: "value" | "values") =>
    found === undefined ? [] : checkEntry(found, wanted, path, options);
  return [
    ...entry([...ALLOWED, "dnsNames"], allowed.dnsNames, "values"),
    ...entry([...ALLOWED, "ipAddresses"], allowed.ipAddresses, "values"),
    ...entry([...ALLOWED, "uris"], allowed.uris, "values"),
    ...entry([...ALLOWED, "emailAddresses"], allowed.emailAddresses, "values"),
    ...SUBJECT_LISTS.flatMap((name) => entry([...SUBJECT, name], subject?.[name], "values")),
    ...entry([...ALLOWED, "commonName"], allowed.commonName, "value"),
    ...entry([...SUBJECT, "serialNumber"], subject?.serialNumber, "value"),
    ...allowed.otherNames.flatMap((each, i) => checkByOid(each, [...ALLOWED, "otherNames", i], false, options)),
    ...(subject?.otherAttributes ?? []).flatMap((each, i) =>
      checkByOid(each, [...SUBJECT, "otherAttributes", i], true, options),
    ),
  ];
}

function checkEntry(
  entry: AllowedList | AllowedString,
  wanted: "value" | "values",
  path: FieldPath,
  { compiler }: CheckOptions,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  // An empty list is one: with it, a policy that can never approve is meant.
  const given = wanted in entry;
  if (entry.required && !given && entry.validations.length === 0) {
    const detail = `at least one of '${wanted}' or 'validations' must be defined if field is 'required'`;
    errors.push(required([...path, wanted], detail));
  }
  entry.validations.forEach(({ rule }, i) => {
    const { error, hint, mistakes } = compileRule(rule, compiler);
    if (error === undefined) return;
    errors.push({ ...invalid([...path, "validations", i], rule, error), hint, mistakes, code: "CEL_EXPRESSION" });
  });
  return errors;
}

function checkByOid(
  entry: AllowedByOid,
  path: FieldPath,
  ofSubject: boolean,
  options: CheckOptions,
): readonly FieldError[] {
  const wrong = oidError(entry.oid, ofSubject);
  const errors = wrong === undefined ? [] : [invalid([...path, "oid"], entry.oid, wrong)];
  return [...errors, ...checkEntry(entry, "values", path, options)];
}

/** A number as Go prints it. */
const ARC = /^(?:0|-?[1-9][0-9]*)$/;
const MAX_ARC = 2n ** 63n - 1n;
const MIN_ARC = -(2n ** 63n);
/** Length of the longest number of 64 bits: longer ones need not be read. */
const MAX_ARC_LENGTH = 20;

/** The error of an object identifier. It is compared as a text with the request's, so it must be written in the printed form. */
function oidError(oid: string, ofSubject: boolean): string | undefined {
  const arcs = oid.split(".");
  if (!arcs.every(isArc)) {
    return 'must be a valid, canonical dotted ASN.1 object identifier (e.g. "1.3.6.1.4.1.311.20.2.3")';
  }
  if (arcs.some((arc) => arc.startsWith("-"))) return "OID arcs must be non-negative";
  if (!ofSubject || !NAMED_ATTRIBUTES.has(oid)) return undefined;
  return "this OID is covered by a dedicated allowed.commonName / allowed.subject.* field; configure it there instead of otherAttributes";
}

function isArc(text: string): boolean {
  if (text.length > MAX_ARC_LENGTH || !ARC.test(text)) return false;
  const arc = BigInt(text);
  return arc >= MIN_ARC && arc <= MAX_ARC;
}

const CONSTRAINTS: FieldPath = ["spec", "constraints"];

function checkConstraints({ privateKey, minDuration, maxDuration }: Constraints): readonly FieldError[] {
  const errors = privateKey === undefined ? [] : checkPrivateKey(privateKey);
  const max = [...CONSTRAINTS, "maxDuration"];
  if (maxDuration !== undefined && minDuration !== undefined && maxDuration < minDuration) {
    const detail = "maxDuration must be the same value as minDuration or larger";
    errors.push(invalid(max, goDurationText(maxDuration), detail));
  }
  if (maxDuration !== undefined && maxDuration < 0n) {
    const detail = "maxDuration must be a value greater or equal to 0";
    errors.push(invalid(max, goDurationText(maxDuration), detail));
  }
  if (minDuration !== undefined && minDuration < 0n) {
    const detail = "minDuration must be a value greater or equal to 0";
    errors.push(invalid([...CONSTRAINTS, "minDuration"], goDurationText(minDuration), detail));
  }
  return errors;
}

function checkPrivateKey(key: NonNullable<Constraints["privateKey"]>): FieldError[] {
  const path = [...CONSTRAINTS, "privateKey"];
  const { algorithm, minSize, maxSize } = key;
  const errors: FieldError[] = [];
  if (algorithm !== undefined && !ALGORITHMS.some((each) => each === algorithm)) {
    errors.push(notSupported([...path, "algorithm"], algorithm, ALGORITHMS));
  }
  const sizes = (["maxSize", "minSize"] as const).flatMap((name) => {
    const size = key[name];
    return size === undefined ? [] : [{ name, size }];
  });
  if (algorithm === "Ed25519") {
    for (const { name, size } of sizes) {
      errors.push(invalid([...path, name], size, `${name} cannot be defined with algorithm constraint Ed25519`));
    }
  }
  for (const { name, size } of sizes) {
    if (size >= 0 && size <= MAX_KEY_SIZE) continue;
    errors.push(invalid([...path, name], size, `must be between 0 and ${MAX_KEY_SIZE} inclusive`));
  }
  if (maxSize !== undefined && minSize !== undefined && maxSize < minSize) {
    errors.push(invalid([...path, "maxSize"], maxSize, "maxSize must be the same value as minSize or larger"));
  }
  return errors;
}
