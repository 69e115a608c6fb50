/** `oci/*`, spec kubewarden.md 7.2, 7.4. */
import { stringifyJson } from "../../data/json.js";
import { AnswerCache } from "./answer-cache.js";
import type { Capability, Operation } from "./host.js";
import type { ImageReader } from "./images.js";
import { textOf } from "./payload.js";
import { type Verification, verificationV1, verificationV2 } from "./signature-request.js";

/** Milliseconds an answer is kept. */
const KEPT_MS = 60_000;

/** @param now monotonic milliseconds */
export function ociCapability(images: ImageReader, now: () => number): Capability {
  const answers = new AnswerCache<object>(KEPT_MS, now);

  const about = (name: string, ask: (image: string, signal: AbortSignal) => Promise<object>): Operation => ({
    run(payload) {
      const image = textOf(payload, "the image");
      return answers.get(stringifyJson([name, image]), (signal) => ask(image, signal));
    },
  });
  const verify = (read: (payload: unknown) => Verification): Operation => ({
    run(payload) {
      const { image, allOf } = read(payload);
      return answers.get(stringifyJson(["verify", payload]), async (signal) => ({
        is_trusted: true,
        digest: await images.verify(image, { allOf }, signal),
      }));
    },
  });

  return {
    namespace: "oci",
    operations: {
      "v1/manifest_digest": about("digest", async (image, signal) => ({ digest: await images.digest(image, signal) })),
      "v1/oci_manifest": about("manifest", (image, signal) => images.manifest(image, signal)),
      "v1/oci_manifest_config": about("config", (image, signal) => images.manifestAndConfig(image, signal)),
      "v1/verify": verify(verificationV1),
      "v2/verify": verify(verificationV2),
    },
  };
}
