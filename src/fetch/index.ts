/** The face of the fetching room. */
export { FetchError, fetchFailureShown, fetchFailureText, withoutSecrets } from "./fetch-error.js";
export { ImageInspector } from "./image-inspector.js";
export { ImageMetadata } from "./image-metadata.js";
export { createModuleFetcher, type ModuleFetcher, type ModuleFetcherOptions } from "./module-fetcher.js";
export { createImageInspector, createImageMetadata } from "./registry-access.js";
export { imageVerifier } from "./signatures/image-verifier.js";
export { readTrustConfig, sigstoreTrustRoot, type TrustRoot } from "./signatures/trust-root.js";
