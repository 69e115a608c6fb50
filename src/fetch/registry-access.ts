/** Access to registries by the options of the server: sources.yml, credentials, proxies. */
import { NO_SOURCES, type Sources } from "../config/sources.js";
import { type CredentialStore, dockerCredentials, type ReadSecret, secretCredentials } from "./docker-credentials.js";
import { type AddressGuard, HttpClient } from "./http-client.js";
import type { Environment } from "./proxies.js";
import type { Registry } from "./registry.js";
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

/** The access to registries that a policy asks for. */
export interface PolicyAccess {
  /** Whether registries may be asked by plain HTTP where TLS fails. */
  readonly insecure?: boolean;
  /** Names of Secrets with log-ins, which come before the server's. */
  readonly secrets?: readonly string[];
}

/** Clients that share connections. */
export interface RegistryAccess {
  readonly http: HttpClient;
  readonly registry: RegistryClient;
  readonly writer: RegistryWriter;
  /**
   * A client for a policy that brings its own access, with tokens of its own.
   * @param secret reads the Secrets
   */
  reached(access: PolicyAccess, secret: ReadSecret): Registry;
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
  const own = dockerCredentials(environment, dockerConfigDirectory);
  // A policy must not cause that the server's log-ins are sent in the clear.
  const credentials: CredentialStore = async (host, repository, byTls) =>
    byTls || http.isListed(new URL(`https://${host}`))
      ? own(host, repository, byTls)
      : { as: "anonymously: without TLS the server's log-ins are for insecure_sources of sources.yml" };
  const now = () => performance.now();
  const connection = new RegistryConnection(http, credentials, now);
  const registry = new RegistryClient(connection);
  let plain: HttpClient | undefined;
  return {
    http,
    registry,
    writer: new RegistryWriter(connection),
    reached({ insecure = false, secrets = [] }, secret) {
      if (!insecure && secrets.length === 0) return registry;
      if (insecure) plain ??= new HttpClient(sources, environment, guard, true);
      const logins = secretCredentials(secrets, secret, credentials);
      return new RegistryClient(new RegistryConnection(insecure && plain ? plain : http, logins, now));
    },
    async close() {
      await Promise.all([http.close(), plain?.close()]);
    },
  };
}
