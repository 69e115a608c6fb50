/** The parts of an evaluation that only ImageValidatingPolicies have: which images they are about, and their digests (spec kyverno.md 9). */
import { type Bindings, CelError, type Result, type Value, Waiting } from "../../../cel/index.js";
import { setKey } from "../../../data/plain-object.js";
import type { JsonObject } from "../../../kubernetes/object.js";
import { LookupFailure } from "../../../world/resources/resource-source.js";
import type { Expression } from "../../shared/expressions/expression.js";
import type { Evaluated, EvaluationData } from "../engine/evaluated.js";
import { ImageReference } from "../libraries/image-reference.js";
import type { CompiledImages } from "./compiled-images.js";
import { imageList, podImages, taggedImages } from "./pod-images.js";
import { type PolicyImages, signerBindings } from "./policy-images.js";

/** Evaluates an expression; with the evaluation's own variables by default. */
type Evaluate = (expression: Expression, bindings?: Bindings) => Result | Waiting;

const failed = (message: string): Evaluated => ({ kind: "failed", message });

/** Finds the images that a policy is about, which must be there; gives the variables with them. */
export function findImages(
  policy: CompiledImages,
  calls: PolicyImages,
  { object, oldObject, resource }: EvaluationData,
  evaluate: Evaluate,
): { readonly kind: "found"; readonly bindings: Bindings } | Evaluated | Waiting {
  const { extractors, verifyDigest } = policy;
  const found = resource === undefined ? {} : podImages(resource, object, oldObject, extractors);
  if (found instanceof CelError) return failed(found.message);
  const images: Record<string, Value> = {};
  for (const name in found) {
    const own = matching(found[name] ?? [], calls, evaluate);
    if (!Array.isArray(own)) return own as Evaluated | Waiting;
    images[name] = own;
  }
  for (const [name, extractor] of extractors) {
    const value = evaluate(extractor);
    if (value instanceof Waiting) return value;
    const list = imageList(value);
    if (list instanceof CelError) return failed(list.message);
    const own = matching(list, calls, evaluate);
    if (!Array.isArray(own)) return own as Evaluated | Waiting;
    setKey(images, name, own);
  }
  const { matched } = calls;
  const undigested = verifyDigest ? withoutDigest(matched) : undefined;
  if (undigested !== undefined) return undigested;
  let waits = false;
  let missing: Evaluated | undefined;
  // All are asked about together.
  for (const image of matched) {
    const digest = calls.digest(image);
    if (digest instanceof Waiting) waits = true;
    else if (digest instanceof LookupFailure) missing ??= failed(`image ${image}: ${digest.message}`);
  }
  if (waits) return Waiting.INSTANCE;
  const { attestors, attestations } = signerBindings(policy);
  return missing ?? { kind: "found", bindings: { images, attestors, attestations } };
}

/** Those of the images that the policy is about. */
function matching(
  images: readonly string[],
  calls: PolicyImages,
  evaluate: Evaluate,
): readonly string[] | Evaluated | Waiting {
  if (images.length === 0) return images;
  const own: string[] = [];
  for (const image of images) {
    const matches = calls.matches(image, evaluate);
    if (matches instanceof Waiting) return matches;
    if (matches instanceof CelError) return failed(matches.message);
    if (!matches) continue;
    own.push(image);
    calls.add(image);
  }
  return own;
}

const DIGEST = "@sha256:";

/** The result for the first image that is not named by its digest. */
function withoutDigest(images: Iterable<string>): Evaluated | undefined {
  for (const image of images) {
    // Whether the rest of it is a reference is found when the registry is asked.
    if (image.startsWith(DIGEST, image.length - DIGEST.length - 64)) continue;
    const reference = ImageReference.parse(image);
    if (reference instanceof CelError) return failed(`failed to parse image reference ${image}: ${reference.message}`);
    if (reference.digest === "")
      return { kind: "fail", message: `image ${image} does not have a digest`, index: 0, annotations: {} };
  }
  return undefined;
}

/** Replaces the tags of matching images by their digests. An image without one keeps its tag, and is an error. */
export function pinTags(calls: PolicyImages, before: JsonObject, evaluate: Evaluate): Evaluated | Waiting {
  let object = before;
  const tagged = taggedImages(object);
  if ("error" in tagged) return { kind: "unpinned", message: tagged.error, object };
  const failures: string[] = [];
  let waits = false;
  for (const { image, pinned } of tagged) {
    const matches = calls.matches(image, evaluate);
    if (matches instanceof Waiting) return matches;
    if (matches instanceof CelError) return { kind: "unpinned", message: matches.message, object: before };
    if (!matches) continue;
    const digest = calls.digest(image);
    if (digest instanceof Waiting) waits = true;
    else if (digest instanceof LookupFailure)
      failures.push(`failed to resolve digest for image ${image}: ${digest.message}`);
    else object = pinned(object, digest);
  }
  if (waits) return Waiting.INSTANCE;
  if (failures.length > 0) return { kind: "unpinned", message: failures.join("; "), object };
  return { kind: "pass", annotations: {}, object };
}
