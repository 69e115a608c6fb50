/** Access to registries by the options of the server: sources.yml, credentials, proxies. */
import { NO_SOURCES, type Sources } from "../config/sources.js";
import { dockerCredentials } from "./docker-credentials.js";
import { type AddressGuard, HttpClient } from "./http-client.js";
import type { Environment } from "./proxies.js";
import { RegistryClient } from "./registry-client.js";
import { RegistryConnection } from "./registry-connection.js";
import { RegistryWriter } from "./registry-writer.js";

/** Options for reaching registries. */
export interface RegistryAccessOptions {
  /** Variables for proxies, CAs, and the folder of Docker's config.json. */
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

/**
 * Makes clients; nothing is connected before the first request.
 * @param guard for registries that others than the operator name: policies, guests, requests
 */
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
