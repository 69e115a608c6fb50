/**
 * The leader's next step with a Secret of ours: a function of the Secret and of the known facts, so that any leader continues where another has
 * stopped. An authority is replaced in three steps: the new one joins the bundle; when webhooks trust it, it signs; when no replica serves a certificate of the
 * old one, that leaves the bundle.
 */
import { issueAuthority, issueServerCertificate } from "../../x509/issue.js";
import {
  type Authority,
  authorityOf,
  type CertificateContent,
  hasHost,
  hostsOf,
  isSignedBy,
  isValid,
} from "./content.js";
import type { SecretData, SecretState } from "./secret.js";
import { type CertificateTimes, RENEWED_AFTER } from "./times.js";

/** The inputs of the decision besides the Secret. */
export interface RotationFacts {
  /** Milliseconds since 1970. */
  readonly wall: number;
  /** Names and addresses that the server's certificate must have. */
  readonly hosts: readonly string[];
  /** For how long all webhook configurations of ours have carried the Secret's bundle; `undefined` when we do not keep them. */
  readonly inForceFor: number | undefined;
  /** For how long all live replicas have served the Secret's certificate. */
  readonly servedFor: number;
  readonly times: CertificateTimes;
  readonly random: (octets: number) => Buffer;
}

/** The name of a step in logs and metrics. */
export type StepName = "made" | "renewed" | "authority_added" | "authority_switched" | "authority_removed";

/** A step: the Secret's contents after it. */
export interface Step {
  readonly name: StepName;
  /** The reason, for the log. */
  readonly why: string;
  readonly data: SecretData;
  /** The request for a new authority that it fulfils. */
  readonly done?: string;
}

/** The common name of the server's certificate, which has no meaning; those of authorities have a random part, so that each is unique. */
const LEAF_NAME = "policy-server";
const NAME_OCTETS = 4;

/** The step that makes everything new. */
export function make(facts: RotationFacts, why: string): Step {
  const authority = newAuthority(facts);
  const leaf = newLeaf(facts, authority, facts.hosts);
  return { name: "made", why, data: { ...leaf, bundle: [authority], authorityKey: authority.key } };
}

/** The next step of a usable Secret of ours; `undefined`: there is none now. */
export function nextStep(state: SecretState, content: CertificateContent, facts: RotationFacts): Step | undefined {
  const { wall, hosts } = facts;
  const rotation = new Rotation(state, content, facts);
  const { leaf } = content;
  if (!isValid(leaf, wall)) {
    // No client accepts it: haste cannot break anything.
    const why = wall < leaf.from ? "the certificate is not valid yet" : "the certificate has expired";
    return rotation.renewed(why, hosts) ?? rotation.switched(why) ?? make(facts, why);
  }
  const missing = hosts.filter((host) => !hasHost(leaf, host));
  if (missing.length > 0) {
    // Webhooks may still use the other names.
    const step = rotation.renewed(`the certificate lacks ${missing.join(", ")}`, [...hosts, ...hostsOf(leaf)]);
    if (step !== undefined) return step;
  }
  return rotation.authorityStep() ?? rotation.renewal() ?? rotation.removal();
}

class Rotation {
  readonly #state: SecretState;
  readonly #content: CertificateContent;
  readonly #facts: RotationFacts;
  readonly #authority: Authority | undefined;
  readonly #next: Authority | undefined;

  constructor(state: SecretState, content: CertificateContent, facts: RotationFacts) {
    this.#state = state;
    this.#content = content;
    this.#facts = facts;
    this.#authority = authorityOf(content.bundle, state.authorityKey);
    this.#next = authorityOf(content.bundle, state.nextKey);
  }

  /** Another certificate of the same authority, if that can sign. */
  renewed(why: string, hosts: readonly string[]): Step | undefined {
    const { authorityKey, nextKey } = this.#state;
    const authority = this.#authority;
    if (authority === undefined || authorityKey === undefined || !isValid(authority, this.#facts.wall))
      return undefined;
    const leaf = newLeaf(this.#facts, { ...authority, key: authorityKey }, hosts);
    const { bundle } = this.#content;
    return { name: "renewed", why, data: { ...leaf, bundle, authorityKey, ...(nextKey && { nextKey }) } };
  }

  /** A certificate of the next authority, if there is one. The old one's key is no longer needed. */
  switched(why: string): Step | undefined {
    const { nextKey } = this.#state;
    const next = this.#next;
    if (next === undefined || nextKey === undefined || !isValid(next, this.#facts.wall)) return undefined;
    const bundle = [next, ...this.#content.bundle.filter((authority) => authority !== next)];
    const leaf = newLeaf(this.#facts, { ...next, key: nextKey }, this.#facts.hosts);
    return { name: "authority_switched", why, data: { ...leaf, bundle, authorityKey: nextKey } };
  }

  /** The first or second step towards another authority. */
  authorityStep(): Step | undefined {
    if (this.#next !== undefined) {
      return this.#isTrusted(this.#next) ? this.switched("webhooks trust the new authority") : undefined;
    }
    const why = this.#whyAnother();
    if (why === undefined) return undefined;
    const authority = newAuthority(this.#facts);
    const { certificate, key, bundle } = this.#content;
    const { authorityKey, asked } = this.#state;
    const data = { certificate, key, bundle: [...bundle, authority], nextKey: authority.key };
    return {
      name: "authority_added",
      why,
      data: { ...data, ...(authorityKey && { authorityKey }) },
      ...(asked !== undefined && { done: asked }),
    };
  }

  /** Another certificate when it is time, if it can live longer. */
  renewal(): Step | undefined {
    const { leaf } = this.#content;
    const authority = this.#authority;
    if (authority === undefined || authority.to <= leaf.to) return undefined;
    if (this.#facts.wall < renewalOf(leaf)) return undefined;
    return this.renewed("two thirds of the certificate's life are over", this.#facts.hosts);
  }

  /** The third step: authorities that no longer sign are removed. */
  removal(): Step | undefined {
    const { certificate, key, leaf, bundle } = this.#content;
    const { authorityKey } = this.#state;
    const authority = this.#authority;
    if (authority === undefined || bundle.length < 2 || this.#next !== undefined) return undefined;
    if (this.#facts.servedFor < this.#facts.times.served || !isSignedBy(leaf, authority)) return undefined;
    const data = { certificate, key, bundle: [authority], ...(authorityKey && { authorityKey }) };
    return { name: "authority_removed", why: "no replica serves what the old authority has signed", data };
  }

  #isTrusted(next: Authority): boolean {
    const { inForceFor, times, wall } = this.#facts;
    return inForceFor === undefined ? wall - next.from >= times.unmanaged : inForceFor >= times.inForce;
  }

  #whyAnother(): string | undefined {
    const { wall } = this.#facts;
    const authority = this.#authority;
    if (authority === undefined) return "the authority's key is not there";
    // One at a time: the bundle stays small.
    if (this.#content.bundle.length > 1) return undefined;
    if (this.#state.asked !== undefined) return "a new authority was asked for";
    if (wall < authority.from) return "the authority is not valid yet";
    return wall < renewalOf(authority) ? undefined : "two thirds of the authority's life are over";
  }
}

/** The time at which a certificate is to be replaced, in milliseconds since 1970. */
const renewalOf = ({ from, to }: { readonly from: number; readonly to: number }): number =>
  from + (to - from) * RENEWED_AFTER;

interface NewAuthority {
  readonly pem: string;
  /** Milliseconds since 1970. */
  readonly to: number;
  readonly key: string;
}

function newAuthority({ wall, times, random }: RotationFacts): NewAuthority {
  const name = `policy-server CA ${random(NAME_OCTETS).toString("hex")}`;
  const to = wall + times.authority;
  const { certificate, key } = issueAuthority({ name, from: wall - times.skew, to, random });
  return { pem: certificate, to, key };
}

function newLeaf(
  { wall, times, random }: RotationFacts,
  { pem, to, key }: NewAuthority,
  hosts: readonly string[],
): Pick<SecretData, "certificate" | "key"> {
  const until = Math.min(wall + times.leaf, to);
  const options = { name: LEAF_NAME, hosts: [...new Set(hosts)], from: wall - times.skew, to: until, random };
  return issueServerCertificate(options, { certificate: pem, key });
}
