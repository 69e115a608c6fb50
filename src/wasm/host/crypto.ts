/** `crypto/v1/is_certificate_trusted`, spec kubewarden.md 7.5. */
import { rootCertificates } from "node:tls";
import { PublicError } from "../../data/public-text.js";
import { type Certificate, readCertificate } from "../../x509/certificate.js";
import { CertificateProblem } from "../../x509/problem.js";
import { type Trust, trustOf } from "../../x509/trust.js";
import type { Capability } from "./host.js";
import { bytesOf, objectOf, optionalList, optionalText, PayloadError, textOf } from "./payload.js";

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** A certificate as the guest sends it. */
interface Sent {
  readonly encoding: "Pem" | "Der";
  readonly data: Uint8Array;
}

/** @param now milliseconds since 1970, for calls that do not name a moment */
export function cryptoCapability(now: () => number): Capability {
  let roots: readonly Certificate[] | undefined;
  return {
    namespace: "crypto",
    operations: {
      "v1/is_certificate_trusted": {
        async run(payload): Promise<Trust> {
          const request = objectOf(payload, "the request");
          const leaf = readLeaf(derOf(sent(request.cert, "cert")));
          const chain = optionalList(request.cert_chain, "cert_chain", sent);
          const at = moment(optionalText(request.not_after, "not_after")) ?? now();
          if (chain) {
            const certificates = chain.map(derOf);
            const anchors = certificates.slice(-1).map((root) => readCertificate(root, true));
            // The certificate nearest to the root is tried first.
            return trustOf(leaf, certificates.slice(0, -1).reverse(), anchors, at);
          }
          // Mozilla's roots from this runtime, parsed at first use.
          roots ??= rootCertificates.map((pem) => readCertificate(derOfPem(pem), true));
          return trustOf(leaf, [], roots, at);
        },
      },
    },
  };
}

function sent(value: unknown, what: string): Sent {
  const { encoding, data } = objectOf(value, what);
  const name = textOf(encoding, "encoding");
  if (name !== "Pem" && name !== "Der")
    throw new PayloadError(`unknown variant \`${name}\`, expected \`Der\` or \`Pem\``);
  return { encoding: name, data: bytesOf(data, "data") };
}

function derOf({ encoding, data }: Sent): Buffer {
  return encoding === "Der" ? Buffer.from(data) : derOfPem(Buffer.from(data).toString("latin1"));
}

const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/;

/** The first certificate of the text. */
function derOfPem(text: string): Buffer {
  const [, base64] = PEM.exec(text) ?? [];
  if (base64 === undefined) throw new PublicError("Certificate PEM data is not valid: no items found");
  return Buffer.from(base64, "base64");
}

function readLeaf(der: Buffer): Certificate {
  try {
    return readCertificate(der);
  } catch (error) {
    if (!(error instanceof CertificateProblem)) throw error;
    throw new PublicError(`Certificate is not a valid end-entity certificate: ${error.message}`);
  }
}

function moment(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const at = RFC3339.test(text) ? Date.parse(text.replace(" ", "T")) : Number.NaN;
  if (Number.isNaN(at)) throw new PublicError("Timestamp not_after is not in RFC3339 format");
  return at;
}
