import type { PageSource } from "../../api.js";

/** The first line of a Kubernetes document: it has apiVersion or kind at the margin, or as the first key of JSON; no policies.yaml has that. */
const RESOURCE = /^(?:---\s*)?["']?(?:apiVersion|kind)["']?[ \t]*:[ \t]*[^\s#]|^\s*\{\s*"(?:apiVersion|kind)"\s*:/m;

/** Whether a draft is documents of Kubernetes, or entries of a policies.yaml: users need not choose. */
export function kindOfDraft(text: string): PageSource["kind"] {
  return RESOURCE.test(text) ? "resource" : "entry";
}
