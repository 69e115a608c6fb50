/** Artifacts that refer to an image (distribution specification 1.1): their list by type, and their content. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { JsonError, readJsonInSteps, scanJson } from "../data/json.js";
import { hasMoreValues } from "../data/json-values.js";
import { limiter } from "../data/limiter.js";
import { FetchError } from "./fetch-error.js";
import { MAX_ANSWER_BYTES } from "./limits.js";
import type { Descriptor } from "./registry.js";
import { layersOf } from "./registry-client.js";
import type { Attested } from "./signatures/attestor.js";
import { MAX_REFERRER_LISTS } from "./signatures/bundle.js";

/** Most artifacts of all types that may refer to an image, as in the reference implementation: more are an error. */
export const MAX_ARTIFACTS = 50;
/** Largest artifact whose content is read, in bytes, as in the reference implementation. */
export const MAX_ARTIFACT_BYTES = 10_000_000;
/** Most JSON values of an artifact's content: lists of a large image's files have half of them. */
export const MAX_ARTIFACT_VALUES = 1_000_000;

/** Holds one large content at a time. */
const oneLarge = limiter(1);

/** An error with its text for answers. */
export const artifactError = (shown: string): FetchError => new FetchError(shown, { stage: "verify", shown });

/**
 * The artifacts of a type that refer to a manifest.
 * @throws FetchError when the registry can't say, or there are more than {@link MAX_ARTIFACTS} of all types
 */
export async function artifactsOf(
  { registry, image, signal }: Attested,
  digest: string,
  type: string,
): Promise<readonly Descriptor[]> {
  const all: Descriptor[] = [];
  let lists = 0;
  for await (const list of registry.referrers(image, digest, signal)) {
    all.push(...list);
    if (all.length > MAX_ARTIFACTS || ++lists > MAX_REFERRER_LISTS)
      throw artifactError(`more than ${MAX_ARTIFACTS} artifacts refer to it`);
  }
  return all.filter(({ artifactType }) => artifactType === type);
}

/**
 * The only layer of an artifact, which must be what the list of artifacts says about it: anyone who may push can change some lists.
 * @param about the manifest that it must refer to
 * @param most bytes
 * @throws FetchError
 */
export async function onlyLayer(
  { registry, image: { host, repository }, digest: subject, signal }: Attested,
  { digest, artifactType }: Descriptor,
  most: number,
): Promise<Descriptor & { readonly bytes: Buffer }> {
  const { content } = await registry.manifest({ host, repository, digest }, signal);
  const { subject: refersTo, config, artifactType: type } = content as Readonly<Record<string, Partial<Descriptor>>>;
  if (refersTo?.digest !== subject) throw artifactError("it refers to another manifest");
  if ((type || config?.mediaType) !== artifactType) throw artifactError("it has another type than its list says");
  const [layer, ...others] = layersOf({ content });
  if (layer === undefined || others.length > 0) throw artifactError("an artifact must have one layer");
  return { ...layer, bytes: await registry.blob({ host, repository }, layer, most, signal) };
}

/**
 * The content of an artifact in JSON, read in turns with other work.
 * @throws FetchError
 */
export async function artifactContent(about: Attested, artifact: Descriptor): Promise<unknown> {
  return oneLarge(async () => {
    const { bytes } = await onlyLayer(about, artifact, MAX_ARTIFACT_BYTES);
    const text = bytes.toString("utf8");
    await nextTurn();
    if (hasMoreValues(text, MAX_ARTIFACT_VALUES))
      throw artifactError(`its content has more than ${MAX_ARTIFACT_VALUES} values`);
    await nextTurn();
    // Other texts would be read in one go.
    if (bytes.length > MAX_ANSWER_BYTES && scanJson(bytes, 0)?.isWhole !== true)
      throw artifactError("its content is not JSON, or has a string of more than 256 KiB");
    try {
      const steps = readJsonInSteps(text, {}, bytes);
      for (let step = steps.next(); ; step = steps.next()) {
        await nextTurn();
        if (step.done === true) return step.value.value;
      }
    } catch (error) {
      throw error instanceof JsonError ? artifactError("its content is not JSON") : error;
    }
  });
}
