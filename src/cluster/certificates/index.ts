/** The server's certificates: the part of the agent that the settings choose. */
import { readFile } from "node:fs/promises";
import type { PartContext } from "../part.js";
import type { ClusterSettings } from "../settings.js";
import type { CertificatePair, Certificates } from "./certificates.js";
import { FileCertificates } from "./file-certificates.js";
import { SecretCertificates } from "./secret-certificates.js";
import { secretsOf } from "./secrets.js";

/** The parts that certificates depend on. */
export interface CertificateLinks {
  /** Has all processes of this replica serve it; never rejects. */
  readonly use: (pair: CertificatePair) => Promise<void>;
  /** Whether all webhook configurations of ours carry these authorities (PEM each); absent: we do not keep them. */
  readonly bundleInForce?: (authorities: readonly string[]) => boolean;
}

/** Certificates from the named Secret, else from files. */
export function certificatesOf(context: PartContext, { use, bundleInForce }: CertificateLinks): Certificates {
  const { cluster, clock, log, replicas, settings, metrics } = context;
  const { namespace, tlsSecret, certFile, webhookCaFile } = settings;
  if (tlsSecret === undefined) {
    return new FileCertificates({
      ...(certFile !== undefined && { certFile }),
      ...(webhookCaFile !== undefined && { caFile: webhookCaFile }),
      ...{ clock, log, read: (file) => readFile(file, "utf8") },
    });
  }
  const place = { namespace, name: tlsSecret };
  return new SecretCertificates({
    ...{ place, clock, log, replicas, use },
    secrets: secretsOf(cluster, place, clock),
    hosts: hostsOf(settings),
    ...(bundleInForce && { bundleInForce }),
    stepped: (step) => metrics.certificateChanged(step),
  });
}

/** The names by which API servers and people reach the server: the Service's, and the host of a URL. */
export function hostsOf({ service, webhookUrl }: Pick<ClusterSettings, "service" | "webhookUrl">): readonly string[] {
  const { namespace, name } = service;
  const names = [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, `${name}.${namespace}`, name];
  if (webhookUrl === undefined) return names;
  // Addresses of IPv6 stand in brackets.
  return [...names, new URL(webhookUrl).hostname.replace(/^\[(.*)\]$/, "$1")];
}
