/** Policies made ready for evaluation: everything that does not depend on a request is done (spec certificate-request-policy.md 3.2, 4). */
import type { ExpressionCompiler } from "../../../cel-policy/expressions/expression-compiler.js";
import { type PreparedSelector, prepareSelector } from "../../../cel-policy/match/label-selector.js";
import type { AllowedByOid, AllowedList, AllowedString, CertificateRequestPolicy, SubjectList } from "../resource.js";
import { type CompiledRule, compileRule } from "../rules.js";
import { SUBJECT_LISTS } from "../words.js";

/** An attribute's entry. */
export interface CompiledEntry {
  readonly required: boolean;
  /** `undefined`: no patterns are given, which is another thing than none. */
  readonly patterns: readonly string[] | undefined;
  /** The patterns as objections show them. */
  readonly patternText: string;
  readonly rules: readonly CompiledRule[];
  /** What each rule says when it is false. */
  readonly details: readonly string[];
}

/** An entry for values under an object identifier. */
export interface CompiledByOid extends CompiledEntry {
  readonly oid: string;
}

/** What is allowed. */
export interface CompiledAllowed {
  readonly commonName: CompiledEntry | undefined;
  readonly serialNumber: CompiledEntry | undefined;
  readonly dnsNames: CompiledEntry | undefined;
  readonly ipAddresses: CompiledEntry | undefined;
  readonly uris: CompiledEntry | undefined;
  readonly emailAddresses: CompiledEntry | undefined;
  readonly isCA: boolean | undefined;
  readonly usages: readonly string[] | undefined;
  readonly subject: Readonly<Partial<Record<SubjectList, CompiledEntry>>>;
  readonly otherAttributes: readonly CompiledByOid[];
  readonly otherNames: readonly CompiledByOid[];
}

/** A policy that can be asked. */
export interface CompiledPolicy {
  readonly policy: CertificateRequestPolicy;
  readonly allowed: CompiledAllowed;
  /** The labels that its Namespace must have; absent: the Namespace is not looked at. */
  readonly namespaceLabels: PreparedSelector | undefined;
}

/** Compiles a policy. A rule that does not compile objects to everything (spec 4.3). */
export function compilePolicy(policy: CertificateRequestPolicy, rules: ExpressionCompiler): CompiledPolicy {
  const { allowed, selector } = policy;
  const { subject } = allowed ?? {};
  const entry = (written: AllowedList | AllowedString | undefined): CompiledEntry | undefined =>
    written && compileEntry(written, rules);
  const byOid = (list: readonly AllowedByOid[] | undefined): readonly CompiledByOid[] =>
    (list ?? []).map((each) => ({ ...compileEntry(each, rules), oid: each.oid }));
  const lists: Partial<Record<SubjectList, CompiledEntry>> = {};
  for (const name of SUBJECT_LISTS) {
    const compiled = entry(subject?.[name]);
    if (compiled !== undefined) lists[name] = compiled;
  }
  const labels = selector.namespace?.matchLabels;
  return {
    policy,
    allowed: {
      commonName: entry(allowed?.commonName),
      serialNumber: entry(subject?.serialNumber),
      dnsNames: entry(allowed?.dnsNames),
      ipAddresses: entry(allowed?.ipAddresses),
      uris: entry(allowed?.uris),
      emailAddresses: entry(allowed?.emailAddresses),
      isCA: allowed?.isCA,
      usages: allowed?.usages,
      subject: lists,
      otherAttributes: byOid(subject?.otherAttributes),
      otherNames: byOid(allowed?.otherNames),
    },
    namespaceLabels: labels && prepareSelector({ matchLabels: labels }),
  };
}

function compileEntry(entry: AllowedList | AllowedString, rules: ExpressionCompiler): CompiledEntry {
  const patterns =
    "values" in entry ? entry.values : "value" in entry && entry.value !== undefined ? [entry.value] : undefined;
  return {
    required: entry.required,
    patterns,
    patternText: patterns?.join(", ") ?? "",
    rules: entry.validations.map(({ rule }) => compileRule(rule, rules)),
    details: entry.validations.map(({ rule, message }) => message ?? `failed rule: ${rule}`),
  };
}
