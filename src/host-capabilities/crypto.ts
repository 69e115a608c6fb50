/** `crypto/v1/is_certificate_trusted`, spec kubewarden.md 7.5. */

import { X509Certificate } from "node:crypto";
import { rootCertificates } from "node:tls";
import { type Trust, trustOf } from "./certificate-trust.js";
import { type Capability, PayloadError } from "./host.js";
import { bytesOf, objectOf, optionalList, optionalText, textOf } from "./payload.js";

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** A certificate as the guest sends it. */
interface Sent {
  readonly encoding: "Pem" | "Der";
  readonly data: Uint8Array;
}

/** @param now milliseconds since 1970, for calls that do not name a moment */
export function cryptoCapability(now: () => number): Capability {
  let roots: readonly X509Certificate[] | undefined;
  return {
    namespace: "crypto",
    operations: {
      "v1/is_certificate_trusted": {
        async run(payload): Promise<Trust> {
          const request = objectOf(payload, "the request");
          const leaf = parse(sent(request.cert, "cert"), "Certificate is not a valid end-entity certificate");
          const chain = optionalList(request.cert_chain, "cert_chain", sent);
          const at = moment(optionalText(request.not_after, "not_after")) ?? now();
          if (chain) {
            const certificates = chain.map((one) => parse(one, "Certificate in the chain is not valid"));
            return trustOf(leaf, certificates.slice(0, -1), certificates.slice(-1), at);
          }
          // Mozilla's, as this runtime ships them; parsed at the first use.
          roots ??= rootCertificates.map((pem) => new X509Certificate(pem));
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

function parse({ encoding, data }: Sent, problem: string): X509Certificate {
  const text = Buffer.from(data);
  if (encoding === "Pem" && !text.includes("-----BEGIN CERTIFICATE-----"))
    throw new Error("Certificate PEM data is not valid: no certificate in it");
  try {
    return new X509Certificate(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(encoding === "Pem" ? `Certificate PEM data is not valid: ${reason}` : `${problem}: ${reason}`);
  }
}

function moment(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const at = RFC3339.test(text) ? Date.parse(text.replace(" ", "T")) : Number.NaN;
  if (Number.isNaN(at)) throw new Error("Timestamp not_after is not in RFC3339 format");
  return at;
}
