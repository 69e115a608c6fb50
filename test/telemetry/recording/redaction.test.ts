/** What must not stand in a recording. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Credentials } from "../../../src/telemetry/recording/credentials.js";
import { Redaction } from "../../../src/telemetry/recording/redaction.js";

function redact(value: unknown): { readonly value: unknown; readonly places: readonly string[] } {
  const redaction = new Redaction(new Credentials());
  return { value: redaction.member(["object"], value), places: redaction.places };
}

const pod = (container: object): object => ({ kind: "Pod", spec: { containers: [container] } });

describe("a recording is without", () => {
  test("what Secrets hold, also in lists of them; base64 stays base64, and the object asked about is not changed", () => {
    const secret = { kind: "Secret", type: "Opaque", data: { a: "aGVsbG8=" }, stringData: { b: "plain" } };
    const { value, places } = redact(secret);
    assert.deepEqual(value, {
      kind: "Secret",
      type: "Opaque",
      data: { a: Buffer.from("[redacted]").toString("base64") },
      stringData: { b: "[redacted]" },
    });
    assert.deepEqual(places, ["/object/data/a", "/object/stringData/b"]);
    assert.equal(secret.data.a, "aGVsbG8=");
    assert.deepEqual(redact({ kind: "SecretList", items: [{ data: { a: "aGVsbG8=" } }] }).places, [
      "/object/items/0/data/a",
    ]);
    assert.deepEqual(redact({ kind: "ConfigMap", data: { motto: "hello" } }).places, []);
  });

  test("what kubectl keeps of the object", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": '{"data":1}', team: "a" };
    assert.deepEqual(redact({ metadata: { annotations } }), {
      value: {
        metadata: { annotations: { ...annotations, "kubectl.kubernetes.io/last-applied-configuration": "[redacted]" } },
      },
      places: ["/object/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"],
    });
  });

  test("values of variables and arguments whose names are those of credentials", () => {
    const { value, places } = redact(
      pod({
        env: [
          { name: "DB_PASSWORD", value: "swordfish" },
          { name: "MODE", value: "fast" },
          { name: "API_TOKEN", valueFrom: { secretKeyRef: { name: "s", key: "token" } } },
        ],
        args: ["--port=80", "--api-token=abcdef", "--password", "hunter2", "run"],
      }),
    );
    assert.deepEqual(places, [
      "/object/spec/containers/0/env/0/value",
      "/object/spec/containers/0/args/1",
      "/object/spec/containers/0/args/3",
    ]);
    const text = JSON.stringify(value);
    assert.doesNotMatch(text, /swordfish|abcdef|hunter2/);
    assert.match(text, /"--api-token=\[redacted\]","--password","\[redacted\]","run"/);
  });

  for (const name of [
    "password",
    "clientSecret",
    "api-key",
    "AWS_SECRET_ACCESS_KEY",
    "auth_token",
    "tls.key",
    "dbpasswd",
    "PASSWORD_2",
    "passwordHash",
  ])
    test(`what stands under ${name}`, () => {
      assert.deepEqual(redact({ [name]: "x" }).value, { [name]: "[redacted]" });
      assert.deepEqual(redact({ [name]: 1234 }).value, { [name]: 0 }, "numbers stay numbers");
    });

  for (const name of ["secretName", "imagePullSecrets", "monkey", "key", "passed"])
    test(`but not what stands under ${name}`, () => {
      assert.deepEqual(redact({ [name]: "x" }).places, []);
    });

  test("but not true and false, and where a credential is kept", () => {
    const spec = { automountServiceAccountToken: false, secret: { secretName: "s" }, token: { path: "x" } };
    assert.deepEqual(redact(spec), { value: spec, places: [] });
  });

  for (const [what, text] of [
    ["a bearer token", "Authorization: Bearer abcdefgh.ijkl"],
    ["a JSON web token", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.x"],
    ["a private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIE"],
    ["an address with a password", "postgres://ann:pw@db/x"],
    ["a token of GitHub", "x ghp_0123456789abcdef0123"],
  ] as const)
    test(`${what}, wherever it stands`, () => {
      assert.deepEqual(redact({ note: text }).value, { note: "[redacted]" });
    });

  test("what a policy says of a value that was redacted", () => {
    const redaction = new Redaction(new Credentials());
    redaction.member(["request"], { password: "swordfish" });
    assert.equal(redaction.words(["response", "message"], "'swordfish' is too short"), "'[redacted]' is too short");
    assert.deepEqual(redaction.places, ["/request/password", "/response/message"]);
  });

  test("values of a patch that replace a credential", () => {
    const redaction = new Redaction(new Credentials());
    const operations = [
      { op: "add", path: "/spec/password", value: "x" },
      { op: "add", path: "/spec/size", value: "y" },
    ];
    assert.deepEqual(redaction.patch(["patch"], operations, {}), [
      { op: "add", path: "/spec/password", value: "[redacted]" },
      operations[1],
    ]);
  });

  test("values of a patch whose path does not name them, and patches that are none", () => {
    const redaction = new Redaction(new Credentials());
    const object = { env: [{ name: "DB_PASSWORD" }, { name: "MODE" }] };
    const value = (path: string): unknown => {
      const [operation] = redaction.patch([], [{ op: "replace", path, value: "swordfish" }], object) as [
        { readonly value: unknown },
      ];
      return operation.value;
    };
    assert.equal(value("/env/0/value"), "[redacted]");
    assert.equal(value("/env/1/value"), "swordfish");
    assert.equal(value("/env/2/value"), "[redacted]", "nobody knows its name");
    assert.equal(value("/spec/passwords/0"), "[redacted]");
    assert.equal(redaction.patch([], "c3dvcmRmaXNo", object), "[redacted]");
  });

  test("texts in texts: JSON, configuration files, commands for a shell", () => {
    const kept = JSON.stringify({ kind: "Secret", data: { user: "YW5u" }, note: "x" });
    assert.deepEqual(redact({ annotations: { "kapp.k14s.io/original": kept } }), {
      value: {
        annotations: {
          "kapp.k14s.io/original": JSON.stringify({
            kind: "Secret",
            data: { user: Buffer.from("[redacted]").toString("base64") },
            note: "x",
          }),
        },
      },
      places: ["/object/annotations/kapp.k14s.io~1original"],
    });
    for (const [text, shown] of [
      ["db.password=swordfish\nport=80", "db.password=[redacted]\nport=80"],
      ['user: ann\npassword: "sword fish"\n', 'user: ann\npassword: "[redacted]"\n'],
      ["mysql --password=swordfish -u x", "mysql --password=[redacted] -u x"],
      ["login --token swordfish now", "login --token [redacted] now"],
      ["args: password=swordfish", "args: password=[redacted]"],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of a shell
      ["password: ${FROM_ELSEWHERE}", "password: ${FROM_ELSEWHERE}"],
      ["the password is not told here", "the password is not told here"],
    ] as const)
      assert.deepEqual(redact({ text }).value, { text: shown });
    assert.deepEqual(redact({ "run.yaml": "kind: Secret\ndata:\n  user: YW5u\n" }).value, { "run.yaml": "[redacted]" });
    assert.deepEqual(redact({ caBundle: Buffer.from("-----BEGIN CERTIFICATE-----").toString("base64") }).places, []);
    const key = Buffer.from("-----BEGIN RSA PRIVATE KEY-----\nx").toString("base64");
    assert.deepEqual(redact({ pem: key }).value, { pem: "[redacted]" });
  });

  test("what a policy says, where one credential begins like another, or there are more than are kept", () => {
    const some = new Redaction(new Credentials());
    some.member([], { password: "sword", token: "swordfish", secret: 123456 });
    assert.equal(some.words([], "swordfish, 123456"), "[redacted], [redacted]");
    const many = new Redaction(new Credentials());
    many.member(
      [],
      Array.from({ length: 101 }, (_, index) => ({ token: `token-${index}` })),
    );
    assert.equal(many.words([], "token-100 is bad"), "[redacted]");
  });

  test("long texts of one kind take no longer than others", () => {
    const { places } = redact([
      ..."aA-=: \"'\\/@".split("").map((character) => character.repeat(200_000)),
      "://a:".repeat(40_000),
      "--a ".repeat(50_000),
      "a=".repeat(100_000),
    ]);
    assert.ok(places.length <= 3);
  });

  test("keys of a prototype, which are data like others; so many places that nobody reads them are counted", () => {
    const hostile = JSON.parse('{"__proto__":{"password":"x"}}') as object;
    assert.equal(JSON.stringify(redact(hostile).value), '{"__proto__":{"password":"[redacted]"}}');
    const redaction = new Redaction(new Credentials());
    redaction.member(
      [],
      Array.from({ length: 60 }, () => ({ token: "x" })),
    );
    assert.equal(redaction.places.length, 50);
    assert.equal(redaction.more, 10);
  });
});
