/** ImageValidatingPolicies over made-up registries: which images there are, and who has signed them. */
import assert from "node:assert/strict";
import type { Problem } from "../../../../src/config/documents/problem.js";
import { parseResources } from "../../../../src/config/documents/source-document.js";
import type { ResourceEntry } from "../../../../src/config/entry.js";
import { formatProblem, parseConfig } from "../../../../src/config/index.js";
import { kyvernoKind } from "../../../../src/kinds/kyverno/kind.js";
import { prepareDocuments } from "../../../../src/kinds/resource-entry.js";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import type { AdmissionQuestion, EvaluationContext, Outcome, Review } from "../../../../src/policy/index.js";
import { NO_OPINION } from "../../../../src/world/authorizer/authorizer.js";
import { type ExternalData, NO_EXTERNAL } from "../../../../src/world/external.js";
import type { ImageTrust } from "../../../../src/world/images/image-trust.js";
import { LookupFailure } from "../../../../src/world/resources/resource-source.js";
import { context, review } from "../asked.js";

/** `sha256:` and 64 times one digit. */
export const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;

/** An image of a registry. */
export interface Image {
  readonly digest: string;
  /** The names of attestors whose signatures it has. */
  readonly signers?: readonly string[];
  /** The statements about it: by predicate type who has signed, and what is said. */
  readonly statements?: Readonly<Record<string, { readonly signers: readonly string[]; readonly payload: unknown }>>;
  /** The artifacts that refer to it, by type. */
  readonly artifacts?: Readonly<Record<string, unknown>>;
}

/** A registry that counts what it is asked. */
export interface Registry extends ImageTrust {
  /** The questions in order, `digest IMAGE` or `verdict IMAGE ATTESTOR`. */
  readonly asked: string[];
}

/**
 * @param images by reference; those by digest alone are found, too
 * @param slow whether answers are promises
 * @param failing attestors that can't be asked about
 */
export function registry(
  images: Readonly<Record<string, Image>>,
  { slow = false, failing = [] as readonly string[] } = {},
): Registry {
  const asked: string[] = [];
  const find = (reference: string): Image | undefined => {
    const own = images[reference];
    if (own !== undefined) return own;
    const [, wanted] = reference.split("@");
    return wanted === undefined ? undefined : Object.values(images).find((each) => each.digest === wanted);
  };
  const absent = new LookupFailure("the registry has no such manifest");
  const give = <T>(answer: T): T => (slow ? (Promise.resolve(answer) as T) : answer);
  return {
    asked,
    digest(image) {
      asked.push(`digest ${image}`);
      return give(find(image)?.digest ?? absent);
    },
    verdict({ image, attestor, sought }) {
      asked.push(`verdict ${image} ${attestor.name}`);
      if (failing.includes(attestor.name)) return give(new LookupFailure("the registry does not answer"));
      const found = find(image);
      if (found === undefined) return give(absent);
      const statement = sought.kind === "intoto" ? found.statements?.[sought.predicateType] : undefined;
      const verified = (sought.kind === "signature" ? found.signers : statement?.signers)?.includes(attestor.name);
      return give(
        verified === true
          ? { verified: true, reasons: [], ...(statement && { payload: statement.payload }) }
          : { verified: false, reasons: ["no signature fits the key"] },
      );
    },
    artifact(image, _digest, type) {
      asked.push(`artifact ${image} ${type}`);
      return give(find(image)?.artifacts?.[type] ?? absent);
    },
  };
}

const PODS = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["pods"] };

/** An attestor that a made-up registry knows by its name. */
export const attestor = (name: string): JsonObject => ({
  name,
  cosign: { key: { data: KEY }, annotations: { signer: name } },
});

const KEY = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE6QsNef3SKYhJVYSVj+ZfbPwJd0pv
DLYNHXITZkhIzfE+apcxDjCCkDPcJ3A3zvhPATYOIsCxYPch7Q2JdJLsDQ==
-----END PUBLIC KEY-----`;

/** The expression that every container's image is signed by all of the attestors. */
export const signedBy = (...names: readonly string[]): string =>
  `images.containers.all(image, verifyImageSignatures(image, [${names.map((name) => `attestors.${name}`).join(", ")}]) == ${names.length})`;

/** A policy about pods, with the attestors `dev` and `vendor`; it takes tags. */
export const policy = (spec: JsonObject = {}, name = "p", kind = "ImageValidatingPolicy"): JsonObject => ({
  apiVersion: "policies.kyverno.io/v1",
  kind,
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [PODS] },
    validationConfigurations: { verifyDigest: false },
    attestors: [attestor("dev"), attestor("vendor")],
    validations: [{ expression: signedBy("dev"), message: "not signed" }],
    ...spec,
  },
});

/** A pod with one container an image. */
export const pod = (...images: readonly string[]): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "ns" },
  spec: { containers: images.map((image, i) => ({ name: `c${i}`, image })) },
});

/** The request to create it. */
export const creating = (object: JsonObject, more: JsonObject = {}): AdmissionQuestion => review({ object, ...more });

/** What an entry is. */
export interface EntryOptions {
  readonly allowedToMutate?: boolean;
  readonly id?: string;
  readonly external?: Partial<ExternalData>;
  readonly context?: Partial<EvaluationContext>;
  /** Default: time stands still. */
  readonly now?: () => number;
}

/** The answer of an entry of documents, and what is said of it when it is loaded. */
export async function asked(
  documents: readonly JsonObject[],
  trust: ImageTrust,
  question: Review,
  { allowedToMutate = false, id = "p", external = {}, context: more = {}, now = () => 0 }: EntryOptions = {},
) {
  const written = documents.map((each) => JSON.stringify(each)).join("\n---\n");
  const holder = parseConfig("p: { cel: { validations: [ { expression: 'true' } ] } }", "p.yaml");
  const [first] = holder.ok ? holder.config.entries : [];
  assert.ok(first?.kind === "cel");
  const entry: ResourceEntry = {
    kind: "resource",
    id,
    origin: first.origin,
    documents: parseResources(written, "f.yaml").documents,
    policyMode: "protect",
    allowedToMutate,
  };
  const problems: Problem[] = [];
  const prepared = prepareDocuments(entry, [kyvernoKind()], (problem) => problems.push(problem));
  const world = { authorizer: NO_OPINION, now, external: { ...NO_EXTERNAL, trust, ...external } };
  const made = await prepared.policy(world);
  return { outcome: await made.evaluate(question, context(more)), said: problems.map(formatProblem) };
}

/** The verdict with its reason. */
export function told(outcome: Outcome): string {
  const { verdict } = outcome;
  if (verdict === "allow") return "allow";
  return `${verdict}: ${verdict === "skip" ? outcome.reason : (outcome.message ?? "")}`;
}

/** The object after an answer's patch; `undefined`: it changes nothing. */
export const leftBy = (outcome: Outcome): unknown =>
  outcome.verdict === "allow" && outcome.mutation?.kind === "patch" ? outcome.mutation.changed?.object : undefined;
