/** Cases about registries that are absent, slow, out of order or closed, and about credentials. The ports are those of servers.go. */
import { asked, byKey, pod, right } from "./short.mjs";

const PORTS = {
  plain: 5055,
  slow: 5056,
  silent: 5057,
  private: 5058,
  closed: 5059,
  broken: 5060,
  "without signatures": 5061,
};

export function registryCases({ image, keys }) {
  const attestors = [byKey(keys.cosign)];
  const cases = [];
  /** The image of another port: only for registries, which a layout does not stand for. */
  const at = (port, name = "team/app:bundle-key") => image(name).tagged.replace("5055", String(PORTS[port]));
  const one = (id, object, spec = {}, more = {}) =>
    cases.push(asked(`registry/${id}`, { attestors, ...spec }, object, { registry: true, ...more }));
  const same = (id, object, spec, more) => cases.push(asked(`registry/${id}`, { attestors, ...spec }, object, more));
  const { repository } = image("team/app:bundle-key");
  same("absent tag", pod(`${repository}:absent`));
  same("absent repository", pod("localhost:5055/team/nothing:v1"));
  same("absent digest", pod(`${repository}@sha256:${"1".repeat(64)}`));
  same("absent image beside a signed one", pod([image("team/app:bundle-key").tagged, `${repository}:absent`]));
  same("absent image, not selected", pod("localhost:5059/x:v1"), {
    matchImageReferences: [{ glob: "localhost:5055/**" }],
  });
  same("absent image in an expression", pod(image("team/app:bundle-key").tagged), {
    validations: [{ expression: `verifyImageSignatures('${repository}:absent', [attestors.a]) == 0` }],
  });
  same("absent image in an expression behind or", pod(image("team/app:bundle-key").tagged), {
    validations: [
      {
        expression: `verifyImageSignatures('${repository}:absent', [attestors.a]) == 0 || images.containers.all(i, verifyImageSignatures(i, [attestors.a]) > 0)`,
      },
    ],
  });
  one("connection refused", pod(at("closed")));
  one("connection refused, ignored", pod(at("closed")), { failurePolicy: "Ignore" });
  one("connection refused, digest", pod(at("closed").replace(/:[^:]*$/, `@${image("team/app:bundle-key").digest}`)));
  one("connection refused, warned", pod(at("closed")), { validationActions: ["Warn"] });
  one("slow, signed", pod(at("slow")));
  one("slow, unsigned", pod(at("slow", "team/app:unsigned")));
  one("silent", pod(at("silent")), {}, right("hangs", "error"));
  one("out of order", pod(at("broken")));
  for (const name of ["team/app:bundle-key", "team/app:legacy-key", "team/app:unsigned"])
    one(`signatures cannot be asked, ${name}`, pod(at("without signatures", name)), {}, right("unasked", "error"));
  one(
    "signatures cannot be asked, an attestation",
    pod(at("without signatures", "team/app:bundle-signed-scanned")),
    {
      attestations: [{ name: "scan", intoto: { type: "https://example.com/scan/v1" } }],
      validations: [
        {
          expression: "images.containers.all(i, verifyAttestationSignatures(i, 'scan', [attestors.a]) > 0)",
          message: "not scanned",
        },
      ],
    },
    right("unasked", "error"),
  );

  const secret = (name, host, namespace = "kyverno", password = "secret") => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace },
    type: "kubernetes.io/dockerconfigjson",
    stringData: {
      ".dockerconfigjson": JSON.stringify({
        auths: { [host]: { username: "reader", password, auth: Buffer.from(`reader:${password}`).toString("base64") } },
      }),
    },
  });
  const closed = (id, credentials, objects) =>
    one(`credentials/${id}`, pod(at("private")), { credentials }, { objects });
  closed("none", undefined);
  closed("a Secret", { secrets: ["pull"] }, [secret("pull", "localhost:5058")]);
  closed("a Secret of another registry", { secrets: ["pull"] }, [secret("pull", "localhost:5059")]);
  closed("a Secret with another password", { secrets: ["pull"] }, [
    secret("pull", "localhost:5058", "kyverno", "wrong"),
  ]);
  closed("no Secret", { secrets: ["pull"] });
  closed("a Secret of another namespace", { secrets: ["pull"] }, [secret("pull", "localhost:5058", "team")]);
  closed("a Secret with its namespace", { secrets: ["team/pull"] }, [secret("pull", "localhost:5058", "team")]);
  closed("second of two Secrets", { secrets: ["other", "pull"] }, [
    secret("other", "localhost:5059"),
    secret("pull", "localhost:5058"),
  ]);
  closed("of a provider", { providers: ["default"] });
  same("credentials/not needed", pod(image("team/app:bundle-key").tagged), {
    credentials: { allowInsecureRegistry: true },
  });
  return cases;
}
