/** A credential in a text: the form that the text is in makes no difference. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Credentials } from "../../../src/telemetry/recording/credentials.js";
import { Redaction } from "../../../src/telemetry/recording/redaction.js";

/** Names of credentials as people write them. */
const NAMES = ["password", "DB_PASSWORD", "spring.datasource.password", "apiKey", "client-secret", "authToken2"];
/** Words of one credential, none of which may be left. */
const [FIRST, SECOND, THIRD] = ["hunter2zz", "swordfishzz", "opensesamezz"];
const WORDS = [FIRST, SECOND, THIRD];
const [ALL, LIST] = [WORDS.join(" "), WORDS.map((word) => `"${word}"`).join(", ")];

type Form = (name: string) => string;

const block =
  (head: string, indent: string, end = "\n"): Form =>
  (name) =>
    `${indent}${name}: ${head}${end}${WORDS.map((word) => `${indent}  ${word}${end}`).join("")}`;

/** One value each of a block style map, with lines beside it that stay. */
const YAML: Readonly<Record<string, Form>> = {
  "a plain scalar": (name) => `${name}: ${FIRST}`,
  "a plain scalar of several words": (name) => `${name}: ${ALL}`,
  "a plain scalar of several lines": (name) => `${name}: ${FIRST}\n  ${SECOND}\n\n  ${THIRD}`,
  "a scalar on the next line": (name) => `${name}:\n  ${ALL}`,
  "a scalar with marks": (name) => `${name}: ${FIRST},${SECOND}}${THIRD};x`,
  "single quotes": (name) => `${name}: '${FIRST}''s ${SECOND}; "${THIRD}'`,
  "double quotes": (name) => `${name}: "${FIRST}\\"${SECOND} # ${THIRD}"`,
  "double quotes of several lines": (name) => `${name}: "${FIRST}\n  ${SECOND}\n  ${THIRD}"`,
  "a tag": (name) => `${name}: !!str ${ALL}`,
  "an anchor": (name) => `${name}: &a ${ALL}`,
  "a quoted key": (name) => `"${name}": ${ALL}`,
  "a key in single quotes": (name) => `'${name}' : ${ALL}`,
  "a key with a tag": (name) => `!!str ${name}: ${ALL}`,
  ...Object.fromEntries(
    ["|", ">", "|-", "|+", ">-", ">+", "|2", "|2-", "|-2", ">1+", "| # why", "!!str |", "&a |-"].flatMap((head) => [
      [`a block ${head}`, (name: string) => block(head, "")(name).trimEnd()],
      [`a block ${head} with a quoted key`, (name: string) => block(head, "")(`"${name}"`).trimEnd()],
    ]),
  ),
  "a block with empty lines": (name) => `${name}: |\n\n  ${FIRST}\n\n\n  ${SECOND}\n    ${THIRD}`,
  "a block in the lines of Windows": (name) => block("|", "", "\r\n")(name).trimEnd(),
  "a list": (name) => `${name}:\n  - ${FIRST}\n  - '${SECOND}'\n  - |\n    ${THIRD}`,
  "a list that stands no deeper": (name) => `${name}:\n- ${FIRST}\n- "${SECOND}"\n- >-\n  ${THIRD}`,
  "a list in brackets": (name) => `${name}: [${FIRST}, '${SECOND}', "${THIRD}"]`,
  "a list in brackets of several lines": (name) => `${name}: [\n  ${FIRST},\n  ${SECOND}, ${THIRD}\n]`,
  "a map in braces": (name) => `other: {a: 1, ${name}: ${ALL}, b: 2}`,
  "a comment": (name) => `# ${name}: ${ALL}`,
};
/** The name is seen only where YAML is read. */
const READ_ONLY: Readonly<Record<string, Form>> = {
  "a key with an escape": (name) => `"\\x${name.charCodeAt(0).toString(16)}${name.slice(1)}": ${ALL}`,
  "a key behind a question mark": (name) => `? ${name}\n: ${ALL}`,
  "a name beside its value": (name) => `env:\n  - name: ${name}\n    value: ${ALL}`,
  "a value before its name": (name) => `env:\n  - value: ${ALL}\n    name: ${name}`,
  "an argument behind its flag": (name) => `args:\n  - --${name}\n  - ${ALL}`,
  "an alias": (name) => `${name}: &a ${ALL}\nauth:\n  token: *a`,
};
const OTHERS: Readonly<Record<string, Form>> = {
  ".env": (name) => `A=1\n${name}=${FIRST}\nZ=2\n`,
  ".env with blanks": (name) => `A=1\nexport ${name}=${ALL}\nZ=2\n`,
  ".env in quotes": (name) => `A=1\n${name}="${FIRST} \\"${SECOND}\\" # ${THIRD}"\nZ=2\n`,
  ".env of several lines": (name) => `A=1\n${name}="${FIRST}\n${SECOND}\n${THIRD}"\nZ=2\n`,
  "quotes that a shell puts together": (name) => `A=1\nexport ${name}="${FIRST}"'${SECOND}'${THIRD}\nZ=2\n`,
  ini: (name) => `[A=1]\n${name} = ${ALL}\n[Z=2]\n`,
  "ini with a colon": (name) => `[A=1]\n${name} : ${ALL}\n[Z=2]\n`,
  "ini of several lines": (name) => `[A=1]\n${name} =\n  ${FIRST}\n  ${SECOND}\n  ${THIRD}\n[Z=2]\n`,
  "ini that goes on": (name) => `[A=1]\n${name} = ${FIRST}\n  ${SECOND}\n  ${THIRD}\n[Z=2]\n`,
  properties: (name) => `A=1\n${name}=${FIRST} \\\n   ${SECOND}\\\n${THIRD}\nZ=2\n`,
  "properties without a sign": (name) => `A=1\n${name} ${FIRST}\nZ=2\n`,
  TOML: (name) => `A=1\n${name} = """\n${FIRST}\n${SECOND} "${THIRD}"\n"""\nZ=2\n`,
  "TOML with a list": (name) => `A=1\n${name} = [\n  ${LIST},\n]\nZ=2\n`,
  "a shell": (name) => `run A=1 --${name} ${FIRST} Z=2`,
  "a shell with quotes": (name) => `run A=1 --${name} "${ALL}" --${name}='${ALL}' Z=2`,
  "a shell of several lines": (name) => `run A=1 \\\n --${name} \\\n ${FIRST} \\\n Z=2`,
  Ruby: (name) => `A=1\n:${name} => '${ALL}',\nZ=2\n`,
  "a makefile": (name) => `A=1\n${name} ?= ${ALL}\n${name} := ${ALL}\nZ=2\n`,
  JSON: (name) => JSON.stringify({ "A=1": [{ [name]: ALL }, { [name]: WORDS }], "Z=2": 0 }),
  "JSON that is cut": (name) =>
    JSON.stringify({ "A=1": { [name]: `${FIRST}"${SECOND}\\` }, x: "Z=2", y: "" }).slice(0, -2),
  "JSON with a list that is cut": (name) => JSON.stringify({ "A=1": { [name]: WORDS }, x: "Z=2", y: "" }).slice(0, -2),
  "JSON with a key twice": (name) => `{"A=1": {"${name}": "${ALL}", "${name}": true}, "Z=2": 0}`,
  "JSON in JSON": (name) =>
    JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ "A=1": 0, [name]: ALL, "Z=2": 0 }) }) }),
  "JSON in JSON that is cut": (name) =>
    JSON.stringify({ a: JSON.stringify({ "A=1": 0, [name]: `${FIRST}"${SECOND}\\${THIRD}`, "Z=2": 0 }) }).slice(0, -2),
  "YAML in JSON": (name) => JSON.stringify({ "A=1": `x: 1\n${name}: |\n  ${FIRST}\n  ${SECOND}\ny: 2\n`, "Z=2": 0 }),
  "YAML in JSON that is cut": (name) =>
    JSON.stringify({ "A=1": `x: 1\n${name}: |\n  ${FIRST}\n  ${SECOND}\n`, "Z=2": "" }).slice(0, -2),
  "JSON in YAML": (name) => `"A=1": 1\nx: |\n  {"${name}": "${ALL}"}\n"Z=2": 1\n`,
  ".env in YAML": (name) => `"A=1": 1\nx: |\n  ${name}=${ALL}\n"Z=2": 1\n`,
};

/** A text in an object that is recorded, as it is written. */
function recorded(text: string): string {
  const redaction = new Redaction(new Credentials());
  const object = {
    kind: "ConfigMap",
    metadata: { annotations: { "example.com/config": text } },
    data: { "app.conf": text },
  };
  const { metadata, data } = redaction.member(["object"], object) as typeof object;
  assert.equal(data["app.conf"], metadata.annotations["example.com/config"]);
  assert.deepEqual(redaction.places.length, data["app.conf"] === text ? 0 : 2);
  for (const word of WORDS) {
    assert.ok(!data["app.conf"].includes(word), `${JSON.stringify(text)} becomes ${JSON.stringify(data["app.conf"])}`);
  }
  return data["app.conf"];
}

describe("no word of a credential is left", () => {
  for (const [what, form] of Object.entries({ ...YAML, ...READ_ONLY })) {
    test(`in YAML: ${what}`, () => {
      for (const name of NAMES) {
        const lines = form(name);
        const deeper = lines.replace(/^(?=.)/gm, "    ");
        const item = `  - x: 1\n${deeper}\n    y: 2`;
        const texts = [
          `A: 1\n${lines}\nZ: 2\n`,
          `A: 1\nin:\n${deeper}\n    y: 2\nZ: 2\n`,
          `A: 1\nin:\n${item}\n  - z: 1\nZ: 2\n`,
          `A: 1\n---\n${lines}\n---\n# nothing\n---\nZ: 2`,
        ];
        for (const text of texts) {
          assert.match(recorded(text), /^A: 1\n[\s\S]*^Z: 2\n?$/m, JSON.stringify(text));
          // It stops being YAML by a template, or a line of another form.
          if (what in READ_ONLY) continue;
          for (const rest of ["{{ range .x }}\n", "@no: [\n"])
            assert.match(recorded(`${text.trimEnd()}\n${rest}`), /^A: 1\n[\s\S]*^Z: 2\n/m, JSON.stringify(text));
        }
      }
    });
  }

  for (const [what, form] of Object.entries(OTHERS)) {
    test(`in ${what}`, () => {
      for (const name of NAMES) {
        const shown = recorded(form(name));
        assert.match(shown, /A=1[\s\S]*Z=2/, shown);
      }
    });
  }

  test("that a policy quotes, also where it has several lines", () => {
    for (const rest of ["", "@no: [\n"]) {
      const redaction = new Redaction(new Credentials());
      redaction.member([], { text: `${block("|", "")("password")}${rest}` });
      for (const word of WORDS) assert.equal(redaction.words([], `line ${word}!`), "line [redacted]!");
    }
  });

  test("under a name of two words", () => {
    for (const name of ["api key", "Access Key", "connection string", "The signing key"])
      for (const form of ["a plain scalar of several words", "a block |", "a quoted key", "a list"])
        assert.match(recorded(`A: 1\n${YAML[form]?.(name)}\nZ: 2\n@no: [\n`), /^A: 1\n[\s\S]*^Z: 2\n/m);
  });
});

test("a text in which there is none stays as it is, to the letter", () => {
  for (const text of [
    "# c\na:   1\nb: [ 1,2 ]\n",
    "secret:\n  name: x\n  key: y\n",
    "token:\n  valueFrom: {secretKeyRef: {name: x, key: token}}\n",
    "passwordPolicy:\n  length: 8\n",
    'secrets: [{name: a}, {name: "b"}]\nimagePullSecrets:\n- name: x\n',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of a shell
    "PASSWORD=${FROM}\nOTHER=$(CMD)\n",
    "password: {{ .Values.password }}\nx: {{ y }}\n",
    "password:\nother: 1\n",
    "PASSWORD=\nOTHER=1\n",
    "the password is not told here\nand the token neither\n",
    '{"password": null, "a": {"token": {"path": "x"}}}',
  ])
    assert.equal(recorded(text), text);
});

test("long texts take no longer than their length has it", () => {
  const parts = [
    "password: |\n  a\n",
    "password:\n\n\n",
    "password: [",
    "password: [\n",
    "token: [{\n",
    'token: [{}, "]\n',
    "password: '",
    'a \\"password\\": \\"',
    "- password:\n",
    "{password: a",
    "password=a\\\n",
    "token ",
    "password: > ",
  ];
  for (const part of parts) {
    const time = (length: number): number => {
      const text = part.repeat(length / part.length);
      const start = process.cpuUsage();
      new Redaction(new Credentials()).member([], { text });
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1_000;
    };
    time(20_000);
    assert.ok(time(1_000_000) < 1_500, part);
  }
});
