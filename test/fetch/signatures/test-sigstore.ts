/** A Sigstore of our own for tests: a certificate authority, a certificate log and a signature log, and cosign's signing with them. */
import { createHash, sign } from "node:crypto";
import {
  type Certificate,
  type CertificateOptions,
  type Keys,
  newCertificate,
  newKeys,
  octets,
  utf8,
} from "../certificates.js";
import type { TestRegistry } from "../test-registry.js";

/** Who signs. */
export interface Signer {
  /** A key of one's own, or an identity for which a certificate is made. */
  readonly keys?: Keys;
  readonly identity?: { issuer: string; email?: string; uri?: string; repository?: string };
  /** What the certificate of the identity says in place of what it should. */
  readonly certificate?: Partial<CertificateOptions>;
  readonly annotations?: Record<string, string>;
  /** Signs a payload about another digest. */
  readonly aboutDigest?: string;
  /** With a log entry; default for identities. */
  readonly log?: boolean;
  /** Leaves out the proof of the certificate log. */
  readonly withoutProof?: boolean;
  /** Seconds since 1970 in the log entry; default now. */
  readonly time?: number;
  /** How the log writes an entry. */
  readonly logged?: (entry: string) => string;
  /** Changes the annotations of the layer at the end. */
  readonly spoil?: (annotations: Record<string, string>) => void;
}

/** All keys of the instance. */
export class TestSigstore {
  readonly authority: Certificate = newCertificate({ name: "test fulcio", authority: true });
  readonly #certificateLog = newKeys();
  readonly #signatureLog = newKeys();

  /** A client trust configuration for this instance. */
  trustConfig(): string {
    const log = (keys: Keys) => ({
      baseUrl: "https://log.example",
      hashAlgorithm: "SHA2_256",
      publicKey: {
        rawBytes: spki(keys).toString("base64"),
        keyDetails: "PKIX_ECDSA_P256_SHA_256",
        validFor: { start: "2020-01-01T00:00:00Z" },
      },
      logId: { keyId: logId(keys).toString("base64") },
    });
    return JSON.stringify({
      mediaType: "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
      trustedRoot: {
        mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
        tlogs: [log(this.#signatureLog)],
        ctlogs: [log(this.#certificateLog)],
        certificateAuthorities: [
          {
            subject: { organization: "test", commonName: "test fulcio" },
            uri: "https://fulcio.example",
            certChain: { certificates: [{ rawBytes: this.authority.der.toString("base64") }] },
            validFor: { start: "2020-01-01T00:00:00Z" },
          },
        ],
        timestampAuthorities: [],
      },
      signingConfig: {},
    });
  }

  /** Puts signatures beside an image, as cosign does. */
  sign(registry: TestRegistry, repository: string, digest: string, signers: readonly Signer[]): void {
    const layers = signers.map((signer) => this.layer(registry.host, repository, digest, signer));
    registry.push(repository, `${digest.replace(":", "-")}.sig`, layers);
  }

  /** One signature, as a layer of the artifact beside an image. */
  layer(host: string, repository: string, digest: string, signer: Signer) {
    const payload = Buffer.from(
      JSON.stringify({
        critical: {
          identity: { "docker-reference": `${host}/${repository}` },
          image: { "docker-manifest-digest": signer.aboutDigest ?? digest },
          type: "cosign container image signature",
        },
        optional: signer.annotations ?? null,
      }),
    );
    const { identity } = signer;
    const certificate = identity && this.#certificate(identity, signer);
    const keys = certificate ?? signer.keys ?? newKeys();
    const signature = sign("sha256", payload, keys.privateKey);
    const annotations: Record<string, string> = { "dev.cosignproject.cosign/signature": signature.toString("base64") };
    if (certificate) annotations["dev.sigstore.cosign/certificate"] = certificate.pem;
    if (signer.log ?? certificate !== undefined) {
      const keyPem = certificate?.pem ?? keys.publicKey.export({ type: "spki", format: "pem" }).toString();
      annotations["dev.sigstore.cosign/bundle"] = this.#logBundle(payload, signature, keyPem, signer);
    }
    signer.spoil?.(annotations);
    return { mediaType: "application/vnd.dev.cosign.simplesigning.v1+json", bytes: payload, annotations };
  }

  #certificate(identity: NonNullable<Signer["identity"]>, { withoutProof, certificate }: Signer): Certificate {
    const { issuer, email, uri, repository } = identity;
    return newCertificate({
      name: "sigstore-intermediate-leaf",
      issuer: this.authority,
      codeSigning: true,
      ...(email !== undefined && { email }),
      ...(uri !== undefined && { uri }),
      extensions: {
        "1.3.6.1.4.1.57264.1.8": utf8(issuer),
        ...(repository !== undefined && { "1.3.6.1.4.1.57264.1.5": Buffer.from(repository) }),
      },
      ...(withoutProof !== true && { proof: (body: Buffer) => this.#proof(body) }),
      ...certificate,
    });
  }

  /** A signed certificate timestamp (RFC 6962) in its list. */
  #proof(body: Buffer): Buffer {
    const time = u64(Date.now());
    const issuerId = createHash("sha256").update(spki(this.authority)).digest();
    const entry = Buffer.concat([Buffer.from([0, 1]), issuerId, u24(body.length), body]);
    const signed = Buffer.concat([Buffer.from([0, 0]), time, entry, u16(0)]);
    const signature = sign("sha256", signed, this.#certificateLog.privateKey);
    const algorithm = Buffer.from([4, 3]);
    const proof = Buffer.concat([
      Buffer.from([0]),
      logId(this.#certificateLog),
      time,
      u16(0),
      algorithm,
      u16(signature.length),
      signature,
    ]);
    return octets(Buffer.concat([u16(proof.length + 2), u16(proof.length), proof]));
  }

  #logBundle(payload: Buffer, signature: Buffer, keyPem: string, { time: told, logged }: Signer): string {
    const time = told ?? Math.floor(Date.now() / 1000);
    const value = createHash("sha256").update(payload).digest("hex");
    const publicKey = { content: Buffer.from(keyPem).toString("base64") };
    const entry = {
      apiVersion: "0.0.1",
      kind: "hashedrekord",
      spec: {
        data: { hash: { algorithm: "sha256", value } },
        signature: { content: signature.toString("base64"), publicKey },
      },
    };
    const text = JSON.stringify(entry);
    const body = Buffer.from(logged?.(text) ?? text).toString("base64");
    const logID = logId(this.#signatureLog).toString("hex");
    const canonical = `{"body":"${body}","integratedTime":${time},"logID":"${logID}","logIndex":7}`;
    const promise = sign("sha256", Buffer.from(canonical), this.#signatureLog.privateKey).toString("base64");
    return JSON.stringify({
      SignedEntryTimestamp: promise,
      Payload: { body, integratedTime: time, logIndex: 7, logID },
    });
  }
}

function spki({ publicKey }: Keys): Buffer {
  return publicKey.export({ type: "spki", format: "der" });
}

function logId(keys: Keys): Buffer {
  return createHash("sha256").update(spki(keys)).digest();
}

function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

function u24(value: number): Buffer {
  return Buffer.from([value >> 16, (value >> 8) & 0xff, value & 0xff]);
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
