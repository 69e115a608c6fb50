/** `kubernetes/*`, spec kubewarden.md 7.6. */
import { parseJson, stringifyJson } from "../../../data/json.js";
import type { AccessAnswer, AccessQuestion, KubernetesReader, ListQuery } from "../../../kubernetes/reader.js";
import { AnswerCache } from "../answer-cache.js";
import type { Capability, Operation, ResourceKind } from "../host.js";
import { booleanOf, objectOf, optionalList, optionalText, textFields, textOf } from "../payload.js";
import { gateNamespace, ofNamespace } from "./confinement.js";
import { fieldMasks, masked } from "./field-masks.js";
import { ListTexts } from "./list-texts.js";

/** Milliseconds an object or an access answer is kept, unless the caller wants a fresh one. */
const KEPT_MS = 5_000;

/** @param now monotonic milliseconds */
export function kubernetesCapability(reader: KubernetesReader, now: () => number): Capability {
  const objects = new AnswerCache<{ readonly object: unknown }>(KEPT_MS, now);
  const access = new AnswerCache<AccessAnswer>(KEPT_MS, now);
  const lists = new ListTexts();

  const getResource: Operation = {
    resource: kindOf,
    gate: (payload, caller) => gateNamespace(caller, objectOf(payload, "the request").namespace),
    async run(payload, { caller }) {
      const fields = objectOf(payload, "the request");
      const kind = kindOf(payload);
      const name = textOf(fields.name, "name");
      const namespace = optionalText(fields.namespace, "namespace");
      const uncached = booleanOf(fields.disable_cache, "disable_cache");
      const masks = fieldMasks(optionalList(fields.field_masks, "field_masks", textOf));
      const key = stringifyJson([kind.apiVersion, kind.kind, name, namespace ?? null]);
      const ask = async (signal: AbortSignal) => ({
        object: await reader.get(kind, { name, ...(namespace !== undefined && { namespace }) }, signal),
      });
      const { object } = await (uncached ? objects.fresh(key, ask) : objects.get(key, ask));
      return masked(ofNamespace(caller, object), masks);
    },
  };

  const list = (namespaced: boolean): Operation => ({
    resource: kindOf,
    gate: (payload, caller) =>
      gateNamespace(caller, namespaced ? objectOf(payload, "the request").namespace : undefined),
    async run(payload, { caller, signal }) {
      const fields = objectOf(payload, "the request");
      const kind = kindOf(payload);
      const labelSelector = optionalText(fields.label_selector, "label_selector");
      const fieldSelector = optionalText(fields.field_selector, "field_selector");
      const query: ListQuery = {
        ...(namespaced && { namespace: textOf(fields.namespace, "namespace") }),
        ...(labelSelector !== undefined && { labelSelector }),
        ...(fieldSelector !== undefined && { fieldSelector }),
      };
      const masks = optionalList(fields.field_masks, "field_masks", textOf);
      const texts = await reader.texts(kind, query, signal);
      // All objects of a list are in the requested namespace, or their kind is cluster-scoped.
      if (caller.namespace !== undefined && texts.count > 0)
        ofNamespace(caller, parseJson(Buffer.from(texts.text(0)).toString("utf8")));
      return lists.answer(kind, texts, masks, caller.memoryBytes);
    },
  });

  const canI: Operation = {
    gate(payload, caller) {
      const question = questionOf(objectOf(payload, "the request").subject_access_review);
      return gateNamespace(caller, question.resourceAttributes.namespace);
    },
    async run(payload) {
      const fields = objectOf(payload, "the request");
      const question = questionOf(fields.subject_access_review);
      const uncached = booleanOf(fields.disable_cache, "disable_cache");
      const key = stringifyJson([
        question.user,
        question.groups ?? [],
        Object.entries(question.resourceAttributes).sort(([a], [b]) => (a < b ? -1 : 1)),
      ]);
      const ask = (signal: AbortSignal) => reader.canI(question, signal);
      return uncached ? access.fresh(key, ask) : access.get(key, ask);
    },
  };

  return {
    namespace: "kubernetes",
    operations: {
      get_resource: getResource,
      list_resources_by_namespace: list(true),
      list_resources_all: list(false),
      can_i: canI,
    },
  };
}

function kindOf(payload: unknown): ResourceKind {
  const { api_version, kind } = objectOf(payload, "the request");
  return { apiVersion: textOf(api_version, "api_version"), kind: textOf(kind, "kind") };
}

/** Parses attributes in either spelling: the Go SDK's differs from the others'. */
function questionOf(value: unknown): AccessQuestion {
  const review = objectOf(value, "subject_access_review");
  const attributes = textFields(review.resource_attributes ?? review.resourceAttributes ?? {}, "resource_attributes");
  textOf(attributes.verb, "verb");
  textOf(attributes.resource, "resource");
  const groups = optionalList(review.groups, "groups", textOf);
  return { user: textOf(review.user, "user"), resourceAttributes: attributes, ...(groups && { groups }) };
}
