/** The checks of Kyverno when a GlobalContextEntry is created, beside the schema. */
import { parseDuration } from "../../cel/index.js";
import { type FieldError, type FieldPath, forbidden, invalid, required } from "../../kubernetes/field-error.js";
import type { ContextEntryResource } from "./resource.js";

type Spec = ContextEntryResource["spec"];

/** The error of a JMESPath; `undefined` when it is valid. */
export type JmesPathError = (expression: string) => string | undefined;

/**
 * The mistakes of an entry that is valid by its schema, so that it has a source and its defaults.
 *
 * @param jmesPathError default: only an empty path is wrong
 */
export function checkContextEntry(
  { metadata, spec }: ContextEntryResource,
  jmesPathError: JmesPathError = () => undefined,
): FieldError[] {
  const { kubernetesResource, apiCall, projections = [] } = spec;
  const errors: FieldError[] = [];
  if ((kubernetesResource === undefined) === (apiCall === undefined)) {
    const detail = "A global context entry should either have KubernetesResource or APICall";
    errors.push(forbidden(["spec", "kubernetesResource"], detail));
  }
  if (kubernetesResource !== undefined) errors.push(...resourceErrors(kubernetesResource));
  if (apiCall !== undefined) errors.push(...callErrors(apiCall));
  projections.forEach((projection, i) => {
    errors.push(...projectionErrors(projection, metadata.name, jmesPathError, ["spec", "projections", i]));
  });
  return errors;
}

/** The reference's own name of this member. */
const RESOURCE: FieldPath = ["spec", "resource"];

function resourceErrors({
  group = "",
  version = "",
  resource = "",
}: NonNullable<Spec["kubernetesResource"]>): FieldError[] {
  const errors: FieldError[] = [];
  if (group === "" && version !== "v1") {
    errors.push(required([...RESOURCE, "group"], "A Resource entry requires a group"));
  }
  if (version === "") errors.push(required([...RESOURCE, "version"], "A Resource entry requires a version"));
  if (resource === "") errors.push(required([...RESOURCE, "resource"], "A Resource entry requires a resource"));
  return errors;
}

function callErrors({
  refreshInterval = "",
  service,
  urlPath = "",
  data,
  method,
}: NonNullable<Spec["apiCall"]>): FieldError[] {
  const path: FieldPath = ["spec", "apiCall"];
  const errors: FieldError[] = [];
  const interval = parseDuration(refreshInterval);
  if (interval === undefined || interval.nanos === 0) {
    const detail = "A Resource entry requires a refresh interval greater than 0 seconds";
    errors.push(required([...path, "refreshIntervalSeconds"], detail));
  }
  if ((service === undefined) === (urlPath === "")) {
    errors.push(forbidden([...path, "service"], "An External API call should either have Service or URLPath"));
  }
  if (data !== undefined && method !== "POST") {
    errors.push(forbidden([...path, "method"], "An External API call with data should have method as POST"));
  }
  return errors;
}

function projectionErrors(
  { name = "", jmesPath = "" }: NonNullable<Spec["projections"]>[number],
  entry: string | undefined,
  jmesPathError: JmesPathError,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (name === "") errors.push(required([...path, "name"], "A projection entry requires a name"));
  if (name === entry) {
    const detail = "A projection entry requires a name different from the global context entry name";
    errors.push(required([...path, "name"], detail));
  }
  if (jmesPath === "") errors.push(required([...path, "jmesPath"], "A projection entry requires a JMESPath"));
  const error = jmesPathError(jmesPath);
  if (error !== undefined) errors.push(invalid([...path, "jmesPath"], jmesPath, error));
  return errors;
}
