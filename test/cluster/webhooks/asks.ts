/** Whether an API server would ask a webhook about a request, as it decides that itself. */
import {
  ADMISSION_REQUEST,
  ADMISSION_TYPES,
  CelError,
  createEnvironment,
  DYN,
  type Value,
} from "../../../src/cel/index.js";
import type { DerivedWebhook } from "../../../src/cluster/webhooks/derived-webhook.js";
import { prepareSelector } from "../../../src/kinds/shared/match/label-selector.js";
import { attributesOf } from "../../../src/kinds/shared/match/request-attributes.js";
import { prepareRule, ruleMatches } from "../../../src/kinds/shared/match/resource-rule.js";
import { labelsOf } from "../../../src/kubernetes/object.js";
import type { AdmissionQuestion } from "../../../src/policy/index.js";

const ENVIRONMENT = createEnvironment({
  flavour: "kubernetes",
  objectTypes: ADMISSION_TYPES,
  variables: [
    { name: "object", type: DYN },
    { name: "oldObject", type: DYN },
    { name: "request", type: ADMISSION_REQUEST },
  ],
});

type Answer = "asks" | "doesn't" | "refuses";

/** Without a look at other versions of a resource. */
export function asks(
  webhook: DerivedWebhook,
  { request }: AdmissionQuestion,
  namespaceLabels: Readonly<Record<string, string>>,
): Answer {
  const about = attributesOf(request);
  if (!webhook.rules.some((rule) => ruleMatches(prepareRule(rule), about, about.resource))) return "doesn't";
  const ofNamespaces = about.resource.resource === "namespaces";
  const inNamespace = about.namespace !== "" || ofNamespaces;
  const labels = ofNamespaces && about.object !== undefined ? labelsOf(about.object) : namespaceLabels;
  if (inNamespace && !prepareSelector(webhook.namespaceSelector).matches(labels)) return "doesn't";
  const ofObjects = prepareSelector(webhook.objectSelector);
  const objects = about.operation === "CONNECT" ? [] : [about.object, about.oldObject];
  const holds = objects.some((object) => object !== undefined && ofObjects.matches(labelsOf(object)));
  if (!ofObjects.empty && !holds) return "doesn't";
  const results = webhook.matchConditions.map(({ expression }) => {
    const compiled = ENVIRONMENT.compile(expression);
    if (!compiled.ok) throw new Error(`${expression}: ${compiled.text}`);
    return compiled.program.evaluate({
      object: (request.object ?? null) as Value,
      oldObject: (request.oldObject ?? null) as Value,
      request: request as never,
    }).result;
  });
  if (results.includes(false)) return "doesn't";
  if (!results.some((result) => result instanceof CelError)) return "asks";
  return webhook.failurePolicy === "Fail" ? "refuses" : "doesn't";
}
