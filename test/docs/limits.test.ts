/** Limits that pages name are those of the code: each row is a piece of a page's text, with the number of a constant in it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { KUBERNETES_COST_LIMIT } from "../../src/cel/program.js";
import { MAX_LIST_LENGTH, MAX_TEXT_LENGTH } from "../../src/cel/values/limits.js";
import { THREADS_FROM_BYTES } from "../../src/cli/apply/run.js";
import { PULLED } from "../../src/cli/modules/pull-image.js";
import {
  EVENT_BURST,
  EVENTS_PER_SECOND,
  MAX_HELD_BYTES,
  MAX_REVIEWS,
  REVIEW_MS,
  SETTLE_MS,
} from "../../src/cluster/approver/limits.js";
import {
  CHANGE_DELAY_MS,
  FILE_LOOK_MS,
  LONGEST_CHANGE_DELAY_MS,
  MAX_MESSAGE_LENGTH,
  MAX_PROBLEMS_OF_NAMESPACE,
  MAX_PROPERTIES,
  MAX_PROPERTY_LENGTH,
  MAX_REPORT_RESULTS,
  MAX_RESULT_BYTES,
  MAX_WORD_LENGTH,
  OBJECTS_AT_A_TIME,
} from "../../src/cluster/audit/audit-limits.js";
import { LIVE_MS, RENEW_MS } from "../../src/cluster/replicas/limits.js";
import { MAX_TOLD } from "../../src/cluster/shadow/fact.js";
import {
  MAX_DOCUMENTS,
  MAX_KIND_BYTES,
  MAX_NAMESPACE_BYTES,
  MAX_NAMESPACE_DOCUMENTS,
  PRESENCE_POLL_MS,
} from "../../src/cluster/sources/limits.js";
import { MOST_WEBHOOKS } from "../../src/cluster/webhooks/configuration.js";
import { DEFAULT_TIMEOUT_SECONDS } from "../../src/cluster/webhooks/demand.js";
import { MOST_WEBHOOK_BYTES } from "../../src/cluster/webhooks/mistakes.js";
import {
  MOST_CONDITIONS,
  MOST_EXPRESSION_BYTES,
  MOST_EXPRESSIONS_BYTES,
} from "../../src/cluster/webhooks/portable-conditions.js";
import { MAX_FILE_BYTES } from "../../src/config/config-files.js";
import { MAX_ALIASED_VALUES } from "../../src/config/documents/node-builder.js";
import { NAMESPACED_MODULE_MIB } from "../../src/config/from-cluster/namespaced-limits.js";
import { JSON_MAX_DEPTH } from "../../src/data/json-reader.js";
import { YAML_MAX_DEPTH } from "../../src/data/yaml/node.js";
import { MAX_LAYOUT_FILES, MAX_LAYOUT_INDEX_BYTES, MAX_LAYOUT_INDEX_VALUES } from "../../src/fetch/image-layout.js";
import {
  MAX_ANSWER_BYTES as MANIFEST_BYTES,
  MAX_ANSWER_VALUES as MANIFEST_VALUES,
  MAX_FOLDER_BYTES,
  MAX_MODULE_BYTES,
  PASSING_BYTES,
} from "../../src/fetch/limits.js";
import { MAX_TRUSTED_PARTS, MAX_TRUSTED_ROOT } from "../../src/fetch/signatures/cosign-signer.js";
import { REFUSAL_KEPT_MS } from "../../src/fetch/signatures/signature-checks.js";
import {
  MAX_ATTESTATION_BYTES,
  MAX_ATTESTATIONS_BYTES,
  MAX_SIGNATURES_BYTES,
} from "../../src/fetch/signatures/signature-layer.js";
import { MAX_STATEMENT_VALUES } from "../../src/fetch/signatures/statement.js";
import { MAX_TEXT_LENGTH as EXPLAINED_TEXT } from "../../src/kinds/explanation/value-text.js";
import { MAX_ASKED_CHARACTERS, MAX_MEMBER_CALLS } from "../../src/kinds/group/member-calls.js";
import { MUTATION_MAX_SIZE } from "../../src/kinds/shared/mutation/conversion.js";
import {
  ABSENCE_KEPT_MS,
  ANSWER_KEPT_MS,
  EQUIVALENTS_KEPT_MS,
  LAST_BACKOFF_MS,
  LAST_FAILURE_MS,
  LAST_REFUSAL_MS,
  MAX_ANSWER_BYTES,
  MAX_NAMED_STORES,
  MAX_STALENESS_MS,
  MAX_STORE_BYTES,
  MAX_STORE_OBJECTS,
  MAX_STORES,
  MAX_STORES_BYTES,
  NAMED_STORE_KEPT_MS,
  PAGE_ITEMS,
  PARAMETER_WAIT_MS,
  UNKNOWN_KIND_KEPT_MS,
  UNWATCHED_KIND_KEPT_MS,
  VERSIONS_KEPT_MS,
  WATCH_SILENCE_MS,
} from "../../src/kubernetes/client/limits.js";
import { RETIRED_MS } from "../../src/loader/from-cluster/cluster-policies.js";
import { MAX_QUESTION_BYTES, MAX_QUESTIONS } from "../../src/page/handler.js";
import { MAX_ANSWER_MS } from "../../src/page/play/thread-playground.js";
import { MAX_DRAFT_LENGTH } from "../../src/page/questions.js";
import { MAX_WAITING, MAX_WAITING_BYTES, PATIENCE_MS } from "../../src/policy/served/shadow/queue.js";
import { MAX_EXAMPLES } from "../../src/policy/served/shadow/tally.js";
import { SLICE_MS } from "../../src/policy/turns.js";
import { SILENT_MS } from "../../src/server/drain.js";
import { LARGE_BODY, MAX_WAITING_BODIES } from "../../src/server/large-bodies.js";
import { DEFAULT_BODY_LIMIT } from "../../src/server/server.js";
import { HEADERS_TIMEOUT_MS, MAX_HEADER_BYTES, REQUEST_TIMEOUT_MS } from "../../src/server/wire-problems.js";
import { HUNG_AFTER_MS, LOADING_HUNG_AFTER_MS, SUSPECT_AFTER_MS } from "../../src/serving/heartbeats.js";
import { STOP_WITHIN_MS } from "../../src/telemetry/otlp/stop-within.js";
import { COUNTER_LIMITS, HISTOGRAM_LIMITS } from "../../src/telemetry/series.js";
import {
  DEFAULT_GUEST_LIMITS,
  DEFAULT_TIMEOUT_MS,
  FINDINGS_CHARACTERS,
  LOAD_TIMEOUT_FACTOR,
  mostPatchBytes,
} from "../../src/wasm/limits.js";
import { NAME_LENGTH } from "../../src/wasm/run/guest/guest.js";
import { INLINE_QUESTION_BYTES } from "../../src/wasm/run/main-thread/main-thread-calls.js";
import { INLINE_MS, ONCE_MS, UNPROVED_MS, UNPROVED_PAUSE_MS } from "../../src/wasm/run/main-thread/trial.js";
import { ANSWER_MS, MAX_BODY_BYTES, MAX_BODY_VALUES } from "../../src/world/http/limits.js";
import { MAX_PEM_CHARACTERS } from "../../src/world/http/pem.js";
import {
  MAX_KEPT_VERDICT_BYTES,
  MAX_VERDICTS,
  UNVERIFIED_KEPT_MS,
  VERIFIED_KEPT_MS,
} from "../../src/world/images/registry-trust.js";
import { LIST_MS, MAX_LIST_BYTES, MAX_LIST_OBJECTS } from "../../src/world/objects/cluster-objects.js";
import { MAX_ANSWERS_BYTES } from "../../src/world/request-external.js";
import { LARGEST_REQUEST } from "../../src/x509/pkcs10/index.js";
import { sourceConstant } from "../support/source-constant.js";

const { hostCallBytes, hostCalls, logBytes, logLineBytes, memoryPages, outputBytes } = DEFAULT_GUEST_LIMITS;
const PAGE = 64 * 1024;

/** As pages write them. */
const count = (number: number): string => number.toLocaleString("en-US");
const s = (milliseconds: number): string => `${milliseconds / 1000} s`;
const ms = (milliseconds: number): string => `${milliseconds} ms`;
const min = (milliseconds: number): string => `${milliseconds / 60_000} min`;
const kib = (bytes: number): string => `${bytes / 1024} KiB`;
const mib = (bytes: number): string => `${bytes / (1024 * 1024)} MiB`;
/** Small numbers are words in a sentence. */
const word = (number: number): string =>
  ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"][number] ?? count(number);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** By page: what stands there. */
const LIMITS: Readonly<Record<string, readonly string[]>> = {
  "security.md": [
    `up to ${mib(memoryPages * PAGE)} of its own`,
    `The main thread runs it for ${ms(INLINE_MS)} at most`,
    `one stretch of ${ms(sourceConstant("wasm", "STALLED_MS"))} or more`,
    `(${ms(ONCE_MS)} for a first call, one in ${ms(UNPROVED_PAUSE_MS)})`,
    `lines under the policy's name, ${kib(logBytes)} for a call`,
    `interrupted every ${ms(SLICE_MS)}`,
    `${mib(DEFAULT_BODY_LIMIT)}, ${JSON_MAX_DEPTH} levels, ${count(sourceConstant("server", "MAX_VALUES"))} values, ${count(
      sourceConstant("server", "MAX_VALUES") / sourceConstant("admission", "VALUES_FOR_A_MEMBER"),
    )} members of one object`,
    `${s(HEADERS_TIMEOUT_MS)} for headers, ${s(REQUEST_TIMEOUT_MS)} for a request`,
    `never longer than the API server waits (${sourceConstant("cluster", "LONGEST_TIMEOUT_SECONDS")} s)`,
  ],
  "http.md": [
    `nests deeper than ${JSON_MAX_DEPTH} levels`,
    `headers took longer than ${s(HEADERS_TIMEOUT_MS)}, or the whole request longer than ${s(REQUEST_TIMEOUT_MS)}`,
    `more than ${count(sourceConstant("server", "MAX_VALUES"))} JSON values for every ${mib(DEFAULT_BODY_LIMIT)} of that`,
    `${MAX_WAITING_BODIES} bodies of more than ${kib(LARGE_BODY)} wait to be read`,
    `headers of more than ${kib(MAX_HEADER_BYTES)}`,
    `not all processes handed over theirs within ${s(sourceConstant("serving", "COLLECT_WITHIN_MS"))}`,
    `at most ${sourceConstant("server", "MAX_SHOWN")} printable characters of what was asked, and compare only the first ${sourceConstant("server", "MAX_COMPARED")} names`,
    `cut to ${count(sourceConstant("telemetry", "MESSAGE_CHARACTERS"))} characters`,
    `stopped once it has run for ${ms(sourceConstant("wasm", "ASKED_AFTER_MS"))}`,
    `${mib(sourceConstant("server", "MOST_BYTES"))} at most`,
    `room for ${word(sourceConstant("server", "LEAST_BODIES"))} bodies of \`--max-body-bytes\``,
    `for at most ${ms(sourceConstant("server/paced-reading", "TURN_MS"))} before others have their turn`,
    `drops keys of more than ${sourceConstant("policy", "LONGEST")} characters`,
    `the latest ${word(MAX_EXAMPLES)} that differ`,
    `and why (${sourceConstant("policy", "MESSAGE_CHARACTERS")} characters`,
    `${MAX_WAITING} requests with bodies of ${mib(MAX_WAITING_BYTES)} together may wait, each for ${s(PATIENCE_MS)}`,
    `cut at ${count(sourceConstant("kinds", "MAX_MESSAGE"))} characters`,
    `more than ${sourceConstant("kinds", "MAX_WAITING")} requests wait`,
    `checking takes longer than ${s(sourceConstant("kinds", "TIMEOUT_MS"))}`,
    `A body may have ${mib(sourceConstant("kinds", "BODY_LIMIT"))}`,
    `was none for ${s(sourceConstant("kinds", "IDLE_MS"))}`,
    `| ${s(SUSPECT_AFTER_MS)} | \`/readiness\` answers 503`,
    `| ${s(HUNG_AFTER_MS)} | it is killed (SIGKILL)`,
    `| ${s(LOADING_HUNG_AFTER_MS)}, while it loads policies`,
    `starts after ${s(sourceConstant("serving", "FIRST_MS"))}, the next one after 1 s, and so on up to ${s(sourceConstant("serving", "LONGEST_MS"))}`,
    `has not loaded the policies after ${s(sourceConstant("serving", "PREPARE_WITHIN_MS"))}`,
    `killed ${s(2 * STOP_WITHIN_MS)} after \`--drain-grace\``,
    `on which nothing comes for ${ms(SILENT_MS)}`,
    `${s(STOP_WITHIN_MS)} in each serving process, which have ${s(2 * STOP_WITHIN_MS)} to end`,
  ],
  "guests.md": [
    `at most ${ms(INLINE_MS)} by the clock`,
    `one stretch of ${ms(sourceConstant("wasm", "STALLED_MS"))} or more without a look at it`,
    `${ms(UNPROVED_MS)} in all when it is not known to end`,
    `In ${ms(UNPROVED_PAUSE_MS)} one of these may have ${ms(ONCE_MS)}`,
    `after ${sourceConstant("wasm", "FIRST_PROOF")} calls on threads the main thread is tried again`,
    `up to ${count(sourceConstant("wasm", "LONGEST_PROOF"))} when calls come to nothing there again`,
    `data document included, has more than ${kib(INLINE_QUESTION_BYTES)}`,
    `an answer of more than ${kib(sourceConstant("wasm", "INLINE_ANSWER_BYTES"))} is read on a thread`,
    `more than ${mib(sourceConstant("wasm", "LARGEST_CODE_BYTES"))} of code, a function of more than ${kib(
      sourceConstant("wasm", "LARGEST_FUNCTION_BYTES"),
    )}, a memory that starts with more than ${mib(sourceConstant("wasm", "LARGEST_MEMORY_PAGES") * PAGE)} (${mib(
      sourceConstant("wasm", "LARGEST_MARKED_PAGES") * PAGE,
    )} when the module marks what it writes to), tables of more than ${count(sourceConstant("wasm", "LARGEST_TABLE"))} entries, functions or blocks of more than ${sourceConstant("wasm", "MOST_VALUES")} parameters and results`,
    `the first ${word(sourceConstant("wasm", "PROOF"))} times, when it has more than ${kib(sourceConstant("wasm", "SMALL_CODE_BYTES"))} of code`,
    `else \`--policy-timeout\` (${s(DEFAULT_TIMEOUT_MS)})`,
    `${word(LOAD_TIMEOUT_FACTOR)} times as long for the check of settings at load`,
    `answered ${sourceConstant("wasm", "GRACE_MS")} to ${ms(sourceConstant("wasm", "GRACE_MS") + sourceConstant("wasm", "TICK_MS"))} after the end of its time`,
    `| memory | ${mib(memoryPages * PAGE)}, \`memoryLimitMiB\``,
    `| answer, or standard output | ${word(sourceConstant("wasm", "ANSWER_FACTOR"))} times its question and 1 MiB, at most ${mib(outputBytes)}`,
    `and 1 MiB, at most ${mib(mostPatchBytes(Number.POSITIVE_INFINITY))}`,
    `annotations and status of an answer | ${FINDINGS_CHARACTERS / 1024} Ki characters together`,
    `| calls to the host | ${count(hostCalls)} |`,
    `| what a call to the host asks with | ${mib(hostCallBytes)} |`,
    `| name of a call to the host | ${NAME_LENGTH} characters |`,
    `| log lines | ${kib(logBytes)} together, each at most ${kib(logLineBytes)}`,
    `computed for ${ms(sourceConstant("wasm", "LONG_AFTER_MS"))} leaves its slot`,
    `more than ${sourceConstant("wasm", "MOST_GLOBALS")} mutable globals`,
    `until ${sourceConstant("wasm", "TRIAL_CALLS")} have been compared and agreed; later one in ${count(sourceConstant("wasm", "TRIAL_EVERY"))} does, and no more than one in ${s(sourceConstant("wasm", "TRIAL_PAUSE_MS"))}`,
    `A state has at most ${mib(sourceConstant("wasm", "STATE_BYTES"))} beside the module's own; calls with one of more than ${mib(sourceConstant("wasm", "INLINE_IMAGE_BYTES"))} run on threads`,
  ],
  "groups.md": [
    `at most ${MAX_MEMBER_CALLS} different questions to members`,
    `at most ${MAX_ASKED_CHARACTERS / 2 ** 20} Mi characters together`,
    `other requests have their turn every ${ms(SLICE_MS)}`,
  ],
  "cel.md": [
    `texts made of more than ${MAX_TEXT_LENGTH / 2 ** 20} Mi characters`,
    `lists of more than ${MAX_LIST_LENGTH / 1_000_000} million elements`,
    `patterns from data of more than ${count(sourceConstant("cel", "MAX_DYNAMIC_SIZE"))} instructions`,
    `more than about ${ms(sourceConstant("cel", "MAX_FIND_ALL_TIME"))}`,
    `Expressions of more than ${count(sourceConstant("cel/hints", "MAX_LENGTH"))} characters have no hints, and of one expression the first ${word(sourceConstant("cel", "MAX_ISSUES"))} issues have`,
  ],
  "validating-admission-policies.md": [
    `have their turn every ${ms(SLICE_MS)}`,
    `costs more than Kubernetes allows (${count(KUBERNETES_COST_LIMIT)} units`,
  ],
  "cluster.md": [
    `| one namespace | ${MAX_NAMESPACE_DOCUMENTS} objects, ${mib(MAX_NAMESPACE_BYTES)} |`,
    `| all namespaces together | ${count(MAX_DOCUMENTS)} objects, ${mib(MAX_KIND_BYTES)} |`,
    `| what stands in no namespace | ${count(MAX_DOCUMENTS)} objects, ${mib(MAX_KIND_BYTES)} |`,
    `it asks every ${s(PRESENCE_POLL_MS)} which kinds there are`,
    `has pages of ${PAGE_ITEMS} objects`,
    `looked at again when policies are reloaded, and ${s(SETTLE_MS)} after Namespaces or RBAC objects change`,
    `Limits: ${MAX_REVIEWS} reviews at a time, ${s(REVIEW_MS)} each; ${mib(MAX_HELD_BYTES)} of undecided requests are held`,
    `${EVENT_BURST} events at once and ${EVENTS_PER_SECOND} a second after`,
    `others ${min(VERSIONS_KEPT_MS)} or until a CustomResourceDefinition of their group changes`,
    `kinds that are not there ${s(UNKNOWN_KIND_KEPT_MS)}`,
    `Where these definitions may not be watched: ${s(UNWATCHED_KIND_KEPT_MS)}`,
    `| versions of a resource | ${s(EQUIVALENTS_KEPT_MS)} |`,
    `at most ${MAX_STORES}, and ${mib(MAX_STORES_BYTES)} together`,
    `at most ${MAX_NAMED_STORES}, until they are not asked for during ${min(NAMED_STORE_KEPT_MS)}`,
    `| ${s(ANSWER_KEPT_MS)}; an object that is not there ${s(ABSENCE_KEPT_MS)} |`,
    `up to ${min(LAST_REFUSAL_MS)} where the API server refuses, ${s(LAST_FAILURE_MS)} where it could not be reached`,
    `waits up to ${s(LAST_BACKOFF_MS)} between attempts, and is given up for dead after ${s(WATCH_SILENCE_MS)} of silence`,
    `serves for ${min(MAX_STALENESS_MS)}; after that lists fail. A list may have ${count(MAX_STORE_OBJECTS)} objects and ${mib(MAX_STORE_BYTES)}; answers ${mib(MAX_ANSWER_BYTES)}`,
    `A policy waits at most ${s(PARAMETER_WAIT_MS)} for a parameter`,
    `with at most ${MOST_WEBHOOKS} webhooks each`,
    `\`matchConditions\`; ${DEFAULT_TIMEOUT_SECONDS} s |`,
    `there are at most ${MOST_CONDITIONS} with ours`,
    `${s(LIVE_MS)} after its last sign of life`,
    `replicas serve the policy for ${RETIRED_MS === 60_000 ? "another minute" : s(RETIRED_MS)}`,
    `A webhook may have ${kib(MOST_WEBHOOK_BYTES)}, an expression ${kib(MOST_EXPRESSION_BYTES)} and all of a webhook's expressions ${kib(MOST_EXPRESSIONS_BYTES)}`,
    `One object has ${kib(sourceConstant("cluster", "MOST_OBJECT_EXPRESSION_BYTES"))} of them at most`,
    `in their Leases, every ${s(RENEW_MS)}`,
    `A replica reports ${MAX_TOLD} versions at most`,
    `with ${sourceConstant("cluster", "HEAP_MIB")} MiB of heap`,
    `It begins ${s(CHANGE_DELAY_MS)} after policies or replicas have changed (after ${LONGEST_CHANGE_DELAY_MS === 60_000 ? "a minute" : s(LONGEST_CHANGE_DELAY_MS)} at most, when they go on changing; files are looked at every ${s(FILE_LOOK_MS)})`,
    `Limits: pages of ${PAGE_ITEMS} objects, fewer where they are large; ${MAX_REPORT_RESULTS} results in a report`,
    `${count(MAX_MESSAGE_LENGTH)} characters in a message, ${MAX_PROPERTY_LENGTH} in a property (${MAX_PROPERTIES} of them), ${MAX_WORD_LENGTH} in a category`,
    `and ${count(MAX_RESULT_BYTES)} bytes in a result`,
    `${MAX_PROBLEMS_OF_NAMESPACE} lines about reports of one namespace`,
    `${OBJECTS_AT_A_TIME} objects wait for guests or look-ups at a time`,
  ],
  "design/cluster.md": [`could not be renewed for ${s(sourceConstant("cluster", "RENEW_DEADLINE_MS"))}`],
  "replay.md": [
    `when more than ${mib(sourceConstant("telemetry", "WAITING_BYTES"))} of requests wait, or a request is longer than ${mib(sourceConstant("telemetry", "LONGEST_BYTES"))}`,
    `(${sourceConstant("telemetry", "NAMED_PLACES")} at most)`,
    `beyond ${kib(sourceConstant("telemetry", "MOST_YAML"))} of YAML in a request`,
    `more than ${sourceConstant("telemetry", "KEPT_TEXTS")} different texts`,
    `the first ${word(sourceConstant("offline", "NAMED"))} are named`,
  ],
  "configuration.md": [
    `at most ${mib(MAX_FILE_BYTES)}; nesting is at most ${YAML_MAX_DEPTH} levels; aliases may stand for at most ${count(MAX_ALIASED_VALUES)} values together`,
    `MiB of a policy's modules; without it ${NAMESPACED_MODULE_MIB}`,
    `integer, 1 to ${sourceConstant("config", "MAX_TIMEOUT_SECONDS")} |`,
    `integer, 1 to ${sourceConstant("config", "MAX_MEMORY_MIB")} |`,
  ],
  "page.md": [
    `| has | ${count(MAX_DRAFT_LENGTH)} characters; with its payload ${mib(MAX_QUESTION_BYTES)} |`,
    `${s(sourceConstant("page", "MAX_EVALUATION_MS"))} to be evaluated, whatever its \`timeoutEvalSeconds\`; ${s(MAX_ANSWER_MS)} in all`,
    `${capital(word(MAX_QUESTIONS))} questions are`,
  ],
  "kyverno.md": [
    `An expression may cost ${count(sourceConstant("kinds", "EXPRESSION_COST"))} units, a token has at most ${kib(sourceConstant("kinds", "LONGEST_TOKEN"))}`,
    `| an answer of an HTTP server | ${count(MAX_BODY_BYTES)} bytes, ${count(MAX_BODY_VALUES)} values, ${ANSWER_MS / 1000} seconds |`,
    `| a list of objects | ${count(MAX_LIST_OBJECTS)} objects, ${mib(MAX_LIST_BYTES)}, ${LIST_MS / 1000} seconds`,
    `of an image | ${kib(MANIFEST_BYTES)} and ${count(MANIFEST_VALUES)} values each |`,
    `its signature | ${mib(MAX_ATTESTATION_BYTES)} and ${count(MAX_STATEMENT_VALUES)} values; all of one image ${mib(MAX_ATTESTATIONS_BYTES)} |`,
    `of an attestor | ${mib(MAX_TRUSTED_ROOT)}, ${MAX_TRUSTED_PARTS} certificates and keys |`,
    `in ${MAX_PEM_CHARACTERS / 1024} Ki characters |`,
    `those of entries aside | ${mib(MAX_ANSWERS_BYTES)} of memory`,
    `or an artifact | ${s(sourceConstant("world", "IMAGE_MS"))}`,
    `a tag's digest for ${s(ANSWER_KEPT_MS)}`,
    `that was found for ${VERIFIED_KEPT_MS / 60_000} minutes, one that was not for ${s(UNVERIFIED_KEPT_MS)}. At most ${count(MAX_VERDICTS)}, ${mib(sourceConstant("world", "MAX_VERDICTS_BYTES"))}; one with an attestation above ${mib(MAX_KEPT_VERDICT_BYTES)}`,
  ],
  "certificate-request-policies.md": [
    `| a signing request in PEM | ${count(LARGEST_REQUEST)} bytes`,
    `| a rule for one value | ${count(sourceConstant("kinds", "RULE_COST"))} units of cost`,
  ],
  "modules.md": [
    `a module has at most ${mib(MAX_MODULE_BYTES)}`,
    `A server keeps ${mib(MAX_FOLDER_BYTES)} of modules there`,
    `(${mib(PASSING_BYTES)} of such, and of what is being downloaded`,
    `| ${NAMESPACED_MODULE_MIB} MiB, or \`--namespaced-policy-module-size\``,
    `| a manifest | ${kib(sourceConstant("loader", "NAMESPACED_MANIFEST_BYTES"))} and ${count(sourceConstant("loader", "NAMESPACED_MANIFEST_VALUES"))} values |`,
    `lists the signatures has at most ${mib(MAX_SIGNATURES_BYTES)}, as registries have it, and ${count(sourceConstant("fetch", "MAX_SIGNATURES_VALUES"))} values`,
    `${kib(sourceConstant("fetch", "MAX_ANNOTATION_CHARACTERS"))} each, a payload ${kib(sourceConstant("fetch", "MAX_PAYLOAD_BYTES"))}, and of all payloads the smallest ${mib(sourceConstant("fetch", "MAX_PAYLOADS_BYTES"))}`,
    `turn every ${ms(sourceConstant("fetch", "SLICE_MS"))}, and a refusal is believed for ${s(REFUSAL_KEPT_MS)}`,
    `configurations have at most ${kib(MANIFEST_BYTES)} and ${count(MANIFEST_VALUES)} values`,
  ],
  "apply.md": [
    `From ${mib(THREADS_FROM_BYTES)} on, all processors are used`,
    `\`index.json\` of more than ${mib(MAX_LAYOUT_INDEX_BYTES)} or ${count(MAX_LAYOUT_INDEX_VALUES)} values, and more than ${count(MAX_LAYOUT_FILES)} files`,
  ],
  "mutating-admission-policies.md": [`One mutation may give ${mib(MUTATION_MAX_SIZE)}`],
  "metrics.md": [
    `| with a kind, operation or namespace of a request | ${count(COUNTER_LIMITS.chosen)} | ${count(HISTOGRAM_LIMITS.chosen)} |`,
    `| ${count(COUNTER_LIMITS.fixed)} | ${count(HISTOGRAM_LIMITS.fixed)} |`,
    `of more than ${sourceConstant("telemetry", "MAX_CHOSEN_CHARACTERS")} characters is \`other\``,
    `does not hand over its part within ${s(sourceConstant("serving", "COLLECT_WITHIN_MS"))}`,
  ],
  "command-line.md": [
    `a part of more than ${mib(PULLED.partBytes)} is left out with a warning; more than ${count(PULLED.manifests)} manifests, or more than ${PULLED.lists} lists`,
    `Texts are cut after ${EXPLAINED_TEXT} characters`,
    `An evaluation ends after ${s(sourceConstant("cli", "TIME_LIMIT_MS"))}`,
    `the last ${sourceConstant("cli", "LINES")} lines`,
  ],
  "differences.md": [
    `at most ${NAMESPACED_MODULE_MIB} MiB unless an option says otherwise`,
    `at most ${kib(sourceConstant("wasm", "MAX_METADATA_BYTES"))} | it is read while requests wait`,
    `${mib(memoryPages * PAGE)} (\`memoryLimitMiB\`)`,
    `${count(hostCalls)} calls, ${kib(logBytes)} of log lines`,
    `${s(HEADERS_TIMEOUT_MS)} for headers, ${s(REQUEST_TIMEOUT_MS)} for a request, ${s(sourceConstant("server", "KEEP_ALIVE_MS"))} idle`,
    `${kib(MOST_WEBHOOK_BYTES)}, ${kib(MOST_EXPRESSION_BYTES)} for an expression, ${kib(MOST_EXPRESSIONS_BYTES)} for all`,
    `| ${MAX_NAMESPACE_DOCUMENTS}, and ${mib(MAX_NAMESPACE_BYTES)}`,
  ],
};

for (const [page, pieces] of Object.entries(LIMITS)) {
  describe(`limits in docs/${page}`, () => {
    const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), "utf8").replace(/\s+/g, " ");
    for (const piece of pieces)
      test(piece, () => assert.ok(text.includes(piece), `docs/${page} does not say: ${piece}`));
  });
}
