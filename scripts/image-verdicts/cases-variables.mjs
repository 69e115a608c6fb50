/** Cases about the variables that only this kind has, and about custom workloads with templates of Pods. */
import { asked, byKey, keyless, OFFLINE, pod, policy, request, right } from "./short.mjs";

export function variableCases({ image, keys }) {
  const [signed, unsigned, second] = ["team/app:bundle-key", "team/app:unsigned", "team/base:signed"].map(image);
  const attestors = [byKey(keys.cosign), byKey(keys.other, { name: "b" })];
  const attestations = [{ name: "scan", intoto: { type: "https://example.com/scan/v1" } }];
  const unchecked = { mutateDigest: false, verifyDigest: false, required: false };
  const cases = [];
  const rule = (id, expression, spec = {}, more = {}) =>
    cases.push(
      asked(
        `variable/${id}`,
        {
          attestors,
          attestations,
          validationConfigurations: unchecked,
          validations: [{ expression, message: "no" }],
          ...spec,
        },
        pod(signed.tagged),
        more,
      ),
    );
  // Kyverno's map of attestors has no size and no keys, and a map becomes an attestor with nothing in it.
  const better = {
    "attestors, in": right("unverified", "pass", "success"),
    "attestors, size": right("unverified", "pass", "success"),
    "attestors, type": right("unverified", "pass", "success"),
    "count, a map for an attestor": right("weaker", "error"),
  };
  for (const [id, expression] of Object.entries({
    "attestors, has": "has(attestors.a) && !has(attestors.z)",
    "attestors, in": "'a' in attestors && !('z' in attestors)",
    "attestors, size": "size(attestors) == 2",
    "attestors, equal": "attestors.a == attestors.a && attestors.a != attestors.b",
    "attestors, member": "attestors.a.name == 'a'",
    "attestors, type": "type(attestors.a) == type(attestors.b)",
    "attestors, as a text": "string(attestors.a) != ''",
    "attestors, optional": "attestors.?z.hasValue() == false",
    "attestors, in a list": "size([attestors.a, attestors.b]) == 2",
    "attestations, member": "attestations.scan == 'scan'",
    "attestations, size": "size(attestations) == 1",
    "attestations, has": "has(attestations.scan) && !has(attestations.sbom)",
    "attestations, missing": "attestations.sbom == ''",
    "images, size": "size(images) == 3",
    "images, has": "has(images.containers) && !has(images.others)",
    "images, index": "images['containers'][0] == images.containers[0]",
    "images, keys": "images.map(k, k).sort() == ['containers', 'ephemeralContainers', 'initContainers']",
    "images, all lists": "images.all(k, images[k].all(i, i.startsWith('localhost')))",
    "images, flattened": "images.map(k, images[k]).flatten().size() == 1",
    "images, type": "type(images.containers) == list",
    "images, missing list": "images.others == []",
    "images, optional list": "images.?others.orValue([]) == []",
    object: "object.spec.containers[0].image == images.containers[0]",
    oldObject: "has(oldObject.metadata)",
    request: "request.operation == 'CREATE' && request.kind.kind == 'Pod'",
    "request, resource": "request.resource.resource == 'pods' && request.requestResource.resource == 'pods'",
    "request, name": "request.name == 'web' && request.namespace == 'team'",
    namespaceObject: "namespaceObject.metadata.name == 'team'",
    "variables, none": "size(variables) == 0",
    "library, image": "image(images.containers[0]).registry() == 'localhost:5055'",
    "library, image parts":
      "image(images.containers[0]).repository() == 'team/app' && image(images.containers[0]).tag() == 'bundle-key'",
    "library, parsed image": "parseImageReference(images.containers[0]).identifier() == 'bundle-key'",
    "library, isImage": "isImage(images.containers[0]) && !isImage('A B')",
    "library, hash": "sha256('a') != ''",
    "library, lists": "images.containers.distinct().size() == 1",
    "count is an int": "type(verifyImageSignatures(images.containers[0], [attestors.a])) == int",
    "count, of a dyn text": "verifyImageSignatures(dyn(images.containers[0]), [attestors.a]) == 1",
    "count, of a dyn number": "verifyImageSignatures(dyn(1), [attestors.a]) == 1",
    "count, of an attestation by a number":
      "verifyAttestationSignatures(images.containers[0], dyn(1), [attestors.a]) == 1",
    "count, null for an attestor": "verifyImageSignatures(images.containers[0], [null]) == 1",
    "count, a map for an attestor": "verifyImageSignatures(images.containers[0], [{'name': 'a'}]) == 1",
    "count, dyn for attestors": "verifyImageSignatures(images.containers[0], dyn([attestors.a])) == 1",
    "count, nested lists": "verifyImageSignatures(images.containers[0], [[attestors.a]]) == 1",
    "count, a filtered list":
      "verifyImageSignatures(images.containers[0], [attestors.a, attestors.b].filter(a, a == attestors.a)) == 1",
    "count, a conditional": "verifyImageSignatures(images.containers[0], true ? [attestors.a] : [attestors.b]) == 1",
    "count, of an image with spaces": "verifyImageSignatures(' ' + images.containers[0], [attestors.a]) == 0",
    "count, of an empty text": "verifyImageSignatures('', [attestors.a]) == 0",
    "error, absorbed": "attestors.z == 1 || verifyImageSignatures(images.containers[0], [attestors.a]) == 1",
    "error, not absorbed": "attestors.z == 1 && verifyImageSignatures(images.containers[0], [attestors.a]) == 1",
    "error, absorbed by and": "attestors.z == 1 && false",
    "payload, of a number": "extractPayload(images.containers[0], dyn(1)) == 1",
    "payload, of an absent image": "extractPayload('localhost:5055/team/app:absent', 'scan').x == 1",
    "data, of a number": "getImageData(dyn(1)).Digest == ''",
    "data, of no reference": "getImageData('A B').Digest == ''",
    "unknown function": "verifyImage(images.containers[0]) == 1",
    "method call": "images.containers[0].verifyImageSignatures([attestors.a]) == 1",
  }))
    rule(id, expression, {}, better[id]);
  rule(
    "attestors, by a name in a variable",
    "verifyImageSignatures(images.containers[0], [attestors[variables.who]]) == 1",
    {
      variables: [{ name: "who", expression: "'a'" }],
    },
  );
  rule("attestors, all of them by a variable", "verifyImageSignatures(images.containers[0], variables.all) == 1", {
    variables: [{ name: "all", expression: "['a', 'b'].map(n, attestors[n])" }],
  });
  rule(
    "attestors, an expression that fails and is not used",
    "verifyImageSignatures(images.containers[0], [attestors.a]) == 1",
    {
      attestors: [
        attestors[0],
        { name: "b", cosign: { key: { expression: "string(object.nothing)" }, ctlog: OFFLINE } },
      ],
    },
  );
  rule("attestors, an expression of images", "verifyImageSignatures(images.containers[0], [attestors.b]) == 0", {
    attestors: [
      attestors[0],
      { name: "b", cosign: { key: { expression: "string(images.containers[0])" }, ctlog: OFFLINE } },
    ],
  });
  rule(
    "attestors, an expression that counts signatures",
    "verifyImageSignatures(images.containers[0], [attestors.b]) == 1",
    {
      attestors: [
        attestors[0],
        {
          name: "b",
          cosign: {
            key: {
              expression: `verifyImageSignatures(images.containers[0], [attestors.a]) == 1 ? ${JSON.stringify(keys.cosign)} : ''`,
            },
            ctlog: OFFLINE,
          },
        },
      ],
    },
  );
  rule("attestors, none", "size(attestors) == 0", { attestors: [] }, right("unverified", "pass", "success"));
  rule(
    "attestors, with a name that is a keyword",
    "verifyImageSignatures(images.containers[0], [attestors['in']]) == 1",
    {
      attestors: [byKey(keys.cosign, { name: "in" })],
    },
  );
  rule(
    "attestors, with a name with a dash",
    "verifyImageSignatures(images.containers[0], [attestors['my-key']]) == 1",
    {
      attestors: [byKey(keys.cosign, { name: "my-key" })],
    },
  );
  rule("attestors, an identity by a variable", "verifyImageSignatures(images.containers[0], [attestors.a]) == 1", {
    attestors: [keyless({ issuer: "http://localhost:5056", subjectExpression: "variables.who" })],
    variables: [{ name: "who", expression: "'ci@'" }],
    validationActions: ["Deny", "Warn"],
  });

  // Custom workloads: templates of Pods are found in them.
  const JOBS = "jobsets.v1alpha2.jobset.x-k8s.io";
  const template = (images) => ({
    template: { spec: { containers: images.map((one, n) => ({ name: `c${n}`, image: one })) } },
  });
  const jobs = (...lists) => ({
    apiVersion: "jobset.x-k8s.io/v1alpha2",
    kind: "JobSet",
    metadata: { name: "web", namespace: "team" },
    spec: { replicatedJobs: lists.map((images, n) => ({ name: `j${n}`, template: { spec: template(images) } })) },
  });
  const workload = (id, object, spec = {}, more = {}) =>
    cases.push(
      asked(
        `workload/${id}`,
        { attestors, autogen: { podControllers: { controllers: [JOBS] } }, ...spec },
        object,
        more,
      ),
    );
  workload("signed", jobs([signed.tagged]));
  workload("unsigned", jobs([unsigned.tagged]));
  workload("second of two templates", jobs([signed.tagged], [unsigned.tagged]), {}, right("hangs", "fail"));
  workload("two signed", jobs([signed.tagged], [second.tagged]), {}, right("hangs", "pass", "success"));
  workload("no template", { ...jobs(), spec: {} });
  workload("fails when it runs", jobs([signed.tagged]), { validations: [{ expression: "object.spec.nothing == 1" }] });
  workload("not required", jobs([unsigned.tagged]), { validations: [{ expression: "true" }] });
  workload("pinned", jobs([signed.tagged]), { validationConfigurations: {} }, { pin: true });
  workload("digest is missing", jobs([signed.tagged]), { validationConfigurations: {} });
  workload("other controllers do not", jobs([unsigned.tagged]), { autogen: undefined });
  workload("a Pod all the same", pod(unsigned.tagged));

  // Further policies and requests.
  const same = (namespace, more) => policy({ attestors, ...more }, { namespace });
  cases.push(
    {
      id: "namespaced/the same name in two namespaces",
      policies: [same("team"), same("other", { attestors: [byKey(keys.other)] })],
      resources: [pod(signed.tagged)],
    },
    {
      id: "namespaced/resource without a namespace",
      policies: [
        same("team", {
          attestors: [
            {
              name: "a",
              cosign: { key: { expression: "resource.Get('v1', 'configmaps', 'keys').data.cosign" }, ctlog: OFFLINE },
            },
          ],
        }),
      ],
      objects: [
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: "keys", namespace: "team" },
          data: { cosign: keys.cosign },
        },
      ],
      resources: [pod(signed.tagged)],
    },
    {
      id: "request/of a cluster's object",
      policies: [
        policy({
          attestors,
          matchConstraints: {
            resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["nodes"] }],
          },
          images: [{ name: "x", expression: "[object.metadata.annotations.image]" }],
          validations: [
            { expression: "images.x.all(i, verifyImageSignatures(i, [attestors.a]) > 0)", message: "not signed" },
          ],
        }),
      ],
      resources: [{ apiVersion: "v1", kind: "Node", metadata: { name: "n", annotations: { image: unsigned.tagged } } }],
    },
    {
      id: "request/of another version",
      policies: [policy({ attestors })],
      requests: [request({ ...pod(unsigned.tagged), apiVersion: "v2" })],
    },
    {
      id: "actions/Deny+Warn",
      policies: [policy({ attestors, validationActions: ["Deny", "Warn"] })],
      resources: [pod(unsigned.tagged)],
    },
  );
  return cases;
}
