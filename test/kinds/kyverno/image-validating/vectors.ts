/** Cases of ImageValidatingPolicies with what Kyverno says of them (test/vectors/image-validating), and the answers of our engine over the same images. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseResources } from "../../../../src/config/documents/source-document.js";
import type { ResourceEntry } from "../../../../src/config/entry.js";
import { parseConfig } from "../../../../src/config/index.js";
import {
  FetchError,
  ImageMetadata,
  type ImageReference,
  ImageTrustReader,
  openImageLayouts,
  type Registry,
  SignatureChecks,
  sigstoreTrustRoot,
} from "../../../../src/fetch/index.js";
import type { EngineInput, ExceptionResource, PolicyResource } from "../../../../src/kinds/kyverno/index.js";
import { type EngineAnswer, KyvernoEngine, preparePolicies } from "../../../../src/kinds/kyverno/index.js";
import { kyvernoKind } from "../../../../src/kinds/kyverno/kind.js";
import { outcomeOf } from "../../../../src/kinds/kyverno/outcome.js";
import { prepareDocuments } from "../../../../src/kinds/resource-entry.js";
import { Doubles } from "../../../../src/kinds/shared/doubles.js";
import { compareNames } from "../../../../src/kubernetes/names.js";
import type { JsonObject } from "../../../../src/kubernetes/object.js";
import type { AdmissionRequest } from "../../../../src/policy/index.js";
import { NO_OPINION } from "../../../../src/world/authorizer/authorizer.js";
import { NO_EXTERNAL } from "../../../../src/world/external.js";
import { RegistryImages } from "../../../../src/world/images/registry-images.js";
import { RegistryTrust } from "../../../../src/world/images/registry-trust.js";
import { commandLineData } from "../../../../src/world/offline-values.js";
import { FileResources } from "../../../../src/world/resources/file-resources.js";

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../../../../${path}`, import.meta.url));
const IMAGES = fromRoot("test/fixtures/images");

/** The result of one policy. */
export interface Result {
  readonly policy: string;
  readonly rule: string;
  readonly status: string;
  readonly message: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The answer to one request. */
export interface RequestAnswer {
  readonly results: readonly Result[] | null;
  readonly pinned?: readonly Result[];
  readonly patches?: readonly { readonly path: string; readonly value: string }[];
  readonly allowed: boolean;
  readonly message?: string;
  readonly warnings?: readonly string[];
}

/** A line of cases.jsonl; its README says what the members are. */
export interface Case {
  readonly id: string;
  readonly policies: readonly JsonObject[];
  readonly exceptions?: readonly JsonObject[];
  readonly namespaces?: readonly JsonObject[];
  readonly objects?: readonly JsonObject[];
  readonly resources?: readonly Pod[];
  readonly requests?: readonly JsonObject[];
  readonly payload?: JsonObject;
  readonly pin?: boolean;
  readonly differs?: string;
  readonly refused?: boolean;
  readonly right?: readonly ({ readonly status: string; readonly message?: string } | null)[];
  readonly cosign?: readonly (readonly string[])[];
  readonly cosignVerdicts?: readonly { readonly pass: boolean; readonly error?: string }[];
  readonly kyverno: {
    readonly failed?: string;
    readonly checks?: readonly { readonly policy: string; readonly errors?: readonly string[] }[];
    readonly requests?: readonly RequestAnswer[];
    readonly payload?: readonly Result[];
  };
}

interface Pod {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** @param file with cases of the same form; default: those of the vectors */
export const readCases = (file = fromRoot("test/vectors/image-validating/cases.jsonl")): readonly Case[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Case);

/** The layout as the registries of the cases, by their ports: slow, silent, closed, out of order, and without an answer about signatures. */
class Registries implements Registry {
  readonly #layout = openImageLayouts([IMAGES]);

  async manifest(image: ImageReference, signal: AbortSignal, maxBytes?: number) {
    const signatures = image.tag?.startsWith("sha256-") === true;
    return this.#layout.manifest(await this.#at(image, signal, signatures), signal, maxBytes);
  }

  async blob(...[image, descriptor, most, signal, into]: Parameters<Registry["blob"]>) {
    return this.#layout.blob(await this.#at(image, signal), descriptor, most, signal, into);
  }

  async *referrers(image: ImageReference, digest: string, signal: AbortSignal) {
    yield* this.#layout.referrers(await this.#at(image, signal, true), digest, signal);
  }

  async #at(image: ImageReference, signal: AbortSignal, signatures = false): Promise<ImageReference> {
    const port = image.host.split(":")[1];
    if (port === "5056") await wait(20);
    if (port === "5057") await wait(60_000, undefined, { signal });
    if (port === "5059") throw new FetchError("connection refused", { unanswered: true });
    if (port === "5060" || (port === "5061" && signatures)) throw new FetchError("out of order", { status: 503 });
    return { ...image, host: "localhost:5055" };
  }
}

const ended = new AbortController();
const now = () => performance.now();
const registry = new Registries();
const trustRoot = sigstoreTrustRoot({ trustConfig: join(IMAGES, "trust.json"), cacheDirectory: "" });
const reader = new ImageTrustReader(registry, new SignatureChecks(trustRoot, now));
const trust = new RegistryTrust(() => reader, now, ended.signal);
const metadata = new ImageMetadata(registry);
const images = new RegistryImages((reference, signal) => metadata.read(reference, signal), now, ended.signal);

const gvk = (apiVersion: string, kind: string) => {
  const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  return { kind: { group, version, kind }, resource: { group, version, resource: `${kind.toLowerCase()}s` } };
};

function creating(object: Pod): AdmissionRequest {
  const { kind, resource } = gvk(object.apiVersion, object.kind);
  const { name, namespace = "" } = object.metadata;
  const about = { kind, resource, requestKind: kind, requestResource: resource };
  return { uid: "u", ...about, name, namespace, operation: "CREATE", userInfo: {}, object } as AdmissionRequest;
}

/** Our answer: why the policy is refused when it is loaded, or the answers to the requests. */
export type Own = { readonly refused: string } | { readonly answers: readonly RequestAnswer[] };

/** Asks our engine. */
export async function own(one: Case): Promise<Own> {
  const refused = refusal(one);
  if (refused !== undefined) return { refused };
  const { policies, failures } = preparePolicies(
    one.policies as unknown as PolicyResource[],
    (one.exceptions ?? []) as unknown as ExceptionResource[],
  );
  const [failure] = failures;
  if (failure !== undefined) return { refused: failure.text };
  const team = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };
  const objects = (one.objects ?? []).map((object) => ({
    resource: gvk(String(object.apiVersion), String(object.kind)).resource,
    object,
  }));
  const external = { ...commandLineData({ objects }, NO_EXTERNAL.http, trust), images };
  const resources = new FileResources([team, ...(one.namespaces ?? [])]);
  const world = { resources, authorizer: NO_OPINION, external, now };
  const limit = one.id === "registry/silent" ? 200 : 60_000;
  const context = () => ({ deadline: now() + limit, signal: new AbortController().signal });
  const requests = [...(one.resources ?? []).map(creating), ...((one.requests ?? []) as unknown as AdmissionRequest[])];
  const inputs: readonly EngineInput[] =
    one.payload === undefined
      ? requests.map((request) => ({ kind: "admission", request }))
      : [{ kind: "json", payload: new Doubles().of(one.payload) }];
  const judging = new KyvernoEngine(policies, { world, flavour: "server" });
  const pinning = policies.filter(({ variants: [base] }) => base?.images?.mutateDigest === true);
  const answers: RequestAnswer[] = [];
  for (const input of inputs) {
    if (one.pin !== true || input.kind !== "admission") {
      answers.push(answerOf(await judging.decide(input, context())));
      continue;
    }
    const pins = new KyvernoEngine(pinning, { world, flavour: "server", pins: true });
    const before = await pins.decide(input, context());
    const { results: pinned, ...first } = answerOf(before);
    const object = before.responses.map(({ result }) => result?.object).findLast((each) => each !== undefined);
    const patches = patchesBetween(input.request.object, object).sort((a, b) => compareNames(a.path, b.path));
    const judged = first.allowed
      ? answerOf(
          await judging.decide({ ...input, request: { ...input.request, ...(object && { object }) } }, context()),
        )
      : { ...first, results: [] };
    answers.push({
      ...judged,
      ...(patches.length > 0 && { patches }),
      pinned: (pinned ?? []).filter(({ status }) => status === "error"),
    });
  }
  return { answers };
}

function refusal({ policies, exceptions = [], pin = false }: Case): string | undefined {
  const written = [...policies, ...exceptions].map((each) => JSON.stringify(each)).join("\n---\n");
  const holder = parseConfig("p: { cel: { validations: [ { expression: 'true' } ] } }", "p.yaml");
  const [first] = holder.ok ? holder.config.entries : [];
  if (first?.kind !== "cel") throw new Error("no entry");
  const { documents } = parseResources(written, "f.yaml");
  const entry = {
    kind: "resource",
    id: "p",
    origin: first.origin,
    documents,
    policyMode: "protect",
    allowedToMutate: pin,
  };
  try {
    prepareDocuments(entry as ResourceEntry, [kyvernoKind()], () => {});
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function answerOf(answer: EngineAnswer): RequestAnswer {
  const results = answer.responses
    .flatMap(({ policy, result }): Result[] => {
      // A false match condition is no result of Kyverno's.
      if (result === undefined || (result.status === "skip" && result.rule === "")) return [];
      const { rule, status, message, properties } = result;
      const { "cel.validationIndex": _, ...annotations } = properties;
      const noted = Object.keys(annotations).length > 0 && { annotations };
      return [{ policy: policy.resource.metadata.name ?? "", rule, status, message, ...noted }];
    })
    .sort((a, b) => compareNames(a.policy + a.message, b.policy + b.message));
  const { failure } = answer;
  if (failure !== undefined) results.push({ policy: "", rule: "", status: "error", message: failure.message ?? "" });
  const { verdict, warnings, ...outcome } = outcomeOf(answer);
  const allowed = verdict === "allow" || verdict === "skip";
  const message = "message" in outcome ? (outcome.message ?? "") : "";
  return {
    results,
    allowed,
    ...(!allowed && { message: message.split("; ").sort(compareNames).join("; ") }),
    ...(warnings && { warnings: [...warnings].sort(compareNames) }),
  };
}

/** The texts of the second object that are others than those of the first, as patches. */
function patchesBetween(from: unknown, to: unknown, path = ""): { op: string; path: string; value: string }[] {
  if (typeof to === "string") return from === to ? [] : [{ op: "replace", path, value: to }];
  if (typeof to !== "object" || to === null) return [];
  const before = (from ?? {}) as Record<string, unknown>;
  return Object.entries(to).flatMap(([key, value]) => patchesBetween(before[key], value, `${path}/${key}`));
}

/** Ends requests under way. */
export const end = (): void => ended.abort();
