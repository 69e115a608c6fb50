/** Settings for loading policies. The command line makes them of its options, programs pass them directly. */
import { existsSync } from "node:fs";
import type { ClusterEntryOptions } from "../config/from-cluster/index.js";
import type { Environment } from "../data/command-io.js";
import type { KubernetesVersion } from "../kinds/shared/index.js";
import type { EgressOptions } from "../world/open-external.js";

/** Paths are relative to the working directory. An undefined setting is an absent one. */
export interface LoaderSettings {
  /** The policies file. Default: policies.yaml, or policies.yml where only that exists. */
  readonly file?: string | undefined;
  /** Whether the default file may be missing: then there are no policies until it appears. Default false. */
  readonly fileOptional?: boolean | undefined;
  /** A second policies file, whose policies are evaluated beside the served ones and only counted. Default: none. */
  readonly shadowFile?: string | undefined;
  /** Selects the policies of a cluster to load, too; then a policies file is optional. Default: none. */
  readonly fromCluster?: ClusterEntryOptions | undefined;
  /** Milliseconds that an evaluation may take without a limit of its entry; Infinity for no limit. Default 2000. */
  readonly policyTimeout?: number | undefined;
  /** Factor for the cost limits of CEL policies. Default 1: Kubernetes' own. */
  readonly costFactor?: number | undefined;
  /** The Kubernetes as which policies of admissionregistration.k8s.io are evaluated. Default: the cluster's, where there is one, else 1.37. */
  readonly kubernetesVersion?: KubernetesVersion | undefined;
  /** Threads that run guests. Default: the number of processors. */
  readonly workers?: number | undefined;
  /** Processors that this process may use. Default: those that it may run on. */
  readonly processors?: number | undefined;
  /** Whether guests may start from a snapshot of an earlier start. Default true. */
  readonly warmStart?: boolean | undefined;
  /** Whether policies may look things up in a cluster: that of KUBECONFIG, of ~/.kube/config, or of the pod's service account. Default false. */
  readonly kubernetes?: boolean | undefined;
  /** The kubeconfig of another cluster, which must be usable. Default: none. */
  readonly kubeconfig?: string | undefined;
  /** Whether policies that need a cluster are served without one anyway. Default false. */
  readonly ignoreMissingCluster?: boolean | undefined;
  /** The server's namespace, whose Secrets may hold log-ins of registries. Default: the pod's; outside of a pod `policy-server`. */
  readonly namespace?: string | undefined;
  /** Allowed targets of policies' HTTP requests. Default: anywhere but to this machine and the metadata services of clouds. */
  readonly egress?: EgressOptions | undefined;
  /** Folder for downloaded modules. Default: the working directory. */
  readonly downloadDirectory?: string | undefined;
  /** `sources.yml`: registries that are insecure, or have an authority of their own. Default: none. */
  readonly sourcesFile?: string | undefined;
  /** `verification.yml`: the signatures that modules must have. Default: none. */
  readonly verificationFile?: string | undefined;
  /** Folder with Docker's config.json: credentials of registries. Default: as Docker looks for it. */
  readonly dockerConfigDirectory?: string | undefined;
  /** Folder for Sigstore's trust root. Default `sigstore-data`. */
  readonly sigstoreDirectory?: string | undefined;
  /** Client trust configuration that replaces Sigstore's public trust root. Default: none. */
  readonly sigstoreTrustFile?: string | undefined;
  /** Folders that stand in for all registries of images, as {@link import("../fetch/index.js").openImageLayouts} takes them. Default: none. */
  readonly imageLayouts?: readonly string[] | undefined;
  /** Variables such as those of proxies, KUBECONFIG and credential plugins. Default: none. */
  readonly environment?: Environment | undefined;
}

/** Milliseconds that an evaluation may take by default. */
export const DEFAULT_POLICY_TIMEOUT_MS = 2000;

/** Default file names: ours, then Kubewarden's. */
const DEFAULT_FILES = ["policies.yaml", "policies.yml"] as const;

/** The policies file that is named, or an existing default; undefined without either. */
export const givenFile = ({ file }: LoaderSettings): string | undefined =>
  file ?? DEFAULT_FILES.find((name) => existsSync(name));

/** The policies file that is named, or an existing default, or the first default. */
export const policiesFile = (settings: LoaderSettings): string => givenFile(settings) ?? DEFAULT_FILES[0];
