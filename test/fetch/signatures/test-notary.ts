/** Makes signatures of the Notary project for tests, right ones and spoiled ones: certificates, envelopes, timestamp tokens. */
import { constants, createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { bits, der, oid, pem, SEQUENCE, SET } from "../../x509/pkcs10/requests.js";

/** A certificate with its key. */
export interface Made {
  readonly der: Buffer;
  readonly name: string;
  readonly key: KeyObject;
}

/** What a certificate says; what is left out is right for a signer, or with `authority` for an issuer. */
export interface MadeOf {
  readonly name: string;
  readonly issuer?: Made;
  readonly keys?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly authority?: boolean;
  /** The key usage's bits, or none; default by `authority`. */
  readonly usage?: readonly number[] | "none";
  readonly usageIsCritical?: boolean;
  /** Object identifiers of extended usages. */
  readonly purposes?: readonly string[];
  readonly purposesAreCritical?: boolean;
  readonly pathLength?: number;
  /** Further extensions: identifier and value. */
  readonly extensions?: readonly (readonly [id: string, value: Buffer, critical?: boolean])[];
  readonly from?: string;
  readonly until?: string;
  readonly hash?: "sha1" | "sha256";
}

export const ecKeys = (namedCurve = "P-256") => generateKeyPairSync("ec", { namedCurve });
export const rsaKeys = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength });
export const CODE_SIGNING = "1.3.6.1.5.5.7.3.3";
export const TIME_STAMPING = "1.3.6.1.5.5.7.3.8";
const TRUE = der(1, Buffer.from([0xff]));
const NULL = der(5);
const number = (value: number): Buffer => der(2, Buffer.from([value]));
const time = (text: string): Buffer => der(0x18, Buffer.from(`${text.replace(/[-:T]/g, "").slice(0, 14)}Z`));
const extension = (id: string, value: Buffer, critical = false): Buffer =>
  der(SEQUENCE, oid(id), ...(critical ? [TRUE] : []), der(4, value));
const nameOf = (name: string): Buffer =>
  der(SEQUENCE, der(SET, der(SEQUENCE, oid("2.5.4.3"), der(0x0c, Buffer.from(name)))));

const SIGNATURES = {
  ec: { sha1: der(SEQUENCE, oid("1.2.840.10045.4.1")), sha256: der(SEQUENCE, oid("1.2.840.10045.4.3.2")) },
  rsa: {
    sha1: der(SEQUENCE, oid("1.2.840.113549.1.1.5"), NULL),
    sha256: der(SEQUENCE, oid("1.2.840.113549.1.1.11"), NULL),
  },
  ed25519: { sha1: der(SEQUENCE, oid("1.3.101.112")), sha256: der(SEQUENCE, oid("1.3.101.112")) },
};

let serials = 0;

/** A new certificate. */
export function certificate(options: MadeOf): Made {
  const { name, issuer, keys = ecKeys(), authority = false, hash = "sha256", purposes = [], extensions = [] } = options;
  const {
    usage = authority ? [1, 0x06] : [7, 0x80],
    from = "2020-01-01T00:00:00",
    until = "2099-01-01T00:00:00",
  } = options;
  const key = issuer?.key ?? keys.privateKey;
  const algorithm = SIGNATURES[key.asymmetricKeyType as "ec"][hash];
  const constraints = [TRUE, ...(options.pathLength === undefined ? [] : [number(options.pathLength)])];
  const body = der(
    SEQUENCE,
    der(0xa0, number(2)),
    number(++serials),
    algorithm,
    nameOf(issuer?.name ?? name),
    der(SEQUENCE, time(from), time(until)),
    nameOf(name),
    keys.publicKey.export({ type: "spki", format: "der" }),
    der(
      0xa3,
      der(
        SEQUENCE,
        extension("2.5.29.19", der(SEQUENCE, ...(authority ? constraints : [])), true),
        ...(usage === "none"
          ? []
          : [extension("2.5.29.15", der(3, Buffer.from(usage)), options.usageIsCritical ?? true)]),
        ...(purposes.length === 0
          ? []
          : [extension("2.5.29.37", der(SEQUENCE, ...purposes.map(oid)), options.purposesAreCritical)]),
        ...extensions.map((one) => extension(...one)),
      ),
    ),
  );
  const signature = sign(key.asymmetricKeyType === "ed25519" ? null : hash, body, key);
  return { der: der(SEQUENCE, body, algorithm, bits(signature)), name, key: keys.privateKey };
}

/** Certificates in PEM. */
export const pemOf = (...certificates: readonly Made[]): string =>
  certificates.map((one) => pem(one.der, "CERTIFICATE").toString()).join("");

/** A descriptor that is signed. */
export const TARGET = {
  mediaType: "application/vnd.oci.image.manifest.v1+json",
  digest: `sha256:${"ab".repeat(32)}`,
  size: 528,
};

/** What an envelope says; what is left out is right. */
export interface EnvelopeOf {
  /** The signer first. */
  readonly chain: readonly Made[];
  readonly algorithm?: string;
  /** Protected headers beside the usual ones; undefined: left out. */
  readonly head?: Readonly<Record<string, unknown>>;
  readonly payload?: unknown;
  /** Writes the protected headers, or the payload. */
  readonly written?: (head: string) => string;
  readonly writtenPayload?: (payload: string) => string;
  /** Unprotected headers. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** Makes a timestamp of the signature. */
  readonly timestamp?: (signature: Buffer) => Buffer;
  /** Changes the signature. */
  readonly spoil?: (signature: Buffer) => Buffer;
  /** Changes the envelope at the end. */
  readonly end?: (envelope: Record<string, unknown>) => unknown;
}

const ALGORITHMS: Readonly<Record<string, string>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
  2048: "PS256",
  3072: "PS384",
  4096: "PS512",
};

/** A signed envelope in JSON. */
export function envelope(options: EnvelopeOf): string {
  const { chain, head, written = String, writtenPayload = String, spoil = (signature) => signature } = options;
  const { key } = chain[0]!;
  const { namedCurve, modulusLength } = key.asymmetricKeyDetails!;
  const { algorithm = ALGORITHMS[namedCurve ?? modulusLength ?? ""] ?? "ES256" } = options;
  const protectedHead = {
    alg: algorithm,
    cty: "application/vnd.cncf.notary.payload.v1+json",
    crit: ["io.cncf.notary.signingScheme"],
    "io.cncf.notary.signingScheme": "notary.x509",
    "io.cncf.notary.signingTime": "2024-05-01T10:00:00Z",
    ...head,
  };
  const first = Buffer.from(written(JSON.stringify(protectedHead))).toString("base64url");
  const payload = writtenPayload(JSON.stringify(options.payload ?? { targetArtifact: TARGET }));
  const second = Buffer.from(payload).toString("base64url");
  const how =
    key.asymmetricKeyType === "rsa"
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : ({ dsaEncoding: "ieee-p1363" } as const);
  const hash = key.asymmetricKeyType === "ed25519" ? null : `sha${algorithm.slice(2)}`;
  const signature = spoil(sign(hash, Buffer.from(`${first}.${second}`), { key, ...how }));
  const token = options.timestamp?.(signature);
  const made = {
    payload: second,
    protected: first,
    header: {
      x5c: chain.map((one) => one.der.toString("base64")),
      ...(token && { "io.cncf.notary.timestampSignature": token.toString("base64") }),
      ...options.header,
    },
    signature: signature.toString("base64url"),
  };
  const end = options.end?.(made) ?? made;
  return typeof end === "string" ? end : JSON.stringify(end);
}

const HASHES = { sha256: "2.16.840.1.101.3.4.2.1", sha384: "2.16.840.1.101.3.4.2.2", sha1: "1.3.14.3.2.26" };

/** What a timestamp token says; what is left out is right. */
export interface TokenOf {
  /** The authority's certificate, and those of its issuers. */
  readonly signer: Made;
  readonly others?: readonly Made[];
  readonly hash?: keyof typeof HASHES;
  readonly imprintHash?: keyof typeof HASHES;
  readonly time?: string;
  /** Parts of its content after the time. */
  readonly accuracy?: Buffer;
  readonly policy?: string;
  readonly version?: number;
  readonly signerVersion?: number;
  /** Attributes beside the right ones, by their identifier; undefined: left out. */
  readonly attributes?: Readonly<Record<string, Buffer | undefined>>;
  /** Names its certificate in the signed attributes by issuer and serial number, too. */
  readonly issuerSerial?: Made;
  /** RSA's plain algorithm in place of the one with a hash. */
  readonly plain?: boolean;
  readonly signers?: number;
  readonly spoil?: (signature: Buffer) => Buffer;
}

/** The issuer's name and the serial number in a certificate. */
function serialOf({ der: bytes }: Made): readonly [issuer: Buffer, serial: Buffer] {
  const elements = (content: Buffer): Buffer[] => {
    const found: Buffer[] = [];
    for (let at = 0; at < content.length; ) {
      const end = at + sizeOf(content.subarray(at));
      found.push(content.subarray(at, end));
      at = end;
    }
    return found;
  };
  const [body] = elements(contentOf(bytes));
  const [, serial, , issuer] = elements(contentOf(body!));
  return [issuer!, serial!];
}

const lengthOf = (bytes: Buffer): readonly [head: number, length: number] => {
  const first = bytes[1]!;
  return first < 0x80 ? [2, first] : [2 + first - 0x80, bytes.readUIntBE(2, first - 0x80)];
};
const sizeOf = (bytes: Buffer): number => lengthOf(bytes)[0] + lengthOf(bytes)[1];
const contentOf = (bytes: Buffer): Buffer => bytes.subarray(lengthOf(bytes)[0], sizeOf(bytes));

/** A timestamp token about a message. */
export function token(message: Buffer, options: TokenOf): Buffer {
  const { signer, others = [], hash = "sha256", imprintHash = "sha256", time: at = "20240501100001Z" } = options;
  const digest = (name: string, bytes: Buffer) => createHash(name).update(bytes).digest();
  const info = der(
    SEQUENCE,
    number(options.version ?? 1),
    oid(options.policy ?? "1.2.3.4"),
    der(SEQUENCE, der(SEQUENCE, oid(HASHES[imprintHash])), der(4, digest(imprintHash, message))),
    number(7),
    der(0x18, Buffer.from(at)),
    ...(options.accuracy ? [options.accuracy] : []),
  );
  const [issuer, serial] = serialOf(signer);
  const named = options.issuerSerial && serialOf(options.issuerSerial);
  const id = [
    der(4, digest("sha256", signer.der)),
    ...(named ? [der(SEQUENCE, der(SEQUENCE, der(0xa4, named[0])), named[1])] : []),
  ];
  const right = {
    "1.2.840.113549.1.9.3": oid("1.2.840.113549.1.9.16.1.4"),
    "1.2.840.113549.1.9.4": der(4, digest(hash, info)),
    "1.2.840.113549.1.9.16.2.47": der(SEQUENCE, der(SEQUENCE, der(SEQUENCE, ...id))),
  };
  const attributes = Object.entries<Buffer | undefined>({ ...right, ...options.attributes })
    .flatMap(([name, value]) => (value === undefined ? [] : [der(SEQUENCE, oid(name), der(SET, value))]))
    .sort(Buffer.compare);
  const isRsa = signer.key.asymmetricKeyType === "rsa";
  const made = sign(hash, der(SET, ...attributes), signer.key);
  const algorithm = isRsa
    ? oid(options.plain ? "1.2.840.113549.1.1.1" : "1.2.840.113549.1.1.11")
    : oid(`1.2.840.10045.4.3.${hash === "sha384" ? 3 : 2}`);
  const one = der(
    SEQUENCE,
    number(options.signerVersion ?? 1),
    der(SEQUENCE, issuer, serial),
    der(SEQUENCE, oid(HASHES[hash])),
    der(0xa0, ...attributes),
    der(SEQUENCE, algorithm, ...(isRsa ? [NULL] : [])),
    der(4, options.spoil?.(made) ?? made),
  );
  const data = der(
    SEQUENCE,
    number(3),
    der(SET, der(SEQUENCE, oid(HASHES[hash]))),
    der(SEQUENCE, oid("1.2.840.113549.1.9.16.1.4"), der(0xa0, der(4, info))),
    der(0xa0, signer.der, ...others.map((other) => other.der)),
    der(SET, ...Array.from({ length: options.signers ?? 1 }, () => one)),
  );
  return der(SEQUENCE, oid("1.2.840.113549.1.7.2"), der(0xa0, data));
}
