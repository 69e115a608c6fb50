/**
 * The PolicyServer resource of this server: the sources of modules, their signatures, and the rights of namespaced policies. The rest of it is for Kubewarden's
 * controller.
 */

import { CapabilityPatternError, parseCapabilities } from "../capability-patterns.js";
import { ConfigFileError } from "../config-files.js";
import { formatProblem, type Problem } from "../documents/problem.js";
import type { SourceDocument } from "../documents/source-document.js";
import { pairOf, type SourceNode } from "../documents/source-node.js";
import { ProblemSink } from "../problem-sink.js";
import { listOf, mapOf, type Shape, text } from "../shape.js";
import { certificates, NO_SOURCES, type Sources } from "../sources.js";
import { parseVerification, type VerificationConfig } from "../verification.js";
import { type DocumentHead, fingerprintOf, readDocument } from "./document-reader.js";
import { KUBEWARDEN_GROUP } from "./policy-ids.js";

/** The key of the required signatures in the ConfigMap; Kubewarden's own. */
const VERIFICATION_KEY = "verification-config";

/** How modules of the cluster's policies are fetched, beside the options. */
export interface FetchTerms {
  readonly sources: Sources;
  /** Absent: signatures are not checked. */
  readonly verification?: VerificationConfig;
}

/** The contents of a PolicyServer. Mistakes fail closed: policies that depend on them are not loaded. */
export interface PolicyServerParts {
  readonly terms: FetchTerms;
  /** The fingerprint of the terms of cluster-wide policies. */
  readonly fingerprint: string;
  /** The fingerprint of the terms of namespaced policies. */
  readonly namespacedFingerprint: string;
  /** Why no module can be loaded. */
  readonly modulesRefused?: string;
  /** The host capabilities of namespaced policies; absent: any, as with Kubewarden's controller (spec kubewarden.md 11.2). */
  readonly namespacedCapabilities?: readonly string[];
  /** Why no namespaced policy with a module can be loaded. */
  readonly namespacedRefused?: string;
}

type Said = Omit<PolicyServerParts, "fingerprint" | "namespacedFingerprint">;

/** The contents with their fingerprints. */
function withFingerprints(said: Said): PolicyServerParts {
  const fingerprint = fingerprintOf(said.terms.sources.insecure.size, [
    ...said.terms.sources.insecure,
    ...said.terms.sources.authorities,
    said.terms.verification ?? null,
    said.modulesRefused ?? null,
  ]);
  const granted = [said.namespacedCapabilities ?? null, said.namespacedRefused ?? null];
  return { ...said, fingerprint, namespacedFingerprint: fingerprintOf(fingerprint, granted) };
}

/** The contents where there is no PolicyServer of the name. */
const NOTHING_SAID: Said = { terms: { sources: NO_SOURCES } };

/**
 * Reads the PolicyServer of a name.
 * @param heads all documents: the PolicyServer, and the ConfigMap that it names, among them
 */
export function readPolicyServer(heads: readonly DocumentHead[], name: string): PolicyServerParts {
  const head = heads.find(
    ({ key }) => key.group === KUBEWARDEN_GROUP && key.kind === "PolicyServer" && key.name === name,
  );
  if (head === undefined) return withFingerprints(NOTHING_SAID);
  const read = readDocument(head);
  if ("problems" in read) {
    const [refused] = read.problems.map(formatProblem);
    const why = { modulesRefused: refused ?? head.file, namespacedRefused: refused ?? head.file };
    return withFingerprints({ ...NOTHING_SAID, ...why });
  }
  const spec = new Spec(read.document);
  const insecure = spec.read("insecureSources", listOf(text("a host"))) ?? [];
  const authorities = spec.read("sourceAuthorities", mapOf(listOf(text("a certificate in PEM")))) ?? {};
  const pems = new Map(Object.entries(authorities).map(([host, each]) => [host, spec.certificates(host, each)]));
  const configMap = spec.read("verificationConfig", text("the name of a ConfigMap", { mayBeEmpty: true })) ?? "";
  const verification = configMap === "" ? undefined : spec.verification(configMap, heads);
  const modulesRefused = spec.problem;
  const capabilities = new Spec(read.document);
  const granted = capabilities.read("namespacedPoliciesCapabilities", listOf(text("a pattern", { mayBeEmpty: true })));
  if (granted !== undefined) capabilities.check(["namespacedPoliciesCapabilities"], () => parseCapabilities(granted));
  const namespacedRefused = capabilities.problem;
  return withFingerprints({
    terms: {
      sources: { insecure: new Set(insecure), authorities: pems },
      ...(verification && { verification }),
    },
    ...(modulesRefused !== undefined && { modulesRefused }),
    ...(granted !== undefined && { namespacedCapabilities: granted.map((pattern) => pattern.trim()) }),
    ...(namespacedRefused !== undefined && { namespacedRefused }),
  });
}

/** Reads values of `spec`, and keeps their mistakes. */
class Spec {
  readonly #document: SourceDocument;
  readonly #sink: ProblemSink;

  constructor(document: SourceDocument) {
    this.#document = document;
    this.#sink = new ProblemSink(document);
  }

  /** The first mistake, with its place. */
  get problem(): string | undefined {
    return this.#sink.problems.map((problem: Problem) => formatProblem(problem))[0];
  }

  read<T>(key: string, shape: Shape<T>): T | undefined {
    const node = nodeAt(nodeAt(this.#document.root, "spec"), key);
    if (node === undefined || (node.kind === "scalar" && node.value === null)) return undefined;
    return shape.read(node, ["spec", key], this.#sink);
  }

  certificates(host: string, texts: readonly string[]): readonly string[] {
    const path = ["sourceAuthorities", host];
    return texts.flatMap((pem) => this.check(path, () => certificates(Buffer.from(pem), false)) ?? []);
  }

  verification(name: string, heads: readonly DocumentHead[]): VerificationConfig | undefined {
    const head = heads.find(({ key }) => key.group === "" && key.kind === "ConfigMap" && key.name === name);
    return this.check(["verificationConfig"], () => {
      if (head === undefined) throw new ConfigFileError(`there is no ConfigMap ${JSON.stringify(name)} here`);
      const read = readDocument(head);
      const root = "document" in read ? read.document.root : undefined;
      const content = nodeAt(nodeAt(root, "data"), VERIFICATION_KEY);
      if (content?.kind !== "scalar" || typeof content.value !== "string")
        throw new ConfigFileError(`the ConfigMap ${JSON.stringify(name)} has no key ${VERIFICATION_KEY}`);
      return parseVerification(content.value, head.file);
    });
  }

  /** A computed value, unless the computation throws because of the text at a path. */
  check<T>(path: readonly string[], compute: () => T): T | undefined {
    try {
      return compute();
    } catch (cause) {
      if (!(cause instanceof ConfigFileError) && !(cause instanceof CapabilityPatternError)) throw cause;
      this.#sink.error(["spec", ...path], cause.message);
      return undefined;
    }
  }
}

const nodeAt = (node: SourceNode | undefined, key: string): SourceNode | undefined =>
  node?.kind === "map" ? pairOf(node, key)?.value : undefined;
