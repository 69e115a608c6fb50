/** Exports of the folder. */
export { DIGEST_SUFFIX, hashFile, MANIFEST_SUFFIX, modulePath, PART_SUFFIX } from "./download-cache.js";
export { FetchError, fetchFailureShown, fetchFailureText, withoutSecrets } from "./fetch-error.js";
export { SCHEME_FOLDERS } from "./folder-bound.js";
export { ImageInspector } from "./image-inspector.js";
export { LAYOUT_MANIFEST_BYTES, layoutIndex, MAX_LAYOUT_INDEX_BYTES, openImageLayouts } from "./image-layout.js";
export { ImageMetadata } from "./image-metadata.js";
export { formatImageReference, type ImageReference, parseImageReference } from "./image-reference.js";
export { ImageTrustReader } from "./image-trust.js";
export { DOWNLOAD_TIMEOUT_MS, MAX_FOLDER_BYTES, MAX_MODULE_BYTES, UPLOAD_TIMEOUT_MS } from "./limits.js";
export {
  createModuleFetcher,
  type ModuleFetcher,
  type ModuleFetcherOptions,
  type ModuleLimits,
} from "./module-fetcher.js";
export { localModuleShare, type ModuleShare, type RoomName } from "./module-share.js";
export type { Descriptor, Manifest, Registry } from "./registry.js";
export { openRegistries, type RegistryAccess } from "./registry-access.js";
export { digestOf, isDescriptor, layersOf } from "./registry-client.js";
export { moduleArtifact, WASM_LAYER } from "./registry-writer.js";
export { imageVerifier, SignatureChecks } from "./signatures/signature-checks.js";
export {
  type FoundSignature,
  type Requirement,
  type SignatureReport,
  signatureReport,
} from "./signatures/signature-report.js";
export { readTrustConfig, sigstoreTrustRoot, type TrustRoot } from "./signatures/trust-root.js";
export type { ModuleFile } from "./transfers.js";
