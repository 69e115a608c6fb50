/** CertificateRequests and the policies that are asked about them, as they are stored. */
import type { JsonObject } from "../../src/kubernetes/object.js";

/** P-256, three DNS names. */
const SERVICE = `-----BEGIN CERTIFICATE REQUEST-----
MIIBIjCByQIBADAWMRQwEgYDVQQDDAt3ZWIuZm9vLnN2YzBZMBMGByqGSM49AgEG
CCqGSM49AwEHA0IABN2CH0fNQE9ruHIwHdCCkWWbsvFV9m2F+XnMAlsaKhWKtFZx
1X1u5WGAnDq0D4l2wGBzlk5ELde+at8h8h9trY2gUTBPBgkqhkiG9w0BCQ4xQjBA
MD4GA1UdEQQ3MDWCC3dlYi5mb28uc3Zjghl3ZWIuZm9vLnN2Yy5jbHVzdGVyLmxv
Y2FsggthcGkuZm9vLnN2YzAKBggqhkjOPQQDAgNIADBFAiEApXds0SK3jP1werjr
E/8hk7VEQGts0V/2Fv8U5gvwVoMCIB5enJrhxPbml/WWOiuLVOLZQ+xK4coQJNpD
3a621nKG
-----END CERTIFICATE REQUEST-----
`;

/** RSA with 2048 bits, a subject of four attributes, a DNS name and a mail address. */
const WORKLOAD = `-----BEGIN CERTIFICATE REQUEST-----
MIIC2TCCAcECAQAwTzELMAkGA1UEBhMCREUxDTALBgNVBAoMBEFjbWUxETAPBgNV
BAsMCFBheW1lbnRzMR4wHAYDVQQDDBVwYXltZW50cy5hY21lLmV4YW1wbGUwggEi
MA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQCxqHo4FzogtvSb15zfcwUgpYWK
+t4l38DSNcAk1A0LUrlw1bIVYkcs+Ce7Lp4Pk+R8GyqYsIP6lLrdyFAb6nbc5YCA
QUQr+mA5EgtvwpxOHuzjmxwFI9NePVMiJJ5k/u1V2zbI3VfM0ro3UsI4HsKAfgsm
Es11IbfqejJKEBkf5HQsvydt+1Ofv2+htGhKCzCfAUbJlfxWZK/SjuSo2tONeIeR
ZO+8r2e5K3VL9jF0maONSzEBXa1HXG5nwLWuoHwE7WhlLCgWJGzFAgHj5rTIqoKL
n2UccrLssMFcDW2/T8hglH+k2YIw+9DFfyc5VQ6OT/76747Vy+lCPeRi1AOPAgMB
AAGgRTBDBgkqhkiG9w0BCQ4xNjA0MDIGA1UdEQQrMCmCFXBheW1lbnRzLmFjbWUu
ZXhhbXBsZYEQb3BzQGFjbWUuZXhhbXBsZTANBgkqhkiG9w0BAQsFAAOCAQEAAySH
i0nuM/X3tGKe+HvE7KgJOzESrbS/x536asvEx/8dynW7f+/JaxXzF/p4qMxx4Xj3
jRjmN97EhlaCf8S7bIjbLwq8UKAOU6bZGhOX+lNBSUIXzcotKixArngDVwAOLKQ8
Ok078BGINFBbnUWBCf25SR7+eUstV4q1j2NTsmmWrLbo3jTdf7GBPSFFjYw0u/cb
Nz+Zbiz0Ga3vXQkvNcshoh6NskW0e4xZB6aHEzZaiVJ2swLBypVFfHIALGjVyRvT
QPnf5+4nhygEkPeCjUExDG94wY9ZBf9yESUqDtS1J9y+b7vS5Gqwk41KQ7pLlnWN
oIzkmaVFMueMeQvkmw==
-----END CERTIFICATE REQUEST-----
`;

/** Policies and a request. */
export interface RequestCase {
  readonly name: string;
  readonly policies: readonly JsonObject[];
  readonly certificateRequest: JsonObject;
  readonly approved: boolean;
  /** How many of the policies are for the request. */
  readonly applicable: number;
}

const request = (pem: string, more: JsonObject): JsonObject => ({
  apiVersion: "cert-manager.io/v1",
  kind: "CertificateRequest",
  metadata: { name: "web-1", namespace: "foo" },
  spec: {
    request: Buffer.from(pem).toString("base64"),
    issuerRef: { name: "internal", kind: "ClusterIssuer", group: "cert-manager.io" },
    duration: "24h",
    usages: ["digital signature", "key encipherment", "server auth"],
    username: "system:serviceaccount:cert-manager:cert-manager",
    groups: ["system:serviceaccounts", "system:serviceaccounts:cert-manager", "system:authenticated"],
    ...more,
  },
});

const policy = (i: number, allowed: JsonObject, selector: JsonObject = { issuerRef: {} }): JsonObject => ({
  apiVersion: "policy.cert-manager.io/v1alpha1",
  kind: "CertificateRequestPolicy",
  metadata: { name: `p${String(i).padStart(4, "0")}` },
  spec: {
    selector,
    allowed: { usages: ["digital signature", "key encipherment", "server auth"], ...allowed },
    constraints: { maxDuration: "168h", privateKey: { minSize: 256, maxSize: 4096 } },
  },
  status: {
    conditions: [{ type: "Ready", status: "True", reason: "Ready", lastTransitionTime: "2026-01-01T00:00:00Z" }],
  },
});

/** Names of services in a namespace; `zone` is what the last policy has right. */
const services = (zone: string): JsonObject => ({
  commonName: { value: "*.svc" },
  dnsNames: {
    values: ["*.svc", `*.${zone}`],
    validations: [
      {
        rule: "self.endsWith('.svc') ? self.split('.')[1] == cr.namespace : self.contains('.' + cr.namespace + '.svc.')",
      },
      { rule: "!self.startsWith('*')", message: "wildcards are not allowed" },
    ],
  },
});
const workloads = (organization: string): JsonObject => ({
  commonName: { value: "*.acme.example", required: true },
  dnsNames: { values: ["*.acme.example"] },
  emailAddresses: { values: ["*@acme.example"], validations: [{ rule: "self.matches('^[a-z]+@')" }] },
  subject: {
    organizations: { values: [organization] },
    organizationalUnits: { values: ["Payments", "Search"] },
    countries: { values: ["DE", "FR"] },
  },
});

const ten = (make: (i: number) => JsonObject): JsonObject[] => Array.from({ length: 10 }, (_, i) => make(i));
const right = (i: number): boolean => i === 9;

const SERVICES = { certificateRequest: request(SERVICE, {}), applicable: 10 };

/** Ten policies each: those that are not said to approve deny. */
export const TEN_POLICIES: readonly RequestCase[] = [
  {
    name: "P-256, 3 names and rules on them, the tenth approves",
    policies: ten((i) => policy(i, services(right(i) ? "cluster.local" : `zone-${i}.local`))),
    approved: true,
    ...SERVICES,
  },
  {
    name: "P-256, the first approves",
    policies: ten((i) => policy(i, services("cluster.local"))),
    approved: true,
    ...SERVICES,
  },
  {
    name: "P-256, all ten deny",
    policies: ten((i) => policy(i, services(`zone-${i}.local`))),
    approved: false,
    ...SERVICES,
  },
  {
    name: "RSA-2048 with a subject, the tenth approves",
    policies: ten((i) => policy(i, workloads(right(i) ? "Acme" : `Acme ${i}`))),
    approved: true,
    certificateRequest: request(WORKLOAD, {}),
    applicable: 10,
  },
];

/** A thousand policies, of which selectors leave ten; the last of these approves. */
export const THOUSAND_POLICIES: RequestCase = {
  name: "1,000 policies, selectors leave ten, the last approves",
  policies: Array.from({ length: 1_000 }, (_, i) =>
    policy(i, services(i === 999 ? "cluster.local" : `zone-${i}.local`), {
      issuerRef: { name: i % 4 === 3 ? "*" : `issuer-${i}-*`, kind: "*Issuer" },
      namespace: { matchNames: i % 100 === 99 ? ["fo*"] : [`team-${i}-*`, "kube-*"] },
    }),
  ),
  approved: true,
  ...SERVICES,
};
