/** The data document that a policy in Rego gets: from its settings, and from the cluster's resources that it may read. */
import { orAborted } from "../data/or-aborted.js";
import type { KubernetesReader, ResourceSnapshot } from "../kubernetes/reader.js";
import type { PreparedSettings, Protocol } from "./guest-protocol.js";
import type { Caller, HostCapabilities } from "./host/host.js";
import { ConfinedSnapshots } from "./host/kubernetes/confinement.js";
import { NOTHING } from "./payload.js";

/** The parts of a document. */
interface DataParts {
  readonly protocol: Protocol;
  readonly settings: PreparedSettings;
  readonly caller: Caller;
  readonly capabilities: HostCapabilities;
  readonly kubernetes: KubernetesReader;
}

/** One policy's data document. Policies of other protocols have none. */
export class DataDocument {
  readonly #parts: DataParts;
  readonly #confined: ConfinedSnapshots | undefined;
  #last: { readonly resources: readonly ResourceSnapshot[]; readonly bytes: Uint8Array } | undefined;

  constructor(parts: DataParts) {
    this.#parts = parts;
    const { namespace } = parts.caller;
    this.#confined = namespace === undefined ? undefined : new ConfinedSnapshots(namespace);
  }

  /** The document, when it does not depend on the cluster; empty when the guest gets none. */
  get atOnce(): Uint8Array | undefined {
    const { protocol, caller, settings } = this.#parts;
    if (protocol.dataDocument === undefined) return NOTHING;
    if (caller.contextAwareResources.length > 0) return undefined;
    this.#last ??= { resources: [], bytes: protocol.dataDocument.bytes(settings, []) };
    return this.#last.bytes;
  }

  /** The document. It stays the same until the cluster's resources change: printing thousands of them takes the main thread long. */
  async read(signal: AbortSignal): Promise<Uint8Array> {
    const { protocol, settings } = this.#parts;
    const resources = await this.#resources(protocol.dataDocument?.plurals === true, signal);
    const before = this.#last;
    const same =
      before?.resources.length === resources.length &&
      resources.every(({ items }, index) => before.resources[index]?.items === items);
    if (same) return before.bytes;
    const bytes = protocol.dataDocument?.bytes(settings, resources) ?? NOTHING;
    this.#last = { resources, bytes };
    return bytes;
  }

  /** All resources of the kinds that the policy may read; no capability is needed for them (spec kubewarden.md 6.5). */
  #resources(plurals: boolean, signal: AbortSignal): Promise<ResourceSnapshot[]> {
    const { caller, capabilities, kubernetes } = this.#parts;
    const kinds = caller.contextAwareResources;
    const all = capabilities.snapshots(kubernetes, { kinds, plurals, signal });
    const confined = this.#confined;
    const snapshots = confined === undefined ? all : all.then((each) => confined.snapshots(each));
    return orAborted(snapshots, signal, "the time for the evaluation is up");
  }
}
