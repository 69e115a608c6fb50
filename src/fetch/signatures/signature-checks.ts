/** Looks for required signatures among those of an image (spec kubewarden.md 1.8), in turns with other requests. */
import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { VerificationConfig } from "../../config/verification.js";
import { limiter } from "../../data/limiter.js";
import { FetchError, reasonOf, shownOf, TOO_LARGE } from "../fetch-error.js";
import { formatImageReference, type ImageReference } from "../image-reference.js";
import { MAX_ANSWER_BYTES } from "../limits.js";
import type { Descriptor, Manifest, Registry } from "../registry.js";
import type { ImageVerifier } from "../registry-client.js";
import { isUnavailable, readBundle, signatureReferrers } from "./bundle.js";
import { type Claim, claimOf, isSignedAsClaimed } from "./layer-verification.js";
import {
  type Claimed,
  claimedBy,
  type LayerKind,
  layersAbout,
  listedSignature,
  MAX_SIGNATURES_BYTES,
  SIGNATURES,
  type Signature,
  signatureDescriptors,
  signatureLayer,
} from "./signature-layer.js";
import { readableOnly, SIGN_PREDICATE } from "./statement.js";
import type { TrustRoot } from "./trust-root.js";
import {
  isAnnotated,
  type Sought,
  soughtFor,
  unverified,
  type Wanted,
  type WantedSignatures,
} from "./wanted-signature.js";

/** Milliseconds that all checks of a process together hold the thread before requests have their turn; one more signature may be under way then. */
const SLICE_MS = 5;
/**
 * Milliseconds that a refusal is kept: repeated requests cost one check, and a signature that is added meanwhile counts after this time. Policies of
 * a cluster are fetched again no sooner.
 */
export const REFUSAL_KEPT_MS = 4_000;
/** Most refusals that are kept, some KiB each. */
export const MAX_REFUSALS = 500;

/** Signatures of a check whose payloads are fetched at a time. */
const EXAMINED_AT_ONCE = 8;

/** An image to be verified. */
export interface Verification {
  readonly registry: Registry;
  readonly image: ImageReference;
  /** The image in a guest's words, for messages to it; absent for a configuration's check, whose images clients must not see. */
  readonly name?: string;
  /** The digest of the image's manifest. */
  readonly digest: string;
  readonly signal: AbortSignal;
}

/** An examined signature, with the required ones that it meets. */
export interface Examined {
  readonly layer: Signature;
  readonly met: readonly Sought[];
}

type Payloads = Map<string, ReturnType<typeof payloadOf>>;

/** Examines what a registry lists. */
type Load = (listed: Descriptor, payloads: Payloads) => Promise<Examined | undefined>;

/** Verifies images by verification.yml (spec kubewarden.md 1.8). */
export function imageVerifier(config: VerificationConfig, registry: Registry, checks: SignatureChecks): ImageVerifier {
  return {
    async verify(image, signal) {
      try {
        const digest = image.digest ?? (await registry.manifest(image, signal)).digest;
        await checks.check(config, { registry, image, digest, signal });
        return digest;
      } catch (cause) {
        if (cause instanceof FetchError && cause.stage === "verify") throw cause;
        const shown = shownOf(cause);
        throw new FetchError(reasonOf(cause), { stage: "verify", cause, ...(shown !== undefined && { shown }) });
      }
    },
  };
}

/** Checks signatures, for the life of a process. */
export class SignatureChecks {
  readonly trustRoot: TrustRoot;
  readonly #now: () => number;
  readonly #refusals: LRUCache<string, FetchError>;
  /** Holds one artifact at a time that is larger than other answers of registries. */
  readonly #oneLarge = limiter(1);
  #sliceBegan = Number.NEGATIVE_INFINITY;
  #nextSlice: Promise<void> | undefined;

  /** @param now monotonic milliseconds */
  constructor(trustRoot: TrustRoot, now: () => number) {
    this.trustRoot = trustRoot;
    this.#now = now;
    this.#refusals = new LRUCache({ max: MAX_REFUSALS, ttl: REFUSAL_KEPT_MS, ttlResolution: 0, perf: { now } });
  }

  /**
   * Checks the signatures that a configuration or a guest requires.
   * @throws FetchError in Kubewarden's words when one is missing
   */
  async check(wanted: WantedSignatures, verification: Verification): Promise<void> {
    const { image, digest, name } = verification;
    const question = JSON.stringify([image.host, image.repository, digest, name, wanted]);
    const key = createHash("sha256").update(question).digest("base64");
    const refusal = this.#refusals.get(key);
    if (refusal !== undefined) throw refusal;
    try {
      await this.#find(wanted, verification);
    } catch (error) {
      // Failures that would repeat are kept as well: an artifact that is too large costs as much as another.
      if (error instanceof FetchError && !error.transient) this.#refusals.set(key, error);
      throw error;
    }
  }

  /** @throws FetchError when one is missing */
  async #find({ allOf = [], anyOf }: WantedSignatures, verification: Verification): Promise<void> {
    const { image, name: asked } = verification;
    const all = await this.#sought(allOf, verification);
    const any = await this.#sought(anyOf?.signatures ?? [], verification);
    const least = anyOf?.minimumMatches ?? 0;
    const open = new Set([...all, ...any]);
    const openOf = (list: readonly Sought[]) => list.filter((one) => open.has(one)).map(({ wanted }) => wanted);
    const isMet = () => openOf(all).length === 0 && any.length - openOf(any).length >= least;
    const isThere = await this.#each(open, verification, false, ({ met }) => {
      for (const one of met) open.delete(one);
      return isMet();
    });
    if (!isThere) {
      const found = "no signatures found";
      const shown = asked === undefined ? found : `${found} for image: ${asked} `;
      throw new FetchError(`${found} for image: ${asked ?? formatImageReference(image)} `, { stage: "verify", shown });
    }
    if (isMet()) return;
    const missing = openOf(all);
    const own = asked !== undefined;
    if (missing.length > 0) throw unverified("missing signatures", missing, own);
    const found = any.length - openOf(any).length;
    throw unverified(`minimum number of signatures not reached: needed ${least}, got ${found}`, openOf(any), own);
  }

  /**
   * Examines all signatures of an image, with the required ones that each meets.
   * @throws FetchError when the registry is not available, or the trust root that a signature needs
   */
  async examineAll(wanted: readonly Wanted[], verification: Verification): Promise<readonly Examined[]> {
    const sought = new Set(await this.#sought(wanted, verification));
    const all: Examined[] = [];
    await this.#each(sought, verification, true, (one) => {
      all.push(one);
      return false;
    });
    return all;
  }

  /**
   * Examines the signatures of an image, wherever they stand: those in layers of one artifact, then those in bundles.
   * @param take receives each; true: the others need not be looked at
   * @returns whether the registry lists any
   */
  async #each(
    open: ReadonlySet<Sought>,
    verification: Verification,
    all: boolean,
    take: (examined: Examined) => boolean,
  ): Promise<boolean> {
    const { registry, image, digest, signal } = verification;
    let isEnough = false;
    const examine = async (listed: readonly Descriptor[], load: Load): Promise<boolean> => {
      for await (const one of this.#examined(listed, load)) {
        isEnough = take(one);
        if (isEnough) break;
      }
      return listed.length > 0;
    };
    const artifact = layersAbout(image, digest, SIGNATURES);
    const inLayers = await this.withLayers(registry, artifact, SIGNATURES, signal, (descriptors) =>
      examine(descriptors, (one, payloads) => this.#examineLayer(one, open, verification, payloads, all)),
    );
    if (isEnough) return true;
    const referrers = await signatureReferrers(registry, image, { digest, predicateType: SIGN_PREDICATE }, signal);
    let asked: Promise<Manifest> | undefined;
    const manifest = async () => {
      asked ??= registry.manifest({ host: image.host, repository: image.repository, digest }, signal);
      return (await asked).bytes;
    };
    const inBundles = await examine(referrers, (one) => this.#examineBundle(one, open, verification, manifest, all));
    return inLayers || inBundles;
  }

  async #sought(list: readonly Wanted[], { signal }: Verification): Promise<readonly Sought[]> {
    const sought: Sought[] = [];
    for (const wanted of list) {
      await this.turn(signal);
      sought.push(await soughtFor(wanted, Date.now));
    }
    return sought;
  }

  /** Runs work on the signatures that an artifact lists. */
  async withLayers<T>(
    registry: Registry,
    artifact: ImageReference,
    kind: LayerKind,
    signal: AbortSignal,
    work: (descriptors: readonly Descriptor[]) => Promise<T>,
  ): Promise<T> {
    const turn = () => this.turn(signal);
    const read = (most: number) => signatureDescriptors(registry, artifact, kind, most, signal, turn);
    const small = await read(MAX_ANSWER_BYTES).catch((error: unknown) => {
      if (error instanceof FetchError && error.shown === TOO_LARGE) return undefined;
      throw error;
    });
    return small === undefined ? this.#oneLarge(async () => work(await read(MAX_SIGNATURES_BYTES))) : work(small);
  }

  /** Examines signatures, some at a time: one after another, hundreds of added ones would take all the time of a check. */
  async *#examined(listed: readonly Descriptor[], load: Load): AsyncGenerator<Examined> {
    for (let from = 0; from < listed.length; from += EXAMINED_AT_ONCE) {
      // Signers who add nothing sign the same payload.
      const payloads: Payloads = new Map();
      const some = listed.slice(from, from + EXAMINED_AT_ONCE);
      for (const one of await Promise.all(some.map((each) => load(each, payloads)))) if (one !== undefined) yield one;
    }
  }

  /**
   * Examines the signature of a layer, the cheapest checks first: signatures that can't be required cost little, however many there are, so that none
   * is left out for their number.
   * @param open the signatures still sought; it may shrink meanwhile
   * @param all whether signatures that can't be required are read, too
   * @returns undefined for one that can't be required, or without a readable payload
   */
  async #examineLayer(
    descriptor: Descriptor,
    open: ReadonlySet<Sought>,
    { registry, image, digest, signal }: Verification,
    payloads: Payloads,
    all: boolean,
  ): Promise<Examined | undefined> {
    await this.turn(signal);
    const listed = readableOnly(() => listedSignature(descriptor));
    if (listed === undefined) return undefined;
    const { claim, sought } = mayMeet(claimedBy(listed), open);
    if (sought.length === 0 && !all) return undefined;
    // A payload listed with another size can't be fetched, and must not replace this one.
    const name = `${descriptor.digest} ${descriptor.size}`;
    const asked = payloads.get(name) ?? payloadOf(registry, layersAbout(image, digest, SIGNATURES), descriptor, signal);
    payloads.set(name, asked);
    const payload = await asked;
    await this.turn(signal);
    const layer = payload && readableOnly(() => signatureLayer(listed, payload));
    return layer && { layer, met: await this.#metBy(layer, claim, sought, open, digest, signal) };
  }

  /** Examines the signature of a bundle, in the same way. */
  async #examineBundle(
    descriptor: Descriptor,
    open: ReadonlySet<Sought>,
    { registry, image, digest, signal }: Verification,
    manifest: () => Promise<Buffer>,
    all: boolean,
  ): Promise<Examined | undefined> {
    await this.turn(signal);
    const expected = { digest, predicateType: SIGN_PREDICATE };
    const turn = () => this.turn(signal);
    const read = readBundle(registry, image, descriptor, expected, manifest, signal, turn);
    const layer = await read.catch((error: unknown) => {
      if (isUnavailable(error)) throw error;
      return undefined;
    });
    if (layer === undefined) return undefined;
    await this.turn(signal);
    const { claim, sought } = mayMeet(layer, open);
    if (sought.length === 0 && !all) return undefined;
    return { layer, met: await this.#metBy(layer, claim, sought, open, digest, signal) };
  }

  /** The sought signatures that one meets. */
  async #metBy(
    layer: Signature,
    claim: Claim | undefined,
    sought: readonly Sought[],
    open: ReadonlySet<Sought>,
    digest: string,
    signal: AbortSignal,
  ): Promise<readonly Sought[]> {
    const met: Sought[] = [];
    let isAsClaimed: boolean | undefined;
    for (const one of layer.imageDigest === digest ? sought : []) {
      if (!open.has(one) || !isAnnotated(layer, one.wanted)) continue;
      await this.turn(signal);
      // Once for all sought identities.
      if (one.isSignedBy === undefined && claim !== undefined)
        isAsClaimed ??= await isSignedAsClaimed(layer, claim, await this.trustRoot());
      if (one.isSignedBy === undefined ? isAsClaimed === true : await one.isSignedBy(layer, this.trustRoot))
        met.push(one);
    }
    return met;
  }

  /** @throws FetchError when the time of the check is over */
  async turn(signal: AbortSignal): Promise<void> {
    while (this.#now() - this.#sliceBegan >= SLICE_MS) {
      this.#nextSlice ??= nextTurn().then(() => {
        this.#nextSlice = undefined;
        this.#sliceBegan = this.#now();
      });
      await this.#nextSlice;
    }
    if (!signal.aborted) return;
    const late = "its signatures could not be checked in time";
    throw new FetchError(late, { stage: "verify", unanswered: true, shown: late });
  }
}

/** The sought signatures that one may meet, by what it says about its signer. */
function mayMeet(claimed: Claimed, open: ReadonlySet<Sought>) {
  const claim = [...open].some(({ isIdentity }) => isIdentity !== undefined) ? claimOf(claimed) : undefined;
  const sought = [...open].filter(({ isIdentity }) => isIdentity === undefined || (claim && isIdentity(claim)));
  return { claim, sought };
}

/** Fetches a payload; undefined when it is missing, or has another digest: one party's entries must not keep others' signatures from being found. */
async function payloadOf(
  registry: Registry,
  artifact: ImageReference,
  descriptor: Descriptor,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  try {
    return await registry.blob(artifact, descriptor, descriptor.size, signal);
  } catch (error) {
    if (error instanceof FetchError && !error.transient) return undefined;
    throw error;
  }
}
