/** Objects for tests of this kind. */
import type { JsonObject } from "../../../src/kubernetes/object.js";

/** A signing request of a P-256 key that asks for nothing. */
const EMPTY_CSR = `-----BEGIN CERTIFICATE REQUEST-----
MIG6MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABKaU24uc3B/BThdN
WKwiT7jBdYkl3cgf4Tbq52eGU5vsXii0PX1QRj8j3ICimEx2N4aticmf0Z37u5YT
ykr2WQWgADAKBggqhkjOPQQDAgNIADBFAiEAlR06sn714pc5tHhufRc6G1YOKWNn
V3jr8+p7BOfL6jICIF56Ct4nU76CtS03xpr2Zk4K5gjsM/ohmYws5IL2UPZD
-----END CERTIFICATE REQUEST-----
`;

/** A CertificateRequest; members of `spec` may be replaced. */
export function certificateRequest(
  spec: JsonObject = {},
  { status, namespace = "sandbox", pem = EMPTY_CSR }: { status?: unknown; namespace?: string; pem?: string } = {},
): JsonObject {
  return {
    apiVersion: "cert-manager.io/v1",
    kind: "CertificateRequest",
    metadata: { name: "req-1", namespace },
    spec: { request: Buffer.from(pem).toString("base64"), issuerRef: { name: "ca" }, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

/** A status with one condition. */
export const condition = (type: string, status = "True"): JsonObject => ({ conditions: [{ type, status }] });
