/** The CSRs beside the example of CertificateRequestPolicies. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The example's folder: policies with their Roles and bindings, and CSRs. */
export const CERTIFICATES_EXAMPLE = fileURLToPath(
  new URL("../../../policies/cert-manager/service-certificates", import.meta.url),
);

/** Where a CSR of the example is. `web`: P-256, for web.shop.svc; `payments`: RSA, for a name of another namespace, too. */
export const exampleCsrFile = (name: "web" | "payments"): string => `${CERTIFICATES_EXAMPLE}/${name}.csr`;

/** Its text. */
export const exampleCsr = (name: "web" | "payments"): Buffer => readFileSync(exampleCsrFile(name));
