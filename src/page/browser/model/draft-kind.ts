import type { PageSource } from "../../api.js";

/** A document of Kubernetes says what it is at the margin, or as the first key of JSON; nothing in a policies.yaml does. */
const RESOURCE = /^(?:---\s*)?["']?(?:apiVersion|kind)["']?[ \t]*:[ \t]*[^\s#]|^\s*\{\s*"(?:apiVersion|kind)"\s*:/m;

/** Whether a draft is documents of Kubernetes, or entries of a policies.yaml: nobody has to choose. */
export function kindOfDraft(text: string): PageSource["kind"] {
  return RESOURCE.test(text) ? "resource" : "entry";
}
