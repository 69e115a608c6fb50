/** The server's certificates: the part of the agent that the settings want. */
import { readFile } from "node:fs/promises";
import type { PartContext } from "../part.js";
import type { ClusterSettings } from "../settings.js";
import type { CertificatePair, Certificates } from "./certificates.js";
import { FileCertificates } from "./file-certificates.js";
import { SecretCertificates } from "./secret-certificates.js";
import { secretsOf } from "./secrets.js";

/** Whom certificates depend on. */
export interface CertificateLinks {
  /** Has all processes of this replica serve it; never rejects. */
  readonly use: (pair: CertificatePair) => Promise<void>;
  /** Whether all webhook configurations of ours carry these authorities (PEM each); absent: they are not ours to keep. */
  readonly bundleInForce?: (authorities: readonly string[]) => boolean;
}

/** From a Secret that is named, else from files. */
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

/** By which API servers ask, and people may: the Service's names, and the host of a URL. */
export function hostsOf({ service, webhookUrl }: Pick<ClusterSettings, "service" | "webhookUrl">): readonly string[] {
  const { namespace, name } = service;
  const names = [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, `${name}.${namespace}`, name];
  if (webhookUrl === undefined) return names;
  // Addresses of IPv6 stand in brackets.
  return [...names, new URL(webhookUrl).hostname.replace(/^\[(.*)\]$/, "$1")];
}
