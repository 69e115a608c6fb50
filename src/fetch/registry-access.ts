/** Access to registries by the options of the server: sources.yml, credentials, proxies. */
import { NO_SOURCES, type Sources } from "../config/sources.js";
import { dockerCredentials } from "./docker-credentials.js";
import { type AddressGuard, HttpClient } from "./http-client.js";
import { ImageInspector } from "./image-inspector.js";
import { ImageMetadata } from "./image-metadata.js";
import type { Environment } from "./proxies.js";
import { RegistryClient } from "./registry-client.js";
import { RegistryConnection } from "./registry-connection.js";
import { RegistryWriter } from "./registry-writer.js";
import type { SignatureChecks } from "./signatures/signature-checks.js";

/** How registries are reached. */
export interface RegistryAccessOptions {
  /** For proxies, CAs, and where Docker's config.json is. */
  readonly environment: Environment;
  readonly sources?: Sources;
  /** A folder that contains Docker's config.json (`--docker-config-json-path`). */
  readonly dockerConfigDirectory?: string;
}

/** Clients that share connections. */
export interface RegistryAccess {
  readonly http: HttpClient;
  readonly registry: RegistryClient;
  readonly writer: RegistryWriter;
  /** Closes connections. */
  close(): Promise<void>;
}

/** Makes clients; nothing is connected before the first request. */
export function openRegistries(options: RegistryAccessOptions, guard?: AddressGuard): RegistryAccess {
  const { environment, sources = NO_SOURCES, dockerConfigDirectory } = options;
  const http = new HttpClient(sources, environment, guard);
  const credentials = dockerCredentials(environment, dockerConfigDirectory);
  const connection = new RegistryConnection(http, credentials, () => performance.now());
  return {
    http,
    registry: new RegistryClient(connection),
    writer: new RegistryWriter(connection),
    close: () => http.close(),
  };
}

/**
 * What guests ask registries through, for the life of the server; `close` closes its connections.
 * @param guard since guests, and the images of requests, say which registries are asked
 */
export function createImageInspector(
  options: RegistryAccessOptions,
  signatures: SignatureChecks,
  guard: AddressGuard,
): { readonly images: ImageInspector; close(): Promise<void> } {
  const { registry, close } = openRegistries(options, guard);
  return { images: new ImageInspector(registry, signatures), close };
}

/**
 * What policies ask registries through, for the life of the server; `close` closes its connections.
 * @param guard since the images of requests say which registries are asked
 */
export function createImageMetadata(
  options: RegistryAccessOptions,
  guard: AddressGuard,
): { readonly images: ImageMetadata; close(): Promise<void> } {
  const { registry, close } = openRegistries(options, guard);
  return { images: new ImageMetadata(registry), close };
}
