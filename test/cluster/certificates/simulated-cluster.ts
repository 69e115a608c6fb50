/**
 * A cluster in which certificates are made and rotated: one Secret, replicas that serve what it holds, webhook configurations that the leader writes, and
 * API servers that learn of them late. It checks all the time that every API server trusts every replica.
 */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { readAuthorities } from "../../../src/cluster/certificates/content.js";
import { SecretCertificates } from "../../../src/cluster/certificates/secret-certificates.js";
import type { Secrets } from "../../../src/cluster/certificates/secrets.js";
import { CERTIFICATE_TIMES, type CertificateTimes } from "../../../src/cluster/certificates/times.js";
import type { ReplicaInfo, Replicas } from "../../../src/cluster/replicas.js";
import { ApiError } from "../../../src/kubernetes/client/errors.js";
import { type JsonObject, member, text } from "../../../src/kubernetes/object.js";
import { TestClock } from "../../support/test-clock.js";
import { keptLog, type LogLine } from "../approver/support.js";

export const PLACE = { namespace: "policies", name: "policy-server-tls" };
export const HOST = "policy-server.policies.svc";
/** How late an API server uses what was written into a webhook configuration. */
const API_SERVER_LAG_MS = 30_000;
const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const DAY = 24 * 60 * MINUTE;

/** A clock whose wall may be moved by itself. */
export class ShiftedClock extends TestClock {
  readonly #base: TestClock;
  shift = 0;

  constructor(base: TestClock) {
    super();
    this.#base = base;
  }

  override now = (): number => this.#base.now();
  override wall = (): number => this.#base.wall() + this.shift;
  override after = (milliseconds: number, call: () => void): (() => void) => this.#base.after(milliseconds, call);
}

/** A replica and what became of it. */
export interface SimulatedReplica {
  readonly name: string;
  readonly certificates: SecretCertificates;
  readonly lines: LogLine[];
  readonly steps: string[];
  readonly clock: ShiftedClock;
  readonly facts: Record<string, string>;
  /** PEM; what its processes show to clients. */
  serving: string | undefined;
  /** Whether it is told what happens to the Secret. */
  connected: boolean;
  /** Whether its Lease is fresh. */
  alive: boolean;
  /** Ends its lead. */
  leading: AbortController | undefined;
}

interface Follower {
  readonly replica: () => SimulatedReplica | undefined;
  readonly seen: (secret: JsonObject | undefined) => void;
  readonly failed: (error: unknown) => void;
}

/** Options of a cluster. */
export interface SimulationOptions {
  readonly times?: Partial<CertificateTimes>;
  /** How long the leader takes to write webhooks, milliseconds; Infinity: it never does. */
  readonly webhookDelay?: number;
  /** False: webhook configurations are somebody else's. */
  readonly managed?: boolean;
}

/** The cluster. */
export class SimulatedCluster {
  readonly clock = new ShiftedClock(new TestClock());
  readonly replicas: SimulatedReplica[] = [];
  secret: JsonObject | undefined;
  /** What writes of the Secret are answered with instead. */
  refuse: ((secret: JsonObject, dryRun: boolean) => Error | undefined) | undefined;
  /** Called before a write is looked at. */
  beforeWrite: (dryRun: boolean) => void = () => {};
  /** Those in force at API servers, newest last: with the time at which each was written. */
  webhookBundles: { readonly pem: string; readonly at: number }[] = [];
  /** Whether API servers trust replicas is checked at every step. */
  checking = true;
  webhookDelay: number;
  readonly #managed: boolean;
  readonly #times: CertificateTimes;
  readonly #followers: Follower[] = [];
  readonly #base: TestClock;
  readonly #listeners = new Set<() => void>();
  readonly #verdicts = new Map<string, LifeOfTrust>();
  #version = 0;

  constructor({ times, webhookDelay = SECOND, managed = true }: SimulationOptions = {}) {
    this.#base = new TestClock();
    this.clock = new ShiftedClock(this.#base);
    this.#times = { ...CERTIFICATE_TIMES, ...times };
    this.webhookDelay = webhookDelay;
    this.#managed = managed;
  }

  /** A new replica. */
  start(name: string, { hosts = [HOST], connected = true } = {}): SimulatedReplica {
    const { logger, lines } = keptLog();
    const facts: Record<string, string> = {};
    const steps: string[] = [];
    const clock = new ShiftedClock(this.#base);
    let replica: SimulatedReplica | undefined;
    const replicas: Replicas = this.#replicasOf(facts);
    const certificates = new SecretCertificates({
      place: PLACE,
      secrets: this.#secrets(() => replica),
      replicas,
      hosts,
      ...(this.#managed && { bundleInForce: (authorities: readonly string[]) => this.#carries(authorities) }),
      clock,
      times: this.#times,
      log: logger,
      stepped: (step) => steps.push(step),
      use: async ({ certificate }) => {
        if (replica !== undefined) replica.serving = certificate;
      },
    });
    replica = {
      name,
      certificates,
      lines,
      steps,
      clock,
      facts,
      serving: undefined,
      connected,
      alive: true,
      leading: undefined,
    };
    this.replicas.push(replica);
    certificates.changed(() => this.#writeWebhooks(replica));
    this.#tell(connected ? replica : undefined);
    return replica;
  }

  /** Makes a replica the leader, in the place of another. */
  lead(replica: SimulatedReplica): void {
    for (const other of this.replicas) other.leading?.abort();
    replica.leading = new AbortController();
    replica.certificates.lead(replica.leading.signal);
    this.#writeWebhooks(replica);
  }

  /** Ends a replica. */
  async end(replica: SimulatedReplica): Promise<void> {
    replica.leading?.abort();
    replica.alive = false;
    this.replicas.splice(this.replicas.indexOf(replica), 1);
    await replica.certificates.stop();
    this.#changed();
  }

  /** Writes the Secret as somebody else; undefined deletes it. */
  write(secret: JsonObject | undefined): void {
    this.#version += 1;
    const metadata = {
      ...(member(secret, "metadata") as JsonObject),
      ...PLACE,
      resourceVersion: String(this.#version),
    };
    this.secret = secret && { ...secret, metadata };
    this.#tell();
  }

  /** Has a replica know that the Secret can't be read. */
  fail(replica: SimulatedReplica, error: Error): void {
    for (const follower of this.#followers) if (follower.replica() === replica) follower.failed(error);
  }

  /** Has a replica see the Secret again. */
  reconnect(replica: SimulatedReplica): void {
    replica.connected = true;
    this.#tell(replica);
  }

  /** Lets time pass, second by second or in larger steps, and looks at everything after each. */
  async pass(milliseconds: number, step = SECOND): Promise<void> {
    for (let left = milliseconds; left > 0; left -= step) {
      this.#base.move(Math.min(step, left));
      await this.settle();
    }
  }

  /** Moves the wall clock of everybody: a time in which nothing was looked at. */
  async jump(milliseconds: number): Promise<void> {
    for (const { clock } of [this, ...this.replicas]) clock.shift += milliseconds;
    await this.settle(false);
  }

  /** Lets everybody do what they can do without time. */
  async settle(check = this.checking): Promise<void> {
    for (let i = 0; i < 3; i++) await setImmediate();
    if (check) this.check();
  }

  /** Every API server trusts every replica. */
  check(): void {
    for (const { name, serving, alive } of this.replicas) {
      if (serving === undefined || !alive) continue;
      for (const pem of this.#trusted()) {
        const problem = this.#judged(serving, pem);
        assert.equal(problem, undefined, `an API server does not trust ${name}`);
      }
    }
  }

  /** The value of a key of the Secret. */
  data(key: string): string {
    return Buffer.from(text(member(this.secret, "data"), key), "base64").toString();
  }

  /** How many authorities the Secret's bundle has. */
  get authorities(): number {
    return readAuthorities(this.data("ca.crt"), "ca.crt").length;
  }

  #replicasOf(facts: Record<string, string>): Replicas {
    const all = (): readonly ReplicaInfo[] =>
      this.replicas.filter(({ alive }) => alive).map(({ name, facts }) => ({ name, routes: new Set<string>(), facts }));
    return {
      get live() {
        return all();
      },
      changed: (call) => {
        this.#listeners.add(call);
        return () => this.#listeners.delete(call);
      },
      serverWall: () => 0,
      announce: (key, value) => {
        facts[key] = value;
        this.#changed();
      },
    };
  }

  #changed(): void {
    for (const call of this.#listeners) call();
  }

  #secrets(replica: () => SimulatedReplica | undefined): Secrets {
    const write = async (
      secret: JsonObject,
      dryRun: boolean,
      signal: AbortSignal,
      create: boolean,
    ): Promise<unknown> => {
      await setImmediate();
      signal.throwIfAborted();
      this.beforeWrite(dryRun);
      const refused = this.refuse?.(secret, dryRun);
      if (refused !== undefined) throw refused;
      if (create && this.secret !== undefined) throw new ApiError(409, "AlreadyExists", "it is there");
      if (!create && this.secret === undefined) throw new ApiError(404, "NotFound", "it is not there");
      const version = text(member(secret, "metadata"), "resourceVersion");
      if (!create && version !== text(member(this.secret, "metadata"), "resourceVersion"))
        throw new ApiError(409, "Conflict", "it has changed");
      if (!dryRun) this.write(secret);
      const managedFields = [{ time: new Date(this.clock.wall()).toISOString() }];
      return { metadata: { managedFields } };
    };
    return {
      follow: (_, seen, failed) => void this.#followers.push({ replica, seen, failed }),
      create: (secret, dryRun, signal) => write(secret, dryRun, signal, true),
      replace: (secret, dryRun, signal) => write(secret, dryRun, signal, false),
    };
  }

  #tell(only?: SimulatedReplica): void {
    for (const { replica, seen } of this.#followers) {
      const own = replica();
      if (own?.connected && own.alive && (only === undefined || own === only)) seen(this.secret);
    }
  }

  #writeWebhooks(replica: SimulatedReplica): void {
    if (replica.leading === undefined || replica.leading.signal.aborted || !Number.isFinite(this.webhookDelay)) return;
    this.#base.after(this.webhookDelay, () => {
      const pem = replica.certificates.caBundle();
      if (pem === undefined || replica.leading?.signal.aborted) return;
      this.webhookBundles.push({ pem, at: this.#base.now() });
      this.#changed();
    });
  }

  /** As {@link distrust} says; signatures are looked at once for each pair. */
  #judged(serving: string, pem: string): string | undefined {
    const key = serving + pem;
    const known = this.#verdicts.get(key) ?? lifeOfTrust(serving, pem);
    this.#verdicts.set(key, known);
    return verdict(known, this.clock.wall());
  }

  /** What the newest webhook configuration carries. */
  #carries(authorities: readonly string[]): boolean {
    const newest = this.webhookBundles.at(-1)?.pem ?? "";
    return authorities.every((pem) => newest.includes(pem));
  }

  /** The bundles that some API server uses now: those replaced long enough ago are used by none. */
  #trusted(): readonly string[] {
    const since = this.#base.now() - API_SERVER_LAG_MS;
    const first = this.webhookBundles.findLastIndex(({ at }) => at <= since);
    return this.webhookBundles.slice(Math.max(0, first)).map(({ pem }) => pem);
  }
}

/** When a client trusts a certificate, or why never. */
type LifeOfTrust = { readonly from: number; readonly to: number } | string;

function lifeOfTrust(certificate: string, bundle: string, host = HOST): LifeOfTrust {
  const leaf = new X509Certificate(certificate);
  if (leaf.checkHost(host) === undefined) return "another host";
  const [issuer] = readAuthorities(bundle, "bundle").filter(
    ({ certificate: authority }) =>
      // As Go has it: who is trusted by itself needs nobody to vouch for it.
      authority.raw.equals(leaf.raw) || (leaf.checkIssued(authority) && leaf.verify(authority.publicKey)),
  );
  if (issuer === undefined) return "unknown authority";
  const [from, to] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
  return { from: Math.max(from, issuer.from), to: Math.min(to, issuer.to) };
}

function verdict(life: LifeOfTrust, wall: number): string | undefined {
  if (typeof life === "string") return life;
  return life.from <= wall && wall < life.to ? undefined : "not valid now";
}

/** Why a client would not trust a certificate; undefined when it would. */
export const distrust = (certificate: string, bundle: string, wall: number): string | undefined =>
  verdict(lifeOfTrust(certificate, bundle), wall);
