/** The leader's work on a Secret of ours: makes it, and takes one step of its rotation after the other. */
import type { Clock } from "../../data/clock.js";
import { ApiError, reasonOf } from "../../kubernetes/client/errors.js";
import type { Logger } from "../../telemetry/logger.js";
import type { Replicas } from "../replicas.js";
import { clockProblem } from "../server-time.js";
import type { CertificateContent } from "./content.js";
import { make, nextStep, type RotationFacts, type Step, type StepName } from "./rotation.js";
import { changedSecret, newSecret, type SecretPlace, type SecretState } from "./secret.js";
import type { Secrets } from "./secrets.js";
import { allServe } from "./serving-replicas.js";
import { Steady } from "./steady.js";
import type { CertificateTimes } from "./times.js";

/** What a keeper works with. */
export interface KeeperOptions {
  readonly place: SecretPlace;
  readonly secrets: Pick<Secrets, "create" | "replace">;
  readonly replicas: Pick<Replicas, "live">;
  /** Names and addresses of the server. */
  readonly hosts: readonly string[];
  /** Whether all webhook configurations of ours carry these authorities (PEM each); absent: they are not ours to keep. */
  readonly bundleInForce?: (authorities: readonly string[]) => boolean;
  readonly clock: Clock;
  readonly times: CertificateTimes;
  readonly random: (octets: number) => Buffer;
  readonly log: Logger;
  /** Told of each step that was taken. */
  readonly stepped: (step: StepName) => void;
}

/** What is known of the Secret. */
export interface SecretView {
  /** `undefined`: it has not been read yet; `absent`: there is none. */
  readonly state: SecretState | "absent" | undefined;
  /** The last one of ours that could be used. */
  readonly good: SecretState | undefined;
  /** Whether it has been somebody else's since we look. */
  readonly foreign: boolean;
}

/** Looks at the Secret while this replica leads. */
export class CertificateKeeper {
  readonly #options: KeeperOptions;
  readonly #view: SecretView;
  #inForce = new Steady();
  #served = new Steady();
  /** Absent: this replica does not lead. */
  #signal: AbortSignal | undefined;
  #working: Promise<void> | undefined;
  /** What was written over, and when: until the watch shows what came of it, there is nothing to be done about it. */
  #written: { readonly state: SecretView["state"]; readonly at: number } | undefined;
  /** What was said last, so that it is said once. */
  #said = "";

  constructor(options: KeeperOptions, view: SecretView) {
    this.#options = options;
    this.#view = view;
  }

  /** Writes from now on, until the signal says stop. */
  lead(signal: AbortSignal): void {
    this.#signal = signal;
    this.#written = undefined;
    // What has happened while others led is not known.
    this.#inForce = new Steady();
    this.#served = new Steady();
    this.look();
  }

  /** Why the last write failed; undefined when it did not. */
  get problem(): string | undefined {
    return this.#said === "" ? undefined : this.#said;
  }

  /** Takes the next step, if there is one. To be called when anything has changed, and now and then. */
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

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#working;
  }

  #next(): Step | undefined {
    const { state, good, foreign } = this.#view;
    if (state === undefined) return undefined;
    if (state === "absent" || (state.ours && state.content === undefined)) {
      // cert-manager makes its own again: ours in its place would only be in its way.
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
      // API servers judge certificates by their own clocks: what is made by one that goes wrong is refused by them.
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
      // Somebody else was quicker: the watch will show it.
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

/** What was there before it was deleted or broken: everybody serves and trusts it still. */
function restored({ authorityKey, nextKey }: SecretState, content: CertificateContent, why: string): Step {
  const { certificate, key, bundle } = content;
  const keys = { ...(authorityKey && { authorityKey }), ...(nextKey && { nextKey }) };
  return { name: "made", why: `${why}: what it held is written again`, data: { certificate, key, bundle, ...keys } };
}
