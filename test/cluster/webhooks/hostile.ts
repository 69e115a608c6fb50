/** Webhooks as the authors of policies may make them to have others taken for refused: what they write is repeated in the API server's messages. */
import type { DerivedWebhook } from "../../../src/cluster/webhooks/derived-webhook.js";

/** What stands in messages for other webhooks, for places, and for the ends of either. */
const TEXTS: readonly string[] = [
  "webhooks[0]",
  "webhooks[0].rules[0].resources: Required value",
  'x", webhooks[2].name: Invalid value: "y',
  "]: webhooks[2]",
  "], webhooks[0].objectSelector, webhooks[2].objectSelector",
  "webhooks[0]: Invalid value, webhooks[2]: Invalid value",
  "\nwebhooks[0].name: Required value\n",
  "webhooks[00]",
  "webhooks[-1].x",
  "webhooks[2147483648]",
  'webhooks[0].matchConditions[0].expression: Invalid value: "',
  "'webhooks[0].rules: '",
  '{"field":"webhooks[0].name","message":"m"}',
  "ValidatingWebhookConfiguration.admissionregistration.k8s.io is invalid: webhooks[0]",
  ".webhooks[0].matchConditions: duplicate entries for key",
  "webhooks[0]/webhooks[2]",
  "\u2028webhooks[0]\u0085webhooks[2]",
  "WEBHOOKS[0] webhooks[0]\twebhooks[2]",
  "[webhooks[0]]",
  "webhooks[0] ".repeat(40),
];

const RULE = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "*" as const };

/** Ways in which an author brings a text into a webhook. Some of them are valid. */
const WAYS: Readonly<Record<string, (text: string) => Partial<DerivedWebhook>>> = {
  "a label's key": (text) => ({ objectSelector: { matchLabels: { [text]: "x" } } }),
  "a label's value": (text) => ({ objectSelector: { matchLabels: { x: text, "a.b/c": "d" } } }),
  "a key, an operator and values": (text) => ({
    namespaceSelector: {
      matchExpressions: [
        { key: text, operator: "Exists" },
        { key: "x", operator: text, values: [text] },
        { key: "x", operator: "In", values: ["good", text] },
        { key: "x", operator: "In" },
        { key: "x", operator: "DoesNotExist", values: ["y"] },
      ],
    },
  }),
  "a condition's name": (text) => ({ matchConditions: [{ name: text, expression: "true" }] }),
  "two conditions of one name": (text) => ({
    matchConditions: ["true", `'${text.replace(/[\n'\\]/g, "")}' != ''`].map((expression) => ({
      name: "x",
      expression,
    })),
  }),
  "an expression that cannot be read": (text) => ({ matchConditions: [{ name: "x", expression: `${text} +` }] }),
  "an expression of another type": (text) => ({
    matchConditions: [{ name: "x", expression: JSON.stringify(text) }],
  }),
  "a valid expression": (text) => ({
    matchConditions: [{ name: "x", expression: `${JSON.stringify(text)} != ''` }],
  }),
  "a rule": (text) => ({
    rules: [
      { ...RULE, resources: [`${text}/*`, `${text}/x`] },
      { ...RULE, apiGroups: ["*", text], apiVersions: ["*", "", text], operations: [text], resources: ["*", text] },
      { ...RULE, scope: text as "*" },
    ],
  }),
  "more conditions than there may be, one of them without anything": (text) => ({
    matchConditions: [
      ...Array.from({ length: 65 }, (_, i) => ({ name: `c${i}`, expression: "true" })),
      { name: "", expression: " " },
      { name: text, expression: "" },
    ],
  }),
};

/** A webhook of a tenant. */
export interface HostileWebhook {
  /** What it is about. */
  readonly way: string;
  readonly webhook: DerivedWebhook;
}

/** A webhook that nothing is wrong with, and that asks about nothing that there is. */
export const harmless = (name: string, more: Partial<DerivedWebhook> = {}): DerivedWebhook => ({
  type: "validating",
  name: `${name}.kubewarden.admission`,
  path: `/validate/${name}`,
  rules: [RULE],
  namespaceSelector: { matchLabels: { never: "there" } },
  objectSelector: {},
  matchConditions: [],
  matchPolicy: "Equivalent",
  failurePolicy: "Ignore",
  sideEffects: "None",
  timeoutSeconds: 1,
  members: [name],
  ...more,
});

/** 200 of them, always the same. */
export const HOSTILE: readonly HostileWebhook[] = Object.entries(WAYS).flatMap(([way, bring]) =>
  TEXTS.map((text) => ({ way, webhook: harmless("m", bring(text)) })),
);
