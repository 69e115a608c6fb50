import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { admissionQuestion, decodeAdmissionReview, decodeRawReview, rawQuestion } from "../../src/admission/decode.js";

const MINIMAL = {
  uid: "u",
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  operation: "CREATE",
  userInfo: {},
};

function review(request: unknown): string {
  return JSON.stringify({ request });
}

function decoded(text: string) {
  const result = decodeAdmissionReview(Buffer.from(text));
  assert.equal(result.kind, "admission");
  if (result.kind !== "admission") throw new Error();
  return result;
}

const told = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

function problem(text: string): string {
  const result = decodeAdmissionReview(Buffer.from(text));
  assert.equal(result.kind, "problem");
  return result.kind === "problem" ? `${result.status} ${result.text}` : "";
}

setFlagsFromString("--allow-natives-syntax");
/** Whether the engine keeps an object's members in a fixed form; others are dictionaries, which all that read them pay for. */
const isFast = runInThisContext("(object) => %HasFastProperties(object)") as (object: object) => boolean;

test("a request whose objects are read later stays fast to read, and so does their metadata", () => {
  const dictionary: Record<string, number> = { a: 1, b: 2 };
  delete dictionary.a;
  assert.equal(isFast(dictionary), false);
  const managedFields = [{ manager: "kubectl", fieldsV1: { "f:spec": "x".repeat(4_000) } }];
  const object = { kind: "Pod", metadata: { name: "n", labels: { a: "b" }, managedFields } };
  const { request } = decoded(review({ ...MINIMAL, name: "n", object, oldObject: object, dryRun: false }));
  assert.ok(isFast(request));
  const { metadata } = request.object as typeof object;
  assert.ok(isFast(metadata));
  assert.deepEqual(metadata.managedFields, managedFields);
  assert.ok(isFast(metadata) && isFast(request));
});

describe("AdmissionReview in (spec kubewarden.md 3.2)", () => {
  test("what is required is enough; kind and apiVersion of the review are not looked at", () => {
    assert.deepEqual(decoded(review(MINIMAL)).request, MINIMAL);
    assert.deepEqual(decoded(JSON.stringify({ kind: "Foo", apiVersion: 7, request: MINIMAL })).request, MINIMAL);
  });

  test("every optional field is kept", () => {
    const full = {
      ...MINIMAL,
      subResource: "scale",
      requestKind: { group: "apps", version: "v1", kind: "Deployment" },
      requestResource: { group: "apps", version: "v1", resource: "deployments" },
      requestSubResource: "scale",
      name: "n",
      namespace: "ns",
      userInfo: { username: "a", uid: "1", groups: ["g"], extra: { k: ["v"] } },
      object: { x: 1 },
      oldObject: { x: 0 },
      dryRun: false,
      options: { kind: "CreateOptions" },
    };
    assert.deepEqual(decoded(review(full)).request, full);
  });

  test("every field is refused in other letters, wherever it is", () => {
    const levels: readonly (readonly [string, readonly string[], (field: string) => unknown])[] = [
      [
        "",
        [
          ...["uid", "kind", "resource", "subResource", "requestKind", "requestResource", "requestSubResource", "name"],
          ...["namespace", "operation", "userInfo", "object", "oldObject", "dryRun", "options"],
        ],
        (field) => ({ ...MINIMAL, [field]: null }),
      ],
      [".kind", ["group", "version", "kind"], (field) => ({ ...MINIMAL, kind: { ...MINIMAL.kind, [field]: "x" } })],
      [
        ".resource",
        ["group", "version", "resource"],
        (field) => ({ ...MINIMAL, resource: { ...MINIMAL.resource, [field]: "x" } }),
      ],
      [".userInfo", ["username", "uid", "groups", "extra"], (field) => ({ ...MINIMAL, userInfo: { [field]: "x" } })],
    ];
    for (const [path, fields, request] of levels)
      for (const field of fields) {
        const misspelt = field.toUpperCase();
        const told = problem(review(request(misspelt)));
        assert.ok(told.includes(`request${path}: unknown field \`${misspelt}\`, expected \`${field}\``), told);
      }
  });

  test("the order of members says nothing: each reads the same, and a misspelt one is refused wherever it stands", () => {
    const members = Object.entries({ ...MINIMAL, name: "n", namespace: "ns", dryRun: false, object: { x: 1 } });
    const orders = [members, members.toReversed(), [...members.slice(4), ...members.slice(0, 4)]];
    for (const order of orders) {
      assert.deepEqual(decoded(review(Object.fromEntries(order))).request, Object.fromEntries(members));
      for (let place = 0; place <= order.length; place++) {
        const misspelt = [...order.slice(0, place), ["Options", {}] as const, ...order.slice(place)];
        assert.match(problem(review(Object.fromEntries(misspelt))), /request: unknown field `Options`/);
      }
    }
  });

  test("a key `__proto__` gives an object nothing, whichever reader reads it", () => {
    const { kind, ...others } = MINIMAL;
    // -0 is left to the exact reader.
    for (const more of ["", ',"object":{"a":-0}'])
      for (const [text, told] of [
        [`{"__proto__":{"request":${JSON.stringify(MINIMAL)}}${more}}`, /missing field `request`/],
        [
          `{"request":{"__proto__":{"kind":${JSON.stringify(kind)}},${JSON.stringify(others).slice(1, -1)}${more}}}`,
          /request: missing field `kind`/,
        ],
        [
          `{"request":{"kind":{"__proto__":${JSON.stringify(kind)}},${JSON.stringify(others).slice(1, -1)}${more}}}`,
          /request\.kind: missing field `group`/,
        ],
      ] as const) {
        const read = decodeAdmissionReview(Buffer.from(text));
        assert.match(read.kind === "problem" ? read.text : "", told);
      }
  });

  test("what is found in the place of something else is told, long texts cut", () => {
    assert.match(problem(review({ ...MINIMAL, userInfo: { extra: 1 } })), /invalid type: integer `1`, expected a map/);
    for (const [length, shown] of [
      [64, "x".repeat(64)],
      [65, `${"x".repeat(64)}…`],
    ] as const)
      assert.ok(problem(review({ ...MINIMAL, kind: "x".repeat(length) })).includes(`invalid type: string "${shown}",`));
  });

  test("unknown fields vanish, null means absent, inside objects nothing is touched", () => {
    const text = review({
      ...MINIMAL,
      oldObject: null,
      namespace: null,
      options: null,
      dryRun: null,
      requestKind: null,
      invented: { a: 1 },
      kind: { ...MINIMAL.kind, more: 1 },
      object: { nothing: null, unknown: { deep: [null] } },
    });
    const { request, requestBytes } = decoded(text);
    assert.deepEqual(request, { ...MINIMAL, object: { nothing: null, unknown: { deep: [null] } } });
    assert.deepEqual(JSON.parse(told(requestBytes())), request);
  });

  test("the text for guests is made once, with exact numbers and special keys", () => {
    const object = '{"big":9007199254740993,"double":1.0,"__proto__":{"a":1},"constructor":2}';
    const { requestBytes, request } = decoded(
      `{"request":${JSON.stringify(MINIMAL).slice(0, -1)},"object":${object}}}`,
    );
    assert.ok(told(requestBytes()).endsWith(`"object":${object}}`), told(requestBytes()));
    assert.equal(requestBytes(), requestBytes());
    assert.equal(Object.getPrototypeOf(request.object), Object.prototype);
  });

  test("fields come from the request itself, never from a prototype", () => {
    const { request } = decoded(
      `{"request":{"__proto__":{"name":"x","namespace":"y"},${JSON.stringify(MINIMAL).slice(1)}}`,
    );
    assert.equal(request.name, undefined);
    assert.equal(request.namespace, undefined);
    assert.match(problem(`{"__proto__":{"request":${JSON.stringify(MINIMAL)}}}`), /missing field `request`/);
  });

  test("a repeated field of the review or the request is refused by name, whichever reader has it", () => {
    const full = {
      ...MINIMAL,
      requestKind: MINIMAL.kind,
      requestResource: MINIMAL.resource,
      subResource: "",
      requestSubResource: "",
      name: "n",
      namespace: "n",
      userInfo: { username: "a", uid: "b", groups: ["c"], extra: { "example.com/k": ["v"] } },
      object: {},
      oldObject: {},
      dryRun: false,
      options: {},
      unknown: 1,
    };
    for (const exact of ["", ',"object":{"d":1.0}']) {
      for (const [at, holder] of [
        ["", full],
        ["kind", full.kind],
        ["resource", full.resource],
        ["requestKind", full.kind],
        ["requestResource", full.resource],
        ["userInfo", full.userInfo],
        ["userInfo.extra", full.userInfo.extra],
      ] as const) {
        for (const [field, value] of Object.entries(holder)) {
          const doubled = `${JSON.stringify(holder).slice(0, -1)},${JSON.stringify(field)}:${JSON.stringify(value)}}`;
          const whole = JSON.stringify(full);
          const request =
            at === ""
              ? doubled
              : at === "userInfo.extra"
                ? whole.replace(JSON.stringify(holder), doubled)
                : whole.replace(`"${at}":${JSON.stringify(holder)}`, `"${at}":${doubled}`);
          const path = at === "" ? "request" : `request.${at}`;
          const text = `{"n":0${exact.replace("object", "more")},"request":${request}}`;
          const said = problem(text);
          assert.ok(
            said.startsWith(
              `400 Failed to parse the request body as JSON: ${path}: duplicate field \`${field}\` at line 1`,
            ),
            `${text}\n${said}`,
          );
        }
      }
    }
    assert.match(problem(`{"request":1,"request":${JSON.stringify(MINIMAL)}}`), /^400 .*duplicate field `request` at/);
    const escaped = review({ ...MINIMAL }).replace('"uid":"u"', '"uid":"u","u\\u0069d":"v"');
    assert.match(problem(escaped), /^400 .*request: duplicate field `uid` at/);
  });

  test("outside of the request there are no objects: a repeated field is refused there, too", () => {
    for (const name of ["object", "oldObject", "options"]) {
      const text = `{"other":{"${name}":{"a":1,"a":2}},"request":${JSON.stringify(MINIMAL)}}`;
      assert.match(problem(text), new RegExp(`^400 .*other\\.${name}: duplicate field \`a\``));
    }
  });

  test("inside of objects the last of repeated keys counts, as for the API server", () => {
    for (const field of ["object", "oldObject", "options"]) {
      for (const value of ["2", "2.5"]) {
        const text = review(MINIMAL).replace('"uid"', `"${field}":{"a":1,"a":${value},"m":{"b":1,"b":2}},"uid"`);
        assert.deepEqual(Reflect.get(decoded(text).request, field), { a: Number(value), m: { b: 2 } });
      }
    }
  });

  test("a field in other letters, which Go would take for it, is refused", () => {
    const cases: readonly [Record<string, unknown>, string][] = [
      [{ ...MINIMAL, UID: "x" }, "request: unknown field `UID`, expected `uid`"],
      [{ ...MINIMAL, Object: {} }, "request: unknown field `Object`, expected `object`"],
      [{ ...MINIMAL, oldobject: {} }, "request: unknown field `oldobject`, expected `oldObject`"],
      [{ ...MINIMAL, requeſtKind: {} }, "request: unknown field `requeſtKind`, expected `requestKind`"],
      [{ ...MINIMAL, userInfo: { Username: "a" } }, "request.userInfo: unknown field `Username`, expected `username`"],
      [{ ...MINIMAL, kind: { ...MINIMAL.kind, KIND: "" } }, "request.kind: unknown field `KIND`, expected `kind`"],
    ];
    for (const [request, said] of cases) {
      const text = problem(review(request));
      assert.ok(text.startsWith("422 ") && text.includes(said), text);
    }
    assert.match(problem(`{"Request":{},"request":${JSON.stringify(MINIMAL)}}`), /^422 .*unknown field `Request`/);
  });

  test("shape errors name the place: path, reason, line and column (spec kubewarden.md 3.5)", () => {
    const head = "422 Failed to deserialize the JSON body into the target type: ";
    assert.equal(problem("{}"), `${head}missing field \`request\` at line 1 column 2`);
    assert.equal(
      problem('{"request":null}'),
      `${head}request: invalid type: null, expected struct AdmissionRequest at line 1 column 15`,
    );
    assert.equal(
      problem('{"request":{"uid":"u","object":{"metadata":{"annotations":{"chaos/mode":"echo"}}}}}'),
      `${head}request: missing field \`kind\` at line 1 column 82`,
    );
    const broken: [Record<string, unknown>, RegExp][] = [
      [{ uid: undefined }, /request: missing field `uid` at line 1 column \d+$/],
      [{ uid: 5 }, /request\.uid: invalid type: integer `5`, expected a string at line 1 column \d+$/],
      [{ kind: { group: "", version: "v1" } }, /request\.kind: missing field `kind`/],
      [
        { kind: { group: "", version: "v1", kind: null } },
        /request\.kind\.kind: invalid type: null, expected a string/,
      ],
      [{ resource: "pods" }, /request\.resource: invalid type: string "pods", expected struct GroupVersionResource/],
      [{ operation: true }, /request\.operation: invalid type: boolean `true`, expected a string/],
      [{ userInfo: undefined }, /request: missing field `userInfo`/],
      [
        { userInfo: { groups: ["a", 1.5] } },
        /request\.userInfo\.groups\[1\]: invalid type: floating point `1\.5`, expected a string/,
      ],
      [
        { userInfo: { extra: { k: "v" } } },
        /request\.userInfo\.extra\.k: invalid type: string "v", expected a sequence/,
      ],
      [{ dryRun: "yes" }, /request\.dryRun: invalid type: string "yes", expected a boolean/],
      [{ requestKind: [] }, /request\.requestKind: invalid type: sequence, expected struct GroupVersionKind/],
    ];
    for (const [change, expected] of broken) assert.match(problem(review({ ...MINIMAL, ...change })), expected);
  });

  test("columns count bytes, lines count newlines", () => {
    assert.match(
      problem('{"ü":"日本",\n "request": {"uid": "é"}}'),
      /request: missing field `kind` at line 2 column 25$/,
    );
  });

  test("a line break behind a value is on the value's line", () => {
    assert.match(problem('{"request":\n 7\n}'), /request: invalid type: integer `7`.* at line 2 column 2$/);
  });

  test("nesting deeper than the limit is an error, not a crash", () => {
    for (const depth of [501, 10_000, 1_000_000]) {
      const text = `{"request":${"[".repeat(depth)}${"]".repeat(depth)}}`;
      assert.match(problem(text), /^400 .*recursion limit exceeded/);
    }
  });
});

describe("raw review in (spec kubewarden.md 3.4)", () => {
  test("any JSON value is a request, and is passed on as it is", () => {
    for (const text of ["null", "7", '"x"', "[1,2]", '{"uid":"a","n":9007199254740993,"d":2.0,"z":null}']) {
      const result = decodeRawReview(Buffer.from(`{"request":${text},"more":1}`));
      assert.equal(result.kind, "raw");
      if (result.kind === "raw") assert.equal(told(result.requestBytes()), text);
    }
  });

  test("a request in other letters is refused: another reader takes it for the request", () => {
    const result = decodeRawReview(Buffer.from('{"Request":1,"request":2}'));
    assert.ok(result.kind === "problem" && result.status === 422 && result.text.includes("unknown field `Request`"));
  });

  test("without a request it is refused", () => {
    const result = decodeRawReview(Buffer.from('{"other":1}'));
    assert.ok(
      result.kind === "problem" &&
        result.status === 422 &&
        result.text.includes("missing field `request` at line 1 column 11"),
    );
  });
});

test("a question about what was read elsewhere is printed with its exact numbers", () => {
  const object = { n: 9007199254740993n };
  assert.match(told(admissionQuestion({ ...MINIMAL, object }).requestBytes()), /"object":\{"n":9007199254740993\}/);
  assert.equal(told(rawQuestion(object).requestBytes()), '{"n":9007199254740993}');
});

describe("a request's objects are read when somebody asks for them", () => {
  const object = {
    metadata: { name: "x", managedFields: [{ manager: "m".repeat(1_200) }], labels: {} },
    spec: { a: [1] },
  };
  const request = { ...MINIMAL, name: "x", object, oldObject: object, dryRun: true };
  const isRead = (of: object, key: string): boolean => Object.getOwnPropertyDescriptor(of, key)?.get === undefined;

  test("and are members of it as others are", () => {
    const found = decoded(review(request)).request;
    assert.equal(isRead(found, "object") || isRead(found, "oldObject"), false);
    assert.deepEqual(found, request);
    assert.deepEqual({ ...found }, request);
    assert.deepEqual(structuredClone(found), request);
    assert.equal(found.object, found.object);
    assert.deepEqual(Object.keys(found).sort(), Object.keys(request).sort());
    const { metadata } = found.object as typeof object;
    assert.equal(isRead(metadata, "managedFields"), false);
    assert.equal(JSON.stringify(found.object), JSON.stringify(object));
  });

  test("but at once where their text says more than they do, and where the body has more values than may be", () => {
    const text = review(request);
    for (const written of [
      text.replace('"a":[1]', '"a":[1],"a":[1]'),
      text.replace('"a":[1]', '"a":[1.0]'),
      text.replace('"a":[1]', String.raw`"a":"\ud83d"`),
    ]) {
      assert.notEqual(written, text);
      assert.equal(isRead(decoded(written).request, "object"), true, written);
    }
    assert.equal(decodeAdmissionReview(Buffer.from(text), 10).kind, "problem");
  });

  test("whose texts begin with what request.kind says, in the order of the API server, are known to be of that kind without being read", () => {
    const about = (kind: object, object: string, oldObject = "null"): boolean => {
      const text = review({ ...request, kind, object: 1, oldObject: 2 });
      const written = text
        .replace('"object":1', `"object":${object}`)
        .replace('"oldObject":2', `"oldObject":${oldObject}`);
      const found = decoded(written);
      const known = found.saysKind?.() === true;
      assert.equal(isRead(found.request, "object"), false, written);
      return known;
    };
    const rest = `"x":"${"x".repeat(2_100)}"}`;
    const pod = { group: "", version: "v1", kind: "Pod" };
    assert.equal(about(pod, `{"kind":"Pod","apiVersion":"v1",${rest}`), true);
    assert.equal(
      about({ group: "a.io", version: "v1", kind: "B" }, `{"apiVersion":"a.io/v1","kind":"B",${rest}`),
      true,
    );
    const good = `{"kind":"Pod","apiVersion":"v1",${rest}`;
    for (const other of [
      `{"kind":"Pods","apiVersion":"v1",${rest}`,
      `{"kind":"Pod","apiVersion":"v12",${rest}`,
      `{"apiVersion":"v1",${rest}`,
      `{${rest.slice(0, -1)},"kind":"Pod","apiVersion":"v1"}`,
    ]) {
      assert.equal(about(pod, other), false, other);
      assert.equal(about(pod, good, other), false, other);
    }
    // A kind whose characters are the bytes of another.
    assert.equal(about({ ...pod, kind: "P\u00c3\u00a9" }, `{"kind":"P\u00e9","apiVersion":"v1",${rest}`), false);
    // A kind that is written to look like the beginning of an object.
    assert.equal(about({ ...pod, kind: 'Pod","y":"z' }, `{"kind":"Pod","y":"z","apiVersion":"v1",${rest}`), false);
  });

  test("so is the payload of a raw review", () => {
    const payload = { a: [1, { b: "x".repeat(2_100) }] };
    const found = decodeRawReview(Buffer.from(JSON.stringify({ request: payload })));
    assert.ok(found.kind === "raw" && !isRead(found, "payload"));
    assert.equal(Buffer.from(found.requestBytes()).toString(), JSON.stringify(payload));
    assert.deepEqual(found.payload, payload);
    assert.deepEqual({ ...found }.payload, payload);
  });

  test("what is wrong beside them is told with the same words and places", () => {
    for (const [from, to] of [
      ['"uid":', '"id":'],
      ['"dryRun":true', '"dryRun":"yes"'],
      ['"name":"x","object"', '"Name":"x","object"'],
    ] as const) {
      const text = review(request).replace(from, to);
      const whole = text.replace('"a":[1]', '"a":[9]').replace("9", "1.0");
      const [inParts, asWhole] = [text, whole].map((each) => decodeAdmissionReview(Buffer.from(each)));
      assert.equal(inParts?.kind, "problem");
      const words = (problem: unknown): string => String((problem as { text: string }).text).replace(/column \d+/, "");
      assert.equal(words(inParts), words(asWhole));
    }
  });
});
