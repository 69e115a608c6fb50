/** Compiles policies: everything that does not depend on a request is done in advance (spec certificate-request-policy.md 3.2, 4). */

import { Wildcard } from "../../../kubernetes/wildcard.js";
import type { ExpressionCompiler } from "../../shared/expressions/expression-compiler.js";
import { type PreparedSelector, prepareSelector } from "../../shared/match/label-selector.js";
import type {
  AllowedByOid,
  AllowedList,
  AllowedString,
  CertificateRequestPolicy,
  Selector,
  SubjectList,
} from "../resource.js";
import { type CompiledRule, compileRule } from "../rules.js";
import { SUBJECT_LISTS } from "../words.js";

/** An attribute's entry. */
export interface CompiledEntry {
  readonly required: boolean;
  /** `undefined` without patterns, which differs from an empty list. */
  readonly patterns: readonly Wildcard[] | undefined;
  /** The patterns in the form for objections. */
  readonly patternText: string;
  readonly rules: readonly CompiledRule[];
  /** Message of each rule when it is false. */
  readonly details: readonly string[];
}

/** Entries for values under object identifiers. */
export interface EntriesByOid {
  /** In the policy's order. */
  readonly list: readonly CompiledEntry[];
  /** Entries by identifier. Of several for one identifier, which no API server accepts, the last one counts. */
  readonly byOid: ReadonlyMap<string, CompiledEntry>;
  /** The identifiers that every request must have, in the policy's order. */
  readonly required: readonly string[];
}

/** The compiled `allowed`. */
export interface CompiledAllowed {
  readonly commonName: CompiledEntry | undefined;
  readonly serialNumber: CompiledEntry | undefined;
  readonly dnsNames: CompiledEntry | undefined;
  readonly ipAddresses: CompiledEntry | undefined;
  readonly uris: CompiledEntry | undefined;
  readonly emailAddresses: CompiledEntry | undefined;
  readonly isCA: boolean | undefined;
  readonly usages: readonly Wildcard[] | undefined;
  /** The usages in the form for objections. */
  readonly usagesText: string;
  readonly subject: Readonly<Partial<Record<SubjectList, CompiledEntry>>>;
  readonly otherAttributes: EntriesByOid;
  readonly otherNames: EntriesByOid;
}

/** The selectors of a policy by names alone; an absent one matches. */
export interface CompiledSelector {
  readonly name: Wildcard | undefined;
  readonly kind: Wildcard | undefined;
  readonly group: Wildcard | undefined;
  /** Names of namespaces; `undefined`: all. */
  readonly namespaces: readonly Wildcard[] | undefined;
}

/** A compiled policy. */
export interface CompiledPolicy {
  readonly policy: CertificateRequestPolicy;
  readonly allowed: CompiledAllowed;
  readonly selector: CompiledSelector;
  /** The labels that its Namespace must have; absent: the Namespace is not read. */
  readonly namespaceLabels: PreparedSelector | undefined;
}

/** Compiles a policy. A rule that does not compile objects to everything (spec 4.3). */
export function compilePolicy(policy: CertificateRequestPolicy, rules: ExpressionCompiler): CompiledPolicy {
  const { allowed, selector } = policy;
  const { subject } = allowed ?? {};
  const entry = (written: AllowedList | AllowedString | undefined): CompiledEntry | undefined =>
    written && compileEntry(written, rules);
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
      usages: allowed?.usages && wildcards(allowed.usages),
      usagesText: allowed?.usages?.join(", ") ?? "",
      subject: lists,
      otherAttributes: compileByOid(subject?.otherAttributes ?? [], rules),
      otherNames: compileByOid(allowed?.otherNames ?? [], rules),
    },
    selector: compileSelector(selector),
    namespaceLabels: labels && prepareSelector({ matchLabels: labels }),
  };
}

function compileEntry(entry: AllowedList | AllowedString, rules: ExpressionCompiler): CompiledEntry {
  const patterns =
    "values" in entry ? entry.values : "value" in entry && entry.value !== undefined ? [entry.value] : undefined;
  return {
    required: entry.required,
    patterns: patterns && wildcards(patterns),
    patternText: patterns?.join(", ") ?? "",
    rules: entry.validations.map(({ rule }) => compileRule(rule, rules)),
    details: entry.validations.map(({ rule, message }) => message ?? `failed rule: ${rule}`),
  };
}

function compileByOid(entries: readonly AllowedByOid[], rules: ExpressionCompiler): EntriesByOid {
  const list = entries.map((each) => compileEntry(each, rules));
  return {
    list,
    byOid: new Map(entries.flatMap(({ oid }, i) => (list[i] === undefined ? [] : [[oid, list[i]]]))),
    required: entries.filter(({ required }) => required).map(({ oid }) => oid),
  };
}

function compileSelector({ issuerRef, namespace }: Selector): CompiledSelector {
  const { name, kind, group } = issuerRef ?? {};
  const names = namespace?.matchNames ?? [];
  return {
    name: wildcard(name),
    kind: wildcard(kind),
    group: wildcard(group),
    namespaces: names.length === 0 ? undefined : wildcards(names),
  };
}

const wildcard = (pattern: string | undefined): Wildcard | undefined =>
  pattern === undefined ? undefined : new Wildcard(pattern);
const wildcards = (patterns: readonly string[]): readonly Wildcard[] => patterns.map((each) => new Wildcard(each));
