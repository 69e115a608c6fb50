/** Documents of policies for tests. */
import type { ClusterDocument } from "../../../src/config/from-cluster/cluster-document.js";
import { kubectlText } from "../../../src/data/kubectl-text.js";

/** What a test says of a policy. */
export interface WrittenPolicy {
  readonly generation: number;
  /** Stands for its spec. */
  readonly word: string;
  /** Without their prefix. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly uid?: string;
  readonly key?: string;
}

/** The prefix of annotations. */
export const PREFIX = "policy-server.admission/";

/** A document as the agent makes it. */
export function policyDocument({
  generation,
  word,
  annotations,
  uid = UID,
  key = KEY,
}: WrittenPolicy): ClusterDocument {
  const ours = Object.entries(annotations ?? {}).map(([name, value]) => [`${PREFIX}${name}`, value]);
  const all = { "example.com/other": "x", ...Object.fromEntries(ours) };
  const resourceVersion = JSON.stringify([generation, word, annotations]);
  const metadata = { name: "p", generation, uid, annotations: all };
  const text = kubectlText({
    apiVersion: "policies.kyverno.io/v1",
    kind: "ValidatingPolicy",
    metadata,
    spec: { word },
  });
  return { key, uid, resourceVersion, generation, text };
}

/** The leader's note of a version in force. */
export const noted = (generation: number, word?: string): string =>
  JSON.stringify({ generation, ...(word !== undefined && { spec: { word } }) });

/** What stands for the spec of a document. */
export const wordOf = (document: ClusterDocument | undefined): string | undefined =>
  document && (JSON.parse(document.text) as { spec: { word: string } }).spec.word;

const UID = "0123456789abcdef";
const KEY = "policies.kyverno.io/ValidatingPolicy//p";
