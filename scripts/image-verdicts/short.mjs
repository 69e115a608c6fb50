/** Policies, objects and attestors in short, for the cases. */

export const PODS = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["pods"] };

/** Signed and all of it: every container's image has a signature of the attestor `a`. */
export const SIGNED = "images.containers.map(image, verifyImageSignatures(image, [attestors.a])).all(count, count > 0)";

/** A policy: tags may stay, nothing is pinned, and every image of loopback matches, unless `spec` says otherwise. */
export function policy(spec, { name = "signed", namespace, apiVersion = "policies.kyverno.io/v1" } = {}) {
  return {
    apiVersion,
    kind: namespace === undefined ? "ImageValidatingPolicy" : "NamespacedImageValidatingPolicy",
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    spec: {
      matchConstraints: { resourceRules: [PODS] },
      matchImageReferences: [{ glob: "localhost:*/**" }],
      validationConfigurations: { mutateDigest: false, verifyDigest: false, required: true },
      validations: [{ expression: SIGNED, message: "not signed" }],
      ...spec,
    },
  };
}

export const podSpec = (images, more = {}) => ({
  containers: [images].flat().map((image, index) => ({ name: `c${index}`, image })),
  ...more,
});

export const pod = (images, { spec = {}, ...meta } = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "team", ...meta },
  spec: podSpec(images, spec),
});

export const deployment = (images) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "team" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: podSpec(images) },
  },
});

export const cronJob = (images) => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name: "night", namespace: "team" },
  spec: { schedule: "0 0 * * *", jobTemplate: { spec: { template: { spec: podSpec(images) } } } },
});

/** A request about an object, as the API server sends it. */
export function request(object, more = {}) {
  const [group, version] = object.apiVersion.includes("/") ? object.apiVersion.split("/") : ["", object.apiVersion];
  const kind = { group, version, kind: object.kind };
  const resource = { group, version, resource: `${object.kind.toLowerCase()}s` };
  return {
    uid: "u-1",
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    operation: "CREATE",
    name: object.metadata.name,
    ...(object.metadata.namespace && { namespace: object.metadata.namespace }),
    userInfo: { username: "alice", groups: ["dev"] },
    object,
    ...more,
  };
}

/** No transparency log and no certificate log is asked for. */
export const OFFLINE = { insecureIgnoreTlog: true, insecureIgnoreSCT: true };

export const cosign = (members, name = "a") => ({ name, cosign: members });
export const byKey = (data, { name = "a", ...more } = {}) => cosign({ key: { data }, ctlog: OFFLINE, ...more }, name);
export const keyless = (identities, { name = "a", roots, additionalExtensions, ...more } = {}) =>
  cosign(
    {
      keyless: {
        identities: [identities].flat(),
        ...(roots && { roots }),
        ...(additionalExtensions && { additionalExtensions }),
      },
      ctlog: { insecureIgnoreSCT: true, url: "http://localhost:5059" },
      ...more,
    },
    name,
  );
export const notary = (value, { name = "a", tsa } = {}) => ({
  name,
  notary: { certs: { value }, ...(tsa && { tsaCerts: { value: tsa } }) },
});

/** One policy, asked of one object. */
export const asked = (id, spec, object, more = {}) => ({ id, policies: [policy(spec)], resources: [object], ...more });

/**
 * What is right where Kyverno's answer is not, for one request. The reasons:
 * - `weaker`: Kyverno takes for a signature what proves nothing, or does not look at a field of the attestor;
 * - `unverified`: Kyverno does not find what cosign and the attestor's own fields say is signed;
 * - `unasked`: a registry could not be asked, and Kyverno says "unsigned";
 * - `hangs`: Kyverno does not answer, or ends;
 * - `refused`: Kyverno takes a policy that can never do what it says, or what is not served here.
 */
export const right = (reason, status, message) => ({
  differs: reason,
  right: [{ status, ...(message !== undefined && { message }) }],
});
/** The policy is refused when it is loaded. */
export const REFUSED = { differs: "refused", refused: true };
