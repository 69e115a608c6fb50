/** `--tls-secret`: every replica serves the Secret's certificate, and the leader creates and rotates it when it is ours. */
import { randomBytes } from "node:crypto";
import { reasonOf } from "../../kubernetes/client/errors.js";
import type { JsonObject } from "../../kubernetes/object.js";
import type { Replicas } from "../replicas.js";
import { type CertificatePair, type Certificates, NoCertificateError } from "./certificates.js";
import { Listeners } from "./file-certificates.js";
import { CertificateKeeper, type KeeperOptions, type SecretView } from "./keeper.js";
import { readSecret, type SecretState } from "./secret.js";
import type { Secrets } from "./secrets.js";
import { ServedCertificate } from "./served.js";
import { CERTIFICATE_TIMES, type CertificateTimes } from "./times.js";

/** The options. */
export interface SecretCertificatesOptions
  extends Omit<KeeperOptions, "secrets" | "replicas" | "times" | "random" | "stepped"> {
  readonly secrets: Secrets;
  readonly replicas: Replicas;
  /** Default: {@link CERTIFICATE_TIMES}. */
  readonly times?: CertificateTimes;
  /** So many random octets; default the system's. */
  readonly random?: (octets: number) => Buffer;
  /** Called after each step of a rotation. */
  readonly stepped?: KeeperOptions["stepped"];
  /** Has all processes of this replica serve it; resolves when they do. Never rejects. */
  readonly use: (pair: CertificatePair) => Promise<void>;
}

/** Follows the Secret until stopped. */
export class SecretCertificates implements Certificates {
  readonly ready: Promise<void>;
  readonly #options: SecretCertificatesOptions;
  readonly #times: CertificateTimes;
  readonly #view: { -readonly [name in keyof SecretView]: SecretView[name] };
  readonly #served: ServedCertificate;
  readonly #keeper: CertificateKeeper;
  readonly #listeners = new Listeners();
  readonly #stopping = new AbortController();
  readonly #forget: () => void;
  #cancelLook: () => void = () => {};
  #leads = false;
  /** Why the Secret can't be read, or used. */
  #problem: string | undefined;

  constructor(options: SecretCertificatesOptions) {
    const { times = CERTIFICATE_TIMES, random = randomBytes, stepped = () => {} } = options;
    this.#options = options;
    this.#times = times;
    this.#view = { state: undefined, good: undefined, foreign: false };
    this.#keeper = new CertificateKeeper({ ...options, times, random, stepped }, this.#view);
    this.#served = new ServedCertificate({ ...options, times, changed: () => this.#listeners.tell() });
    this.ready = this.#first();
    // Callers that wait for it get the error, too. It may still come: rights may be granted, or a leader elected.
    this.ready.catch((error: unknown) =>
      options.log.error("there is no certificate to serve", { reason: reasonOf(error) }),
    );
    this.#forget = options.replicas.changed(() => this.look());
    options.secrets.follow(
      this.#stopping.signal,
      (secret) => this.#see(secret),
      (error) => this.#complain(`it can't be read: ${reasonOf(error)}`),
    );
    this.#lookLater();
  }

  unready(): string | undefined {
    if (this.#served.content !== undefined) return undefined;
    const { namespace, name } = this.#options.place;
    return `no certificate yet: Secret ${namespace}/${name}: ${this.#problem ?? "it has not been read"}`;
  }

  caBundle(): string | undefined {
    return this.#served.bundle;
  }

  changed(call: () => void): () => void {
    return this.#listeners.add(call);
  }

  lead(signal: AbortSignal): void {
    this.#leads = true;
    signal.addEventListener("abort", () => {
      this.#leads = false;
    });
    this.#keeper.lead(AbortSignal.any([signal, this.#stopping.signal]));
  }

  look(): void {
    this.#served.look();
    this.#keeper.look();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#cancelLook();
    this.#forget();
    await Promise.all([this.#keeper.settled(), this.#served.settled()]);
  }

  #see(secret: JsonObject | undefined): void {
    if (this.#stopping.signal.aborted) return;
    const state = secret === undefined ? "absent" : readSecret(secret);
    const before = this.#view.state;
    if (state !== "absent" && before !== "absent" && state.version === before?.version) {
      // An earlier failure to read it is over, and is logged again if it comes back.
      this.#problem = problemOf(state);
      return;
    }
    this.#view.state = state;
    if (state === "absent") this.#complain("it is not there");
    else this.#read(state);
    this.look();
  }

  #read(state: SecretState): void {
    if (!state.ours) this.#view.foreign = true;
    const problem = problemOf(state);
    if (problem !== undefined) this.#complain(problem);
    if (state.content === undefined) return;
    this.#problem = undefined;
    if (state.ours) this.#view.good = state;
    this.#served.take(state.content);
  }

  /** Logs a problem when it changes, but only if this replica serves already: at the start it may be over soon. */
  #complain(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { log } = this.#options;
    const served = this.#served.content;
    if (served === undefined) log.info("waiting for the Secret of certificates", this.#fields(problem));
    else
      log.error("the Secret of certificates can't be used: what is served stays", {
        ...this.#fields(problem),
        expires: new Date(served.leaf.to).toISOString(),
      });
  }

  #fields(reason: string) {
    const { namespace, name } = this.#options.place;
    return { secret: `${namespace}/${name}`, reason };
  }

  #lookLater(): void {
    this.#cancelLook = this.#options.clock.after(this.#times.look, () => {
      this.look();
      this.#lookLater();
    });
  }

  #first(): Promise<void> {
    const { clock, place } = this.#options;
    return new Promise((resolve, reject) => {
      const cancel = clock.after(this.#times.first, () => {
        takeBack();
        const problem = this.#problem ?? "the API server has not answered";
        const who = this.#leads
          ? `this replica leads, and could not make it: ${this.#keeper.problem ?? "the API server has not answered"}`
          : "no leader has made it";
        const missing = this.#view.state === "absent" && !this.#view.foreign ? `${problem}; ${who}` : problem;
        reject(new NoCertificateError(`no certificate in Secret ${place.namespace}/${place.name}: ${missing}`));
      });
      // The first content is used at once, and changes the bundle.
      const takeBack = this.#listeners.add(() => {
        takeBack();
        cancel();
        resolve(this.#served.settled());
      });
    });
  }
}

/** Why a state can't be served; `undefined`: it can. */
const problemOf = ({ content, problem }: SecretState): string | undefined =>
  content === undefined ? (problem ?? "it is empty") : undefined;
