/**
 * The certificate that this replica serves: a new one at once when clients trust its authority already, else as soon as they have had time to learn of it. The
 * authorities of certificates that others may still serve stay in the bundle.
 */
import type { Clock } from "../../data/clock.js";
import type { Logger } from "../../telemetry/logger.js";
import type { Replicas } from "../replicas.js";
import type { CertificatePair } from "./certificates.js";
import { bundleText, type CertificateContent, isValid } from "./content.js";
import { Steady } from "./steady.js";
import type { CertificateTimes } from "./times.js";

/** The key under which replicas announce the fingerprint of the certificate that they serve. */
const CERTIFICATE_FACT = "certificate";

/** Whether all live replicas serve this certificate; when no replica is known, that is not known either. */
export const allServe = ({ live }: Pick<Replicas, "live">, fingerprint: string): boolean =>
  live.length > 0 && live.every(({ facts }) => facts[CERTIFICATE_FACT] === fingerprint);

/** Most authorities kept beside those of the bundle: more frequent changes within minutes have to wait. */
const MAX_RETAINED = 8;

/** The callbacks. */
export interface ServedOptions {
  readonly replicas: Pick<Replicas, "live" | "announce">;
  readonly clock: Clock;
  readonly times: CertificateTimes;
  readonly log: Logger;
  /** Has all processes of this replica serve it; resolves when they do. */
  readonly use: (pair: CertificatePair) => Promise<void>;
  /** Called when the bundle has changed. */
  readonly changed: () => void;
}

/** Holds the served certificate. */
export class ServedCertificate {
  readonly #options: ServedOptions;
  /** The newest usable content. */
  #latest: CertificateContent | undefined;
  /** The content that all processes serve, or are being told to. */
  #served: CertificateContent | undefined;
  /** When each authority was first seen, in monotonic milliseconds. */
  #known = new Map<string, number>();
  /** PEM of authorities that others' certificates may need. */
  #retained: readonly string[] = [];
  readonly #left = new Steady();
  #handing: Promise<void> | undefined;
  #bundle: string | undefined;

  constructor(options: ServedOptions) {
    this.#options = options;
  }

  /** PEM; `undefined` before there is any. */
  get bundle(): string | undefined {
    return this.#bundle;
  }

  /** The content that all processes serve, or are being told to. */
  get content(): CertificateContent | undefined {
    return this.#served;
  }

  /** Sets the content to be served from now on. */
  take(content: CertificateContent): void {
    const before = this.#latest;
    const now = this.#options.clock.now();
    const own = content.bundle.map(({ pem }) => pem);
    const another = before !== undefined && before.fingerprint !== content.fingerprint;
    // The served content's authorities come first: they must not be displaced.
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

  /** Does what has become possible since, by time or by others. */
  look(): void {
    const latest = this.#latest;
    if (latest === undefined) return;
    if (latest.certificate !== this.#served?.certificate && this.#handing === undefined && this.#isDue(latest)) {
      this.#handing = this.#hand(latest).finally(() => {
        this.#handing = undefined;
        // Another one may have come meanwhile.
        this.look();
      });
    }
    this.#forget(latest);
  }

  /** Resolves when no change is under way. */
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

  /** Removes authorities from the bundle when no certificate of theirs has been served for a while. */
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
