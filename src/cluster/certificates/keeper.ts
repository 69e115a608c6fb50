/** The leader's work on a Secret of ours: creates it, and takes one step of its rotation after the other. */
import type { Clock } from "../../data/clock.js";
import { ApiError, reasonOf } from "../../kubernetes/client/errors.js";
import type { Logger } from "../../telemetry/logger.js";
import type { Replicas } from "../replicas.js";
import { clockProblem } from "../server-time.js";
import type { CertificateContent } from "./content.js";
import { make, nextStep, type RotationFacts, type Step, type StepName } from "./rotation.js";
import { changedSecret, newSecret, type SecretPlace, type SecretState } from "./secret.js";
import type { Secrets } from "./secrets.js";
import { allServe } from "./served.js";
import { Steady } from "./steady.js";
import type { CertificateTimes } from "./times.js";

/** The options of a keeper. */
export interface KeeperOptions {
  readonly place: SecretPlace;
  readonly secrets: Pick<Secrets, "create" | "replace">;
  readonly replicas: Pick<Replicas, "live">;
  /** Names and addresses of the server. */
  readonly hosts: readonly string[];
  /** Whether all webhook configurations of ours carry these authorities (PEM each); absent: we do not keep them. */
  readonly bundleInForce?: (authorities: readonly string[]) => boolean;
  readonly clock: Clock;
  readonly times: CertificateTimes;
  readonly random: (octets: number) => Buffer;
  readonly log: Logger;
  /** Called after each step. */
  readonly stepped: (step: StepName) => void;
}

/** The known state of the Secret. */
export interface SecretView {
  /** `undefined`: it has not been read yet; `absent`: it does not exist. */
  readonly state: SecretState | "absent" | undefined;
  /** The last usable state with our annotation. */
  readonly good: SecretState | undefined;
  /** Whether another owner had it at any time since we watch it. */
  readonly foreign: boolean;
}

/** Checks the Secret while this replica leads. */
export class CertificateKeeper {
  readonly #options: KeeperOptions;
  readonly #view: SecretView;
  #inForce = new Steady();
  #served = new Steady();
  /** Absent: this replica does not lead. */
  #signal: AbortSignal | undefined;
  #working: Promise<void> | undefined;
  /** The overwritten state, and when: until the watch shows the result, no further write is made. */
  #written: { readonly state: SecretView["state"]; readonly at: number } | undefined;
  /** The last message, so that it is logged once. */
  #said = "";

  constructor(options: KeeperOptions, view: SecretView) {
    this.#options = options;
    this.#view = view;
  }

  /** Writes from now on, until the signal is aborted. */
  lead(signal: AbortSignal): void {
    this.#signal = signal;
    this.#written = undefined;
    // Events while others led are not known.
    this.#inForce = new Steady();
    this.#served = new Steady();
    this.look();
  }

  /** Why the last write failed; undefined when it did not. */
  get problem(): string | undefined {
    return this.#said === "" ? undefined : this.#said;
  }

  /** Takes the next step, if there is one. Must be called after any change, and at intervals. */
  look(): void {
    const signal = this.#signal;
    if (signal === undefined || signal.aborted || this.#working !== undefined) return;
    const { state } = this.#view;
    const { clock, times } = this.#options;
    const written = this.#written;
    if (written !== undefined && written.state === state && clock.now() - written.at < times.look) return;
    const step = this.#next();
    if (step === undefined) return;
    this.#working = this.#take(step, state, signal).finally(() => {
      this.#working = undefined;
    });
  }

  /** Resolves when no write is under way. */
  async settled(): Promise<void> {
    await this.#working;
  }

  #next(): Step | undefined {
    const { state, good, foreign } = this.#view;
    if (state === undefined) return undefined;
    if (state === "absent" || (state.ours && state.content === undefined)) {
      // cert-manager creates its own again: one of ours would only be in its way.
      if (foreign) return undefined;
      const broken = state !== "absent" && state.problem !== undefined;
      const why = broken ? "the Secret of certificates is broken" : "there is no Secret of certificates";
      return good?.content === undefined ? make(this.#facts(0, 0), why) : restored(good, good.content, why);
    }
    const { content } = state;
    if (!state.ours || content === undefined) return undefined;
    return nextStep(state, content, this.#observed(content));
  }

  #observed({ bundle, fingerprint }: CertificateContent): RotationFacts {
    const { bundleInForce, replicas, clock } = this.#options;
    const now = clock.now();
    const pems = bundle.map(({ pem }) => pem);
    const inForceFor = bundleInForce && this.#inForce.note(pems.join(""), bundleInForce(pems), now);
    const all = allServe(replicas, fingerprint);
    return this.#facts(inForceFor, this.#served.note(fingerprint, all, now));
  }

  #facts(inForceFor: number | undefined, servedFor: number): RotationFacts {
    const { hosts, clock, times, random } = this.#options;
    return { wall: clock.wall(), hosts, inForceFor, servedFor, times, random };
  }

  async #take({ name, why, data, done }: Step, state: SecretView["state"], signal: AbortSignal): Promise<void> {
    const { place, secrets, clock, log, stepped } = this.#options;
    const write = (dryRun: boolean): Promise<unknown> =>
      state === undefined || state === "absent"
        ? secrets.create(newSecret(place, data), dryRun, signal)
        : secrets.replace(changedSecret(state, data, done), dryRun, signal);
    try {
      // API servers judge certificates by their own clocks: they refuse one that was made by a wrong clock.
      const problem = clockProblem(await write(true), clock.wall(), this.#options.times.skew);
      if (problem !== undefined) {
        this.#say(problem);
        return;
      }
      if (signal.aborted) return;
      await write(false);
      this.#said = "";
      log.info("certificates changed", { step: name, reason: why, secret: `${place.namespace}/${place.name}` });
      stepped(name);
    } catch (error) {
      // Another writer was quicker: the watch will show its state.
      const overtaken = error instanceof ApiError && error.status === 409;
      if (!signal.aborted && !overtaken) this.#say(reasonOf(error));
    } finally {
      this.#written = { state, at: clock.now() };
    }
  }

  #say(reason: string): void {
    const { place, log } = this.#options;
    if (reason === this.#said) return;
    this.#said = reason;
    log.error("the Secret of certificates can't be written: what is served stays", {
      reason,
      secret: `${place.namespace}/${place.name}`,
    });
  }
}

/** The state from before the Secret was deleted or broken: all replicas and webhooks still use it. */
function restored({ authorityKey, nextKey }: SecretState, content: CertificateContent, why: string): Step {
  const { certificate, key, bundle } = content;
  const keys = { ...(authorityKey && { authorityKey }), ...(nextKey && { nextKey }) };
  return { name: "made", why: `${why}: what it held is written again`, data: { certificate, key, bundle, ...keys } };
}
