/** The keys of test files: one definition for reading, messages about unknown keys, and the documentation. */
import { ENTRY_FIELDS } from "../../config/entry-fields.js";
import { type Field, type Fields, optional, record, required } from "../../config/record-shape.js";
import { anyValue, flag, integer, jsonObject, listOf, mapOf, oneOf, text } from "../../config/shape.js";
import { CERTIFICATE_REQUEST_OPTIONS } from "../certificate-request-options.js";
import { EXPECTATIONS, MEMBER_OUTCOMES } from "./case.js";

/** Highest HTTP code. */
const MAX_CODE = 999;

const policy = optional(text("the id of a policy"), "id in policies.yaml");
const settings = optional(jsonObject, "settings of the module, in place of the file's or the entry's", "the file's");

/** Keys of the fields beside a CSR. */
export const CERTIFICATE_REQUEST_KEYS: readonly string[] = CERTIFICATE_REQUEST_OPTIONS.map(({ testKey }) => testKey);
const certificateRequestFields: Readonly<Record<string, Field<unknown, false>>> = Object.fromEntries(
  CERTIFICATE_REQUEST_KEYS.map((key) => [key, optional(anyValue, "with `csr`")]),
);

/** The keys of payloads; a case has one of them. */
export const PAYLOAD_KEYS = ["object", "csr", "request", "raw", "rawFile"] as const;

const aboutCase = {
  name: optional(text("a name"), "for people", "its number"),
  policy,
  settings,
  object: optional(anyValue, "a Kubernetes object, or the name of a file beside the test file"),
  old: optional(anyValue, "its former state, or the name of a file; also called `oldObject`"),
  oldObject: optional(anyValue, "the same as `old`"),
  operation: optional(text("an operation"), "CREATE, UPDATE, DELETE or CONNECT"),
  namespace: optional(
    text("a namespace", { mayBeEmpty: true }),
    'of the request; `""`: none',
    "the object's, else `default`",
  ),
  request: optional(anyValue, "a whole AdmissionReview, or what is in its `request`, or the name of a file"),
  raw: optional(anyValue, "any JSON as a raw payload"),
  rawFile: optional(text("the name of a file"), "a file with a raw payload"),
  csr: optional(text("the name of a file"), "a file with a CSR"),
};

const expectations = {
  expect: optional(oneOf(...EXPECTATIONS), "what the policy comes to"),
  allowed: optional(flag, "whether the client gets a yes"),
  message: optional(text("a message", { mayBeEmpty: true }), "what the message must be"),
  messageContains: optional(text("a part of the message"), "what it must contain"),
  messageMatches: optional(text("a regular expression"), "a regular expression (RE2) that a part of it must match"),
  code: optional(integer(0, MAX_CODE), "the answer's code"),
  reason: optional(text("a reason"), "the answer's reason, such as Invalid"),
  warnings: optional(listOf(text("a warning", { mayBeEmpty: true })), "all warnings, in order; [] for none"),
  auditAnnotations: optional(mapOf(text("a text", { mayBeEmpty: true })), "all audit annotations; {} for none"),
  patch: optional(listOf(anyValue), "the JSON Patch; [] for none"),
  mutated: optional(anyValue, "the object as the policy changes it, or the name of a file"),
  members: optional(mapOf(oneOf(...MEMBER_OUTCOMES)), "what members of a group came to"),
};

/** Keys of expectations. */
export const EXPECTED_KEYS: readonly string[] = Object.keys(expectations);

/** A case. */
export const caseShape = record(
  { ...aboutCase, ...expectations, ...certificateRequestFields },
  {
    expected: "write expect: allow, deny, skip or error, and message: for its text",
    result: "write expect: allow, deny, skip or error",
    error: "write expect: error, and messageContains: for its text",
    skipped: "write expect: skip, and message: for the reason",
    input: "write object:, request: or raw:",
    resource: "write object:; a policy's file is named at the top of the test file",
  },
);

/** The keys of an entry of policies.yaml that a test file may have itself; a file of such keys needs no policies.yaml. */
const ownEntryFields: Fields = Object.fromEntries(
  Object.keys({ ...ENTRY_FIELDS.module, ...ENTRY_FIELDS.resource, ...ENTRY_FIELDS.cel })
    .filter((key) => key !== "settings")
    .map((key) => [key, optional(anyValue, "as in policies.yaml")]),
);

/** Keys that determine the kind of a file's policy. */
export const KIND_KEYS = ["module", "resource", "cel"] as const;

/** A test file; its cases are parsed one by one. */
export const fileShape = record(
  { ...ownEntryFields, policy, settings, cases: required(listOf(anyValue), "a list of cases") },
  { tests: 'write "cases"', expect: "a case has it, below cases:" },
);
