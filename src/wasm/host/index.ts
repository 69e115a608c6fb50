/** Host capabilities for guests. */
import { lookup } from "node:dns/promises";
import { type KubernetesReader, NO_CLUSTER } from "../../kubernetes/reader.js";
import { cryptoCapability } from "./crypto.js";
import type { Executor } from "./executor.js";
import { type Capability, forLog, HostCapabilities, type ViolationSink } from "./host.js";
import { httpCapability, NO_HTTP, type SendHttp } from "./http/capability.js";
import { type ImageReader, NO_REGISTRY } from "./images.js";
import { kubernetesCapability } from "./kubernetes/capability.js";
import { netCapability } from "./net.js";
import { ociCapability } from "./oci.js";

export type { Executor } from "./executor.js";
export type { ViolationSink } from "./host.js";
export type { HttpReply, HttpRequest, SendHttp } from "./http/capability.js";
export { recordSession, replaySession, SessionError } from "./sessions/session.js";

/** The readers that host capabilities use. */
export interface HostWindows {
  /** Default: no cluster. */
  readonly kubernetes?: KubernetesReader;
  /** Default: no registry. */
  readonly images?: ImageReader;
  /** Default: no network for plugins. */
  readonly http?: SendHttp;
  /** Records or replays a session. Default: neither. */
  readonly executor?: Executor;
  /** Receives calls for which a policy has no permission. */
  readonly violation: ViolationSink;
}

/** All capabilities of spec kubewarden.md 7.2, and HTTP for Extism plugins. */
export function createHostCapabilities(windows: HostWindows): HostCapabilities {
  const { kubernetes, images, http, executor, violation } = windows;
  const monotonic = () => performance.now();
  const capabilities: readonly Capability[] = [
    netCapability(async (host) => (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)),
    cryptoCapability(() => Date.now()),
    kubernetesCapability(kubernetes ?? NO_CLUSTER, monotonic),
    ociCapability(images ?? NO_REGISTRY, monotonic),
  ];
  const requests = httpCapability(http ?? NO_HTTP, ({ policy }, host) =>
    violation("Policy tried to send an HTTP request to a host it doesn't have access to", {
      policy,
      host: forLog(host),
    }),
  );
  return new HostCapabilities(capabilities, violation, executor, requests);
}
