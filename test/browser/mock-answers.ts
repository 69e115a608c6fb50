/** What a server could say to the page, written down: every state of a policy, hostile words, every shape of an answer. */
import type { ExplainedAnswer, ExplainedValue } from "../../src/kinds/explanation/types.js";
import type {
  CheckAnswer,
  EvaluateAnswer,
  EvaluateQuestion,
  GroupNode,
  PagePolicy,
  PageState,
} from "../../src/page/api.js";

/** A name that does harm wherever it is taken for markup. */
export const HOSTILE = `<img src=x onerror="document.title='harmed'">`;

/** A group's expression, and where its parts stand. */
const EXPRESSION = "signed() && (!latest_tag() || exempt()) && object.spec.replicas < 10";
const LINE = { from: 0, to: EXPRESSION.length };

function at(text: string): { readonly from: number; readonly to: number } {
  const from = EXPRESSION.indexOf(text);
  return { from, to: from + text.length };
}

function member(name: string): GroupNode {
  return { kind: "member", name, parts: [], ...at(`${name}()`) };
}

const CHOICE: GroupNode = {
  kind: "or",
  ...at("!latest_tag() || exempt()"),
  parts: [{ kind: "not", ...at("!latest_tag()"), parts: [member("latest_tag")] }, member("exempt")],
};
const TREE: GroupNode = {
  kind: "and",
  ...LINE,
  parts: [
    { kind: "and", from: 0, to: at("(!latest_tag() || exempt())").to, parts: [member("signed"), CHOICE] },
    { kind: "cel", ...at("object.spec.replicas < 10"), parts: [] },
  ],
};

function policy(id: string, more: Partial<PagePolicy> = {}): PagePolicy {
  const implementation = "ValidatingAdmissionPolicy";
  return { id, kind: "cel", implementation, mode: "protect", allowedToMutate: false, ...more };
}

/** The draft of the first example. */
export const DRAFT = `# Deployments may have few replicas.
replica-limit:
  cel:
    validations:
      - expression: "object.spec.replicas <= 5"
        message: "at most 5 replicas"
`;
/** The payload of the first example. */
export const PAYLOAD = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: default
spec:
  replicas: 6
`;

/** What is served: with `many`, 500 policies more. */
export function stateOf(mode: PageState["mode"], many = false): PageState {
  const source = { kind: "entry", text: DRAFT } as const;
  const policies: PagePolicy[] = [
    policy("replica-limit", mode === "play" ? { source } : {}),
    policy("signed-images", { kind: "wasm", implementation: "extism" }),
    policy("add-label", { kind: "wasm", implementation: "kubewarden-wapc", allowedToMutate: true }),
    policy("no-latest-tag", { mode: "monitor" }),
    policy("memory-limits", {
      implementation: "ValidatingPolicy",
      outdated: "spec.validations[0].expression: 1:12: undeclared reference to 'obj'",
    }),
    policy("broken", { kind: "unavailable", error: `policies.yaml:12:5: broken.module: no such file: ${HOSTILE}` }),
    policy("trusted-workloads", {
      kind: "group",
      implementation: "group",
      group: {
        expression: EXPRESSION,
        tree: TREE,
        members: [
          { name: "signed", policy: "signed-images" },
          { name: "latest_tag", policy: "no-latest-tag" },
          { name: "exempt", policy: "trusted-workloads/exempt" },
        ],
      },
    }),
    policy(HOSTILE, { implementation: HOSTILE, outdated: HOSTILE, mode: "monitor" }),
    ...Array.from({ length: many ? 500 : 0 }, (_, index) => policy(`policy-${index + 1}`)),
  ];
  const examples = [
    { name: "A limit of replicas", draft: { kind: "entry", text: DRAFT }, payload: PAYLOAD },
    { name: "A label is added", draft: { kind: "entry", text: "mutating:\n  cel: {}\n" }, payload: PAYLOAD },
  ] as const;
  return { version: "0.1.0", mode, generation: 1, policies, examples: mode === "play" ? examples : [] };
}

/** What is wrong with a draft: every `startWith` is misspelt. */
export function checkOf(text: string): CheckAnswer {
  const problems = text.split("\n").flatMap((line, index) => {
    const unit = line.indexOf("startWith(");
    if (unit === -1) return [];
    const column = [...line.slice(0, unit)].length + 1;
    return [
      {
        severity: "error" as const,
        line: index + 1,
        column,
        endColumn: column + "startWith".length,
        path: "cel.validations[0].expression",
        message: "undeclared function 'startWith'",
        code: "cel-undeclared",
        hint: "Did you mean startsWith?",
      },
    ];
  });
  return { problems, ids: [...text.matchAll(/^([\w-]+):/gm)].map((match) => match[1] ?? "") };
}

function value(
  source: string,
  text: string,
  came: string | undefined,
  parts: readonly ExplainedValue[] = [],
  failed = false,
): ExplainedValue {
  const from = source.indexOf(text);
  return { from, to: from + text.length, text, ...(came === undefined ? {} : { value: came }), failed, parts };
}

const REPLICAS = "object.spec.replicas <= 5";

function replicas(allowed: boolean): ExplainedAnswer {
  const number = value(REPLICAS, "object.spec.replicas", allowed ? "5" : "6", [
    value(REPLICAS, "object.spec", `{"replicas": ${allowed ? 5 : 6}}`, [
      value(REPLICAS, "object", `{"apiVersion": "apps/v1", "kind": "Deployment", …}`),
    ]),
  ]);
  const root = value(REPLICAS, REPLICAS, String(allowed), [number, value(REPLICAS, "5", "5")]);
  return {
    name: "replica-limit",
    implementation: "ValidatingAdmissionPolicy",
    outcome: allowed ? "allow" : "deny",
    ...(allowed ? {} : { message: "at most 5 replicas" }),
    milliseconds: 0.24,
    parts: [{ title: "", expressions: [{ path: "validations[0].expression", source: REPLICAS, evaluations: [root] }] }],
    members: [],
    left: 0,
  };
}

function groupAnswer(): ExplainedAnswer {
  const asked = (name: string, came: string | undefined) => value(EXPRESSION, `${name}()`, came);
  const negated = value(EXPRESSION, "!latest_tag()", "false", [asked("latest_tag", "true")]);
  const choice = value(EXPRESSION, "!latest_tag() || exempt()", "false", [negated, asked("exempt", "false")]);
  const first = value(EXPRESSION, EXPRESSION.slice(0, TREE.parts[0]?.to), "false", [asked("signed", "true"), choice]);
  const root = value(EXPRESSION, EXPRESSION, "false", [
    first,
    value(EXPRESSION, "object.spec.replicas < 10", undefined),
  ]);
  const bare = { parts: [], members: [], left: 0 } as const;
  return {
    name: "trusted-workloads",
    implementation: "group",
    outcome: "deny",
    message: "The workload is not trusted.",
    milliseconds: 2.41,
    parts: [{ title: "", expressions: [{ path: "expression", source: EXPRESSION, evaluations: [root] }] }],
    members: [
      { ...bare, name: "signed", implementation: "extism", outcome: "allow", milliseconds: 1.62 },
      { ...replicas(true), name: "latest_tag", milliseconds: 0.31 },
      {
        ...bare,
        name: "exempt",
        implementation: "extism",
        outcome: "deny",
        message: "team 'web' is not exempt",
        milliseconds: 0.4,
      },
      { ...bare, name: "unasked", implementation: "extism", outcome: "not evaluated" },
    ],
    left: 0,
  };
}

/** What a group tells of its members, in the order of definition, and a remark of its own. */
const GROUP_WARNINGS = [
  "signed was accepted",
  `latest_tag: ${HOSTILE}`,
  "latest_tag: the tag 1.4 is old",
  "latest_tag was accepted",
  "exempt was rejected: team 'web' is not exempt",
  "unasked was not evaluated",
  "… and 3 more warnings",
];

function responseOf(allowed: boolean, message: string | undefined): unknown {
  const status = allowed ? {} : { status: { code: 403, message } };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid: "1", allowed, ...status } };
}

const DIFF = [
  "apiVersion: apps/v1",
  "kind: Deployment",
  "metadata:",
  "  name: web",
  "  namespace: default",
  "  labels:",
  "    app: web",
];

/** What comes of a question. */
export function evaluateOf(question: EvaluateQuestion): EvaluateAnswer {
  if (question.payload.startsWith("{broken")) {
    const payloadProblem = { severity: "error", line: 1, column: 2, path: "", message: "this is not JSON" } as const;
    return { problems: [], payloadProblem };
  }
  const problems = checkOf(question.draft?.text ?? "").problems;
  if (problems.length > 0) return { problems };
  const group = question.id === "trusted-workloads";
  const hostile = question.id === HOSTILE;
  const allowed = !group && !question.payload.includes("replicas: 6");
  const explained = group
    ? groupAnswer()
    : { ...replicas(allowed), ...(hostile ? { name: HOSTILE, message: HOSTILE } : {}) };
  const mutating = question.id === "add-label" || question.draft?.text.includes("mutating") === true;
  const same = DIFF.map((text) => ({ kind: "same" as const, text }));
  const added = { kind: "added", text: "    team.example.com/owner: platform" } as const;
  return {
    problems: [],
    answer: {
      allowed: mutating || allowed,
      response: responseOf(mutating || allowed, explained.message),
      ...(question.id === "no-latest-tag" ? { wouldDeny: "the tag latest is not allowed" } : {}),
      warnings: hostile ? [HOSTILE] : group ? GROUP_WARNINGS : [],
      explained: mutating ? { ...explained, outcome: "allow" } : explained,
      ...(mutating ? { diff: [...same, added, ...same] } : {}),
      milliseconds: 3.1,
    },
  };
}
