/** A module as an artifact of an OCI registry, as kwctl writes it (spec kubewarden.md 1.6). */
import type { Artifact } from "./registry-writer.js";

/** The media type of the layer that holds a module. */
export const WASM_LAYER = "application/vnd.wasm.content.layer.v1+wasm";
const WASM_CONFIG = "application/vnd.wasm.config.v1+json";

/** @param annotations of its metadata; those of several lines are left out: registries show them in lists */
export function moduleArtifact(bytes: Uint8Array, annotations: Readonly<Record<string, string>>): Artifact {
  const lines = Object.entries(annotations).filter(([, text]) => !/[\r\n]/.test(text.trim()));
  return {
    config: { mediaType: WASM_CONFIG, bytes: Buffer.from("{}") },
    layers: [{ mediaType: WASM_LAYER, bytes }],
    annotations: Object.fromEntries(lines.toSorted(([left], [right]) => (left < right ? -1 : 1))),
  };
}
