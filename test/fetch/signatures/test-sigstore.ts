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

/** A bundle in the making. */
// biome-ignore lint/suspicious/noExplicitAny: tests spoil any part of it
export type MadeBundle = any;

/** Who signs with a bundle. */
export interface BundleSigner extends Signer {
  /** Members of the statement in place of what they should be. */
  readonly statement?: object;
  /** How the statement is written. */
  readonly written?: (statement: object) => string;
  readonly hash?: string;
  readonly spoilBundle?: (bundle: MadeBundle) => void;
  /** How the bundle is written. */
  readonly printed?: (bundle: object) => string;
}

/** All keys of the instance. */
export class TestSigstore {
  readonly authority: Certificate = newCertificate({ name: "test fulcio", authority: true });
  readonly #certificateLog = newKeys();
  readonly #signatureLog = newKeys();

  /**
   * A client trust configuration for this instance.
   * @param chain certificates of its authority, the root last
   */
  trustConfig(chain: readonly Certificate[] = [this.authority]): string {
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
            certChain: { certificates: chain.map(({ der }) => ({ rawBytes: der.toString("base64") })) },
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

  /**
   * A signature as a Sigstore bundle, as cosign 3 makes it for an image.
   * @param message the bytes of the image's manifest: they are signed instead of a statement
   */
  bundle(digest: string, signer: BundleSigner, message?: Buffer): Buffer {
    const { identity, annotations, aboutDigest = digest } = signer;
    const [algorithm = "", hex = ""] = aboutDigest.split(":");
    const subject = { digest: { [algorithm]: hex }, ...(annotations && { annotations }) };
    const type = "application/vnd.in-toto+json";
    const statement = {
      _type: "https://in-toto.io/Statement/v1",
      subject: [subject],
      predicateType: "https://sigstore.dev/cosign/sign/v1",
      predicate: {},
      ...signer.statement,
    };
    const payload = Buffer.from(signer.written?.(statement) ?? JSON.stringify(statement));
    const signed = message ?? Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${payload.length} `), payload]);
    const certificate = identity && this.#certificate(identity, signer);
    const keys = certificate ?? signer.keys ?? newKeys();
    const signature = sign(signer.hash ?? "sha256", signed, keys.privateKey);
    const keyPem = certificate?.pem ?? keys.publicKey.export({ type: "spki", format: "pem" }).toString();
    const verifier = Buffer.from(keyPem).toString("base64");
    const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest();
    const entry =
      message === undefined
        ? {
            apiVersion: "0.0.1",
            kind: "dsse",
            spec: {
              payloadHash: { algorithm: "sha256", value: hash(payload).toString("hex") },
              signatures: [{ signature: signature.toString("base64"), verifier }],
            },
          }
        : {
            apiVersion: "0.0.1",
            kind: "hashedrekord",
            spec: {
              data: { hash: { algorithm: "sha256", value: hash(message).toString("hex") } },
              signature: { content: signature.toString("base64"), publicKey: { content: verifier } },
            },
          };
    const bundle = {
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      verificationMaterial: {
        ...(certificate === undefined
          ? { publicKey: { hint: "" } }
          : { certificate: { rawBytes: certificate.der.toString("base64") } }),
        tlogEntries: (signer.log ?? certificate !== undefined) ? [this.#logEntry(entry, signer)] : [],
      },
      ...(message === undefined
        ? {
            dsseEnvelope: {
              payload: payload.toString("base64"),
              payloadType: type,
              signatures: [{ sig: signature.toString("base64") }],
            },
          }
        : {
            messageSignature: {
              messageDigest: { algorithm: "SHA2_256", digest: hash(message).toString("base64") },
              signature: signature.toString("base64"),
            },
          }),
    };
    signer.spoilBundle?.(bundle);
    return Buffer.from(signer.printed?.(bundle) ?? JSON.stringify(bundle));
  }

  /** An entry of a log with one entry, promised and proven. */
  #logEntry(entry: { kind: string; apiVersion: string }, { time, logged }: Signer) {
    const text = JSON.stringify(entry);
    const written = Buffer.from(logged?.(text) ?? text);
    const root = createHash("sha256")
      .update(Buffer.from([0]))
      .update(written)
      .digest()
      .toString("base64");
    const note = `log.example\n1\n${root}\n`;
    const id = logId(this.#signatureLog);
    const noteSignature = Buffer.concat([
      id.subarray(0, 4),
      sign("sha256", Buffer.from(note), this.#signatureLog.privateKey),
    ]);
    const integratedTime = time ?? Math.floor(Date.now() / 1000);
    const body = written.toString("base64");
    const promised = `{"body":"${body}","integratedTime":${integratedTime},"logID":"${id.toString("hex")}","logIndex":0}`;
    return {
      logIndex: "0",
      logId: { keyId: id.toString("base64") },
      kindVersion: { kind: entry.kind, version: entry.apiVersion },
      integratedTime: String(integratedTime),
      inclusionPromise: {
        signedEntryTimestamp: sign("sha256", Buffer.from(promised), this.#signatureLog.privateKey).toString("base64"),
      },
      inclusionProof: {
        logIndex: "0",
        rootHash: root,
        treeSize: "1",
        hashes: [],
        checkpoint: { envelope: `${note}\n\u2014 log.example ${noteSignature.toString("base64")}\n` },
      },
      canonicalizedBody: body,
    };
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
