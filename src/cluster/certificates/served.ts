/**
 * What this replica serves of what it was given: at once when clients trust its authority already, else as soon as they have had time to learn of it. The
 * authorities of what others may still serve stay in the bundle.
 */
import type { Clock } from "../../data/clock.js";
import type { Logger } from "../../telemetry/logger.js";
import type { Replicas } from "../replicas.js";
import type { CertificatePair } from "./certificates.js";
import { bundleText, type CertificateContent, isValid } from "./content.js";
import { allServe, CERTIFICATE_FACT } from "./serving-replicas.js";
import { Steady } from "./steady.js";
import type { CertificateTimes } from "./times.js";

/** Authorities that are kept beside those of the bundle: whoever changes theirs more often than that within minutes has to wait. */
const MAX_RETAINED = 8;

/** Whom it tells. */
export interface ServedOptions {
  readonly replicas: Pick<Replicas, "live" | "announce">;
  readonly clock: Clock;
  readonly times: CertificateTimes;
  readonly log: Logger;
  /** Has all processes of this replica serve it; resolves when they do. */
  readonly use: (pair: CertificatePair) => Promise<void>;
  /** The bundle has changed. */
  readonly changed: () => void;
}

/** Holds what is served. */
export class ServedCertificate {
  readonly #options: ServedOptions;
  /** The newest that can be used. */
  #latest: CertificateContent | undefined;
  /** What all processes serve, or are being told to. */
  #served: CertificateContent | undefined;
  /** Of authorities: when they were first seen, monotonic milliseconds. */
  #known = new Map<string, number>();
  /** PEM of authorities that others' certificates may need. */
  #retained: readonly string[] = [];
  readonly #left = new Steady();
  #handing: Promise<void> | undefined;
  #bundle: string | undefined;

  constructor(options: ServedOptions) {
    this.#options = options;
  }

  /** PEM; `undefined` before there was anything. */
  get bundle(): string | undefined {
    return this.#bundle;
  }

  /** What all processes serve, or are being told to. */
  get content(): CertificateContent | undefined {
    return this.#served;
  }

  /** Takes what is to be served from now on. */
  take(content: CertificateContent): void {
    const before = this.#latest;
    const now = this.#options.clock.now();
    const own = content.bundle.map(({ pem }) => pem);
    const another = before !== undefined && before.fingerprint !== content.fingerprint;
    // What is served comes first: it must not give way to others.
    const served = this.#served?.bundle ?? [];
    const left = another ? [...served, ...before.bundle].map(({ pem }) => pem) : [];
    this.#retained = [...new Set([...left, ...this.#retained])]
      .filter((pem) => !own.includes(pem))
      .slice(0, MAX_RETAINED);
    const first = before === undefined ? Number.NEGATIVE_INFINITY : now;
    this.#known = new Map([...own, ...this.#retained].map((pem) => [pem, this.#known.get(pem) ?? first]));
    this.#latest = content;
    this.#rebundle();
    this.look();
  }

  /** Does what time, or others, have allowed since. */
  look(): void {
    const latest = this.#latest;
    if (latest === undefined) return;
    if (latest.certificate !== this.#served?.certificate && this.#handing === undefined && this.#isDue(latest)) {
      this.#handing = this.#hand(latest).finally(() => {
        this.#handing = undefined;
        // Another may have come meanwhile.
        this.look();
      });
    }
    this.#forget(latest);
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.#handing !== undefined) await this.#handing;
  }

  #isDue({ bundle, leaf }: CertificateContent): boolean {
    const { clock, times, log } = this.#options;
    const served = this.#served;
    if (served === undefined) return true;
    if (!isValid(served.leaf, clock.wall())) return true;
    const seen = Math.max(...bundle.map(({ pem }) => this.#known.get(pem) ?? clock.now()));
    const wait = seen + times.held - clock.now();
    if (wait <= 0) return true;
    log.debug("a certificate waits until webhooks trust its authority", {
      subject: leaf.certificate.subject,
      wait_ms: wait,
    });
    return false;
  }

  async #hand(content: CertificateContent): Promise<void> {
    const { use, replicas, log } = this.#options;
    const { certificate, key, fingerprint } = content;
    this.#served = content;
    await use({ certificate, key });
    replicas.announce(CERTIFICATE_FACT, fingerprint);
    log.info("a certificate is served", { fingerprint, expires: new Date(content.leaf.to).toISOString() });
  }

  /** Authorities leave the bundle when nobody has served anything of theirs for a while. */
  #forget({ fingerprint }: CertificateContent): void {
    const { replicas, clock, times } = this.#options;
    if (this.#retained.length === 0) return;
    const all = allServe(replicas, fingerprint);
    if (this.#left.note(fingerprint, all, clock.now()) < times.served) return;
    this.#retained = [];
    this.#rebundle();
  }

  #rebundle(): void {
    const bundle = bundleText(this.#latest?.bundle ?? []) + this.#retained.join("");
    if (bundle === this.#bundle) return;
    this.#bundle = bundle;
    this.#options.changed();
  }
}
