/** Whether the API server itself evaluates MutatingAdmissionPolicies: enforced by webhooks as well, each of them would mutate twice. */
import { ApiError, reasonOf } from "../../kubernetes/client/errors.js";
import type { Cluster } from "../../kubernetes/client/index.js";
import { member, text } from "../../kubernetes/object.js";
import type { PartContext } from "../part.js";

/** The flags of an API server as JSON, which those of Kubernetes 1.35 and newer have (KEP-4828). */
const FLAGS = "/flagz";
const ACCEPT = ["v1beta1", "v1alpha1"]
  .map((version) => `application/json;v=${version};g=config.k8s.io;as=Flagz`)
  .join();
const PLUGIN = "MutatingAdmissionPolicy";

/** How soon the flags are read again: they change when an API server is started anew, which another one hides; and where none gave its own answer. */
const LOOK_AGAIN_MS = 60_000;
const RETRY_MS = 5_000;

/** The message where the plugin is on. */
export const PLUGIN_IS_ON =
  "MutatingAdmissionPolicies get no webhooks: the API server's own plugin enforces them (it has not --disable-admission-plugins=MutatingAdmissionPolicy)";

/**
 * Whether the plugin is on, by the flags of the API server that answers.
 * @throws the errors of a cluster's client: older API servers have no such answer, and the account may not be allowed to read it
 */
export async function isPluginOn({ http }: Pick<Cluster, "http">, signal: AbortSignal): Promise<boolean> {
  const flags = member((await http.get(FLAGS, {}, signal, { accept: ACCEPT })).value, "flags");
  const off = text(flags, "disable-admission-plugins")
    .split(/[^A-Za-z]+/)
    .includes(PLUGIN);
  return !off && !text(flags, "feature-gates").includes(`${PLUGIN}=false`);
}

/** Follows whether the plugin is on. */
export class NativePlugin {
  readonly #context: Pick<PartContext, "cluster" | "clock" | "log">;
  readonly #changed: () => void;
  #said: string | undefined;
  /** Whether it is known to be on. */
  isOn = false;

  /** @param changed called when it is on, or off, and was not before */
  constructor(context: Pick<PartContext, "cluster" | "clock" | "log">, changed: () => void) {
    this.#context = context;
    this.#changed = changed;
  }

  /** Looks every minute, and when the API server has come back, until the signal is aborted; resolves after the first time. */
  async follow(signal: AbortSignal): Promise<void> {
    const { cluster, clock } = this.#context;
    const before = this.isOn;
    let wait = LOOK_AGAIN_MS;
    try {
      this.isOn = await isPluginOn(cluster, signal);
      if (this.isOn) this.#say(PLUGIN_IS_ON);
      else this.#said = undefined;
    } catch (error) {
      if (signal.aborted) return;
      // One that has only come back refuses what it allows for a moment.
      if (!(error instanceof ApiError) || cluster.http.outage.settling) wait = RETRY_MS;
      const why = `GET ${FLAGS}: ${reasonOf(error)}`;
      this.#say(
        `whether the API server evaluates MutatingAdmissionPolicies, too, is not known (${why}): then each mutates twice`,
      );
    }
    if (signal.aborted) return;
    if (this.isOn !== before) this.#changed();
    const again = (): void => {
      cancel();
      forget();
      if (!signal.aborted) void this.follow(signal);
    };
    const cancel = clock.after(wait, again);
    const forget = cluster.http.outage.over(again);
  }

  #say(message: string): void {
    if (this.#said === message) return;
    this.#said = message;
    this.#context.log.warn(message);
  }
}
