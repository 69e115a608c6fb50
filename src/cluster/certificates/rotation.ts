/**
 * What the leader does next with a Secret of ours: a function of the Secret and of what is known of others, so that any leader goes on where another has
 * stopped. An authority is replaced in three steps: the new one joins the bundle; when webhooks trust it, it signs; when nobody serves what the old one has
 * signed, that leaves the bundle.
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

/** What the decision depends on besides the Secret. */
export interface RotationFacts {
  /** Milliseconds since 1970. */
  readonly wall: number;
  /** Names and addresses that the server's certificate must have. */
  readonly hosts: readonly string[];
  /** For how long all webhook configurations of ours have carried the Secret's bundle; `undefined` when they are not ours to keep. */
  readonly inForceFor: number | undefined;
  /** For how long all live replicas have served the Secret's certificate. */
  readonly servedFor: number;
  readonly times: CertificateTimes;
  readonly random: (octets: number) => Buffer;
}

/** What a step is called in logs and metrics. */
export type StepName = "made" | "renewed" | "authority_added" | "authority_switched" | "authority_removed";

/** A step: what the Secret is to hold after it. */
export interface Step {
  readonly name: StepName;
  /** Why, for the log. */
  readonly why: string;
  readonly data: SecretData;
  /** The request for a new authority that is answered by it. */
  readonly done?: string;
}

/** A common name says nothing to anybody; authorities have a part of chance, so that each has a name of its own. */
const LEAF_NAME = "policy-server";
const NAME_OCTETS = 4;

/** Everything new. */
export function make(facts: RotationFacts, why: string): Step {
  const authority = newAuthority(facts);
  const leaf = newLeaf(facts, authority, facts.hosts);
  return { name: "made", why, data: { ...leaf, bundle: [authority], authorityKey: authority.key } };
}

/** The next step of a Secret of ours that can be used; `undefined`: there is nothing to do now. */
export function nextStep(state: SecretState, content: CertificateContent, facts: RotationFacts): Step | undefined {
  const { wall, hosts } = facts;
  const rotation = new Rotation(state, content, facts);
  const { leaf } = content;
  if (!isValid(leaf, wall)) {
    // Nobody accepts it: there is nothing that could be broken by haste.
    const why = wall < leaf.from ? "the certificate is not valid yet" : "the certificate has expired";
    return rotation.renewed(why, hosts) ?? rotation.switched(why) ?? make(facts, why);
  }
  const missing = hosts.filter((host) => !hasHost(leaf, host));
  if (missing.length > 0) {
    // Webhooks may still ask by the other names.
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

  /** A certificate of the next authority, if there is one. The old one's key is of no use any more. */
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

  /** Another certificate when it is time, and one that lives longer can be had. */
  renewal(): Step | undefined {
    const { leaf } = this.#content;
    const authority = this.#authority;
    if (authority === undefined || authority.to <= leaf.to) return undefined;
    if (this.#facts.wall < renewalOf(leaf)) return undefined;
    return this.renewed("two thirds of the certificate's life are over", this.#facts.hosts);
  }

  /** The third step: those that sign nothing any more leave. */
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
    if (this.#state.asked !== undefined) return "somebody has asked for it";
    if (wall < authority.from) return "the authority is not valid yet";
    return wall < renewalOf(authority) ? undefined : "two thirds of the authority's life are over";
  }
}

/** When a certificate is to be replaced, milliseconds since 1970. */
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
