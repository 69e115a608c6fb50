/** The functions about signatures for one evaluation of a policy, and what its request has found out so far (spec kyverno.md 9). */
import {
  type Bindings,
  CelError,
  noSuchOverload,
  OpaqueValue,
  type Result,
  typeNameOf,
  type Value,
  Waiting,
} from "../../../cel/index.js";
import { SmallMap } from "../../../data/small-map.js";
import type { Attestor, AttestorVerdict, Sought } from "../../../world/images/image-trust.js";
import type { RequestExternal } from "../../../world/request-external.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import type { Attempt } from "../../shared/expressions/attempt.js";
import type { Expression } from "../../shared/expressions/expression.js";
import { asValue } from "../external/context-value.js";
import type { ImageCalls } from "../state.js";
import type { CompiledAttestor, CompiledImages, ImageGlob } from "./compiled-images.js";
import { imageDataValue } from "./image-data.js";

/** An attestor in expressions: its own expressions are evaluated when signatures are checked. */
class AttestorValue extends OpaqueValue {
  readonly typeName = "imageverify.attestor";
  readonly attestor: CompiledAttestor;

  constructor(attestor: CompiledAttestor) {
    super();
    this.attestor = attestor;
  }

  equals(other: Value): boolean | CelError {
    return other instanceof AttestorValue ? other === this : noSuchOverload();
  }

  toString(): string {
    return this.attestor.name;
  }
}

/** The values of `attestors` and `attestations`, which are those of the policy. */
export const signerBindings = (images: CompiledImages): Readonly<Record<"attestors" | "attestations", Value>> => {
  const known = SIGNERS.get(images);
  if (known !== undefined) return known;
  const made = {
    attestors: Object.fromEntries(images.attestors.map((each) => [each.name, new AttestorValue(each)])),
    attestations: Object.fromEntries([...images.attestations.keys()].map((name) => [name, name])),
  };
  SIGNERS.set(images, made);
  return made;
};

const SIGNERS = new WeakMap<CompiledImages, Readonly<Record<"attestors" | "attestations", Value>>>();

/** The facts about images that all policies about one request have found (disposable). Later attempts take nothing of them back. */
export class ImageEvidence {
  readonly #verified = new SmallMap<boolean>();
  /** Whether globs match, by length and text of the glob, and the image. */
  globbed: Map<string, boolean> | undefined;
  /** Contents of attestations that were verified, by policy, image and type. */
  #payloads: Map<CompiledImages, Map<string, Value>> | undefined;

  /** Notes that signatures of an image were checked. */
  record(image: string, verified: boolean): void {
    if (verified || this.#verified.get(image) === undefined) this.#verified.set(image, verified);
  }

  /** The message about the first of the images that no policy of the request has verified. */
  lacking(images: Iterable<string>): string | undefined {
    for (const image of images) {
      const verified = this.#verified.get(image);
      if (verified === true) continue;
      return verified === false
        ? `image ${image} failed signature or attestation verification`
        : `image ${image} is not verified: no policy performed a signature or attestation check on it`;
    }
    return undefined;
  }

  keep(policy: CompiledImages, image: string, sought: Sought, payload: unknown): void {
    this.#payloads ??= new Map();
    const payloads = this.#payloads.get(policy) ?? new Map<string, Value>();
    this.#payloads.set(policy, payloads);
    payloads.set(payloadKey(image, sought), payload as Value);
  }

  payload(policy: CompiledImages, image: string, sought: Sought): Value | undefined {
    return this.#payloads?.get(policy)?.get(payloadKey(image, sought));
  }
}

const payloadKey = (image: string, sought: Sought): string => JSON.stringify([image, sought]);

/** The images of one policy about one object, in one attempt (disposable). */
export class PolicyImages implements ImageCalls {
  readonly #policy: CompiledImages;
  readonly #evidence: ImageEvidence;
  readonly #attempt: Attempt;
  readonly #external: RequestExternal;
  /** Of images that are matched by expressions. */
  #matches: Map<string, boolean> | undefined;
  /** The work on globs in this attempt. */
  #globSteps = 0;
  /** Of those with expressions. */
  #attestors: Map<CompiledAttestor, Attestor> | undefined;
  readonly #matched = new SmallMap<true>();
  /** The variables of attestors' expressions. Set before validations are evaluated. */
  bindings: Bindings = {};

  constructor(policy: CompiledImages, evidence: ImageEvidence, attempt: Attempt) {
    this.#policy = policy;
    this.#evidence = evidence;
    this.#attempt = attempt;
    this.#external = attempt.world.external;
  }

  /** The images that the policy is about, each once; their signatures are checked side by side. */
  get matched(): readonly string[] {
    return this.#matched.keys;
  }

  /** Adds an image that the policy is about. */
  add(image: string): void {
    this.#matched.set(image, true);
  }

  /**
   * Whether the policy is about an image.
   * @param evaluate evaluates an expression of `matchImageReferences`; default: as a part of the expression that calls a function
   */
  matches(
    image: string,
    evaluate = (expression: Expression, bindings: Bindings): Result | Waiting => this.#part(expression, bindings),
  ): boolean | CelError | Waiting {
    const { matchers } = this.#policy;
    if (matchers.length === 0 || this.#matched.get(image) === true) return true;
    const known = this.#matches?.get(image);
    if (known !== undefined) return known;
    for (const matcher of matchers) {
      const found = "glob" in matcher ? this.#globbed(matcher, image) : evaluate(matcher.expression, { ref: image });
      if (found instanceof Waiting || found instanceof CelError) return found;
      if (typeof found !== "boolean") return new CelError(notConverted(found, "bool"));
      if (found) return true;
    }
    this.#matches ??= new Map();
    this.#matches.set(image, false);
    return false;
  }

  /** Whether a glob matches. Long work gives others their turn, and later attempts know it. */
  #globbed({ glob, text }: ImageGlob, image: string): boolean | Waiting {
    const evidence = this.#evidence;
    const known = evidence.globbed?.get(`${text.length} ${text}${image}`);
    if (known !== undefined) return known;
    if (this.#attempt.leavesOff()) return Waiting.INSTANCE;
    const matches = glob(image);
    const steps = STEPS_PER_CHARACTER * text.length * image.length;
    this.#attempt.count(steps);
    this.#globSteps += steps;
    if (this.#globSteps <= MAX_GLOB_STEPS) return matches;
    evidence.globbed ??= new Map();
    evidence.globbed.set(`${text.length} ${text}${image}`, matches);
    return matches;
  }

  /** The digest of an image, which must be there. */
  digest(image: string): string | LookupFailure | Waiting {
    return this.#external.imageDigest(image, this.#policy.access);
  }

  verifyImageSignatures(image: Value, attestors: Value): Result | Waiting {
    return this.#count(image, SIGNATURE, attestors);
  }

  verifyAttestationSignatures(image: Value, attestation: Value, attestors: Value): Result | Waiting {
    return this.#count(image, this.#sought(attestation), attestors);
  }

  getImageData(image: Value): Result | Waiting {
    if (typeof image !== "string") return new CelError(notConverted(image, "string"));
    const data = this.#external.image(image, this.#policy.access);
    if (data instanceof Waiting) return data;
    return data instanceof LookupFailure
      ? new CelError(`failed to get imagedata: ${data.message}`)
      : imageDataValue(data);
  }

  extractPayload(image: Value, attestation: Value): Result | Waiting {
    if (typeof image !== "string") return new CelError(notConverted(image, "string"));
    const sought = this.#sought(attestation);
    if (sought instanceof CelError) return sought;
    const kept = this.#evidence.payload(this.#policy, image, sought);
    if (kept !== undefined) return kept;
    if (sought.kind !== "referrer")
      return new CelError(
        "failed to get payload: intoto attestation payload cannot be fetch before verifying intoto attestation",
      );
    return asValue(this.#external.artifact(image, sought.artifactType, this.#policy.access), "failed to get payload");
  }

  #sought(attestation: Value): Sought | CelError {
    if (typeof attestation !== "string") return new CelError(notConverted(attestation, "string"));
    return (
      this.#policy.attestations.get(attestation) ?? new CelError(`attestation not found in policy: ${attestation}`)
    );
  }

  /** The number of attestors with a verified signature. One that could not be asked about is an error: it must not count as unsigned. */
  #count(image: Value, sought: Sought | CelError, attestors: Value): Result | Waiting {
    if (typeof image !== "string") return new CelError(notConverted(image, "string"));
    const matches = this.matches(image);
    if (matches !== true) return matches === false ? 0 : matches;
    if (sought instanceof CelError) return sought;
    const asked = this.#asked(sought, attestors);
    if (asked instanceof Waiting || asked instanceof CelError) return asked;
    // The image must be there all the same.
    if (asked.length === 0) return found(this.digest(image), "failed to get imagedata", () => 0);
    const verdicts: (AttestorVerdict | LookupFailure)[] = [];
    for (const attestor of asked) {
      const verdict = this.#verdict(image, attestor, sought);
      if (!(verdict instanceof Waiting)) verdicts.push(verdict);
    }
    if (verdicts.length < asked.length) {
      // The other images come next, most often: their questions go along with these.
      for (const other of this.matched) for (const attestor of asked) this.#verdict(other, attestor, sought);
      return Waiting.INSTANCE;
    }
    let count = 0;
    for (let i = 0; i < verdicts.length; i++) {
      const verdict = verdicts[i];
      if (verdict instanceof LookupFailure)
        return new CelError(`attestor ${asked[i]?.name} can't be checked for image ${image}: ${verdict.message}`);
      if (verdict?.verified !== true) continue;
      count += 1;
      if (verdict.payload !== undefined) this.#evidence.keep(this.#policy, image, sought, verdict.payload);
    }
    this.#evidence.record(image, count > 0);
    return count;
  }

  #asked(sought: Sought, attestors: Value): readonly Attestor[] | CelError | Waiting {
    if (!Array.isArray(attestors)) return new CelError(notConverted(attestors, "list"));
    const asked: Attestor[] = [];
    for (const each of attestors as readonly Value[]) {
      if (!(each instanceof AttestorValue))
        return new CelError(`unsupported native conversion from ${typeNameOf(each)} to 'v1alpha1.Attestor'`);
      const attestor = this.#attestor(each.attestor);
      if (attestor instanceof Waiting || attestor instanceof CelError) return attestor;
      if (attestor.notary !== undefined && sought.kind === "intoto")
        return new CelError("notary verifier only supports oci 1.1 referrers as attestations");
      asked.push(attestor);
    }
    return asked;
  }

  #attestor(compiled: CompiledAttestor): Attestor | CelError | Waiting {
    if (compiled.expressions.length === 0) return compiled.with(NO_VALUES);
    const known = this.#attestors?.get(compiled);
    if (known !== undefined) return known;
    const values: string[] = [];
    for (const [i, expression] of compiled.expressions.entries()) {
      const value = this.#part(expression, this.bindings);
      if (value instanceof Waiting) return value;
      let reason: string | undefined;
      if (value instanceof CelError)
        reason = `failed to evaluate compiled attestor: ${compiled.name}, error: ${value.message}`;
      else if (typeof value !== "string")
        reason = `failed to convert expression in compiled attestor: ${compiled.name}, error: unsupported type conversion from '${typeNameOf(value)}' to string`;
      // An empty key, subject or root would mean that there is none, and so let others pass.
      else if (value === "") reason = "an expression gives an empty text";
      else values.push(value);
      if (reason === undefined) continue;
      const part = PARTS.get(compiled.paths[i]?.at(-2)) ?? "subject";
      return new CelError(`failed to convert ${part} in compiled attestor: ${compiled.name}, error: ${reason}`);
    }
    const attestor = compiled.with(values);
    this.#attestors ??= new Map();
    this.#attestors.set(compiled, attestor);
    return attestor;
  }

  #verdict(image: string, attestor: Attestor, sought: Sought): AttestorVerdict | LookupFailure | Waiting {
    // Cosign signs no other artifacts about an image.
    if (attestor.cosign !== undefined && sought.kind === "referrer") return NO_STATEMENT;
    return this.#external.imageVerdict({ image, attestor, sought, access: this.#policy.access });
  }

  #part({ program, error }: Expression, bindings: Bindings): Result | Waiting {
    if (program === undefined) return new CelError(error ?? "");
    return this.#attempt.evaluatePart(program, bindings).result;
  }
}

/** Steps of a nanosecond or two for a character of a glob and one of an image, at most. */
const STEPS_PER_CHARACTER = 20;
/** Work on globs that is done again in each attempt: less than a millisecond. */
const MAX_GLOB_STEPS = 300_000;
/** Kyverno's words for the parts of attestors that have expressions. */
const PARTS: ReadonlyMap<unknown, string> = new Map([
  ["key", "key"],
  ["cert", "cert"],
  ["certChain", "cert chain"],
  ["trustedRoot", "trustedRoot"],
  ["certs", "notary cert"],
  ["tsaCerts", "notary tsa cert"],
]);

const NO_VALUES: readonly string[] = [];
const SIGNATURE: Sought = { kind: "signature" };

const NO_STATEMENT: AttestorVerdict = {
  verified: false,
  reasons: ["a cosign attestor signs in-toto statements, not artifacts that refer to the image: write `intoto`"],
};

function found<T>(answer: T | LookupFailure | Waiting, failed: string, as: (found: T) => Result): Result | Waiting {
  if (answer instanceof Waiting) return answer;
  return answer instanceof LookupFailure ? new CelError(`${failed}: ${answer.message}`) : as(answer);
}

const notConverted = (value: Value, to: string): string =>
  `type conversion error from '${typeNameOf(value)}' to '${to}'`;
