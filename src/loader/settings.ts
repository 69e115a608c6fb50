/** What policies are loaded with. The command line makes it of its options, programs give it themselves. */
import { existsSync } from "node:fs";
import type { ClusterEntryOptions } from "../config/from-cluster/index.js";
import type { Environment } from "../data/command-io.js";
import type { EgressOptions } from "../world/open-external.js";

/** Paths are taken from the working directory. What is undefined is as if it were absent. */
export interface LoaderSettings {
  /** The policies file. Default: policies.yaml, or policies.yml where only that is there. */
  readonly file?: string | undefined;
  /** Whether there may be no such file, as long as none is named: then there are no policies until it comes. Default false. */
  readonly fileOptional?: boolean | undefined;
  /** A second policies file, whose policies are asked beside those that are served and only counted. Default: none. */
  readonly shadowFile?: string | undefined;
  /** Which policies of a cluster are loaded, too; then there need be no policies file. Default: none. */
  readonly fromCluster?: ClusterEntryOptions | undefined;
  /** Milliseconds that an evaluation may take where its entry says nothing; Infinity for no limit. Default 2000. */
  readonly policyTimeout?: number | undefined;
  /** What the cost limits of CEL policies are multiplied by. Default 1: Kubernetes' own. */
  readonly costFactor?: number | undefined;
  /** Threads that run guests. Default: as many as there are processors. */
  readonly workers?: number | undefined;
  /** Processors that this process may use. Default: as many as it may run on. */
  readonly processors?: number | undefined;
  /** Whether guests may begin with what they have done before. Default true. */
  readonly warmStart?: boolean | undefined;
  /** Whether policies may look things up in a cluster: that of KUBECONFIG, of ~/.kube/config, or of the pod's service account. Default false. */
  readonly kubernetes?: boolean | undefined;
  /** The kubeconfig of the cluster instead, which must be usable. Default: none. */
  readonly kubeconfig?: string | undefined;
  /** Whether policies that need a cluster are served without one all the same. Default false. */
  readonly ignoreMissingCluster?: boolean | undefined;
  /** Where policies may send HTTP requests to. Default: anywhere but to this machine and the metadata services of clouds. */
  readonly egress?: EgressOptions | undefined;
  /** Folder where downloaded modules are kept. Default: the working directory. */
  readonly downloadDirectory?: string | undefined;
  /** `sources.yml`: registries that are insecure, or have an authority of their own. Default: none. */
  readonly sourcesFile?: string | undefined;
  /** `verification.yml`: the signatures that modules must have. Default: none are wanted. */
  readonly verificationFile?: string | undefined;
  /** Folder with Docker's config.json: credentials of registries. Default: as Docker looks for it. */
  readonly dockerConfigDirectory?: string | undefined;
  /** Folder where Sigstore's trust root is kept. Default `sigstore-data`. */
  readonly sigstoreDirectory?: string | undefined;
  /** Client trust configuration that replaces Sigstore's public trust root. Default: none. */
  readonly sigstoreTrustFile?: string | undefined;
  /** Variables such as those of proxies, KUBECONFIG and credential plugins. Default: none. */
  readonly environment?: Environment | undefined;
}

/** Milliseconds that an evaluation may take where nothing says so. */
export const DEFAULT_POLICY_TIMEOUT_MS = 2000;

/** File names that are looked for when none is given: ours, then Kubewarden's. */
const DEFAULT_FILES = ["policies.yaml", "policies.yml"] as const;

/** The policies file that is named, or one that is there; undefined when there is neither. */
export const givenFile = ({ file }: LoaderSettings): string | undefined =>
  file ?? DEFAULT_FILES.find((name) => existsSync(name));

/** The policies file that is named, or the one that is there, or would be. */
export const policiesFile = (settings: LoaderSettings): string => givenFile(settings) ?? DEFAULT_FILES[0];
