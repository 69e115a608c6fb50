/** Mistakes in match criteria, as the API server words them (spec validating-admission-policy.md 1.4 and 1.5). */
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  goJson,
  invalid,
  notSupported,
  required,
} from "../../../kubernetes/field-error.js";
import {
  dns1123SubdomainErrors,
  labelValueErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "../../../kubernetes/name-formats.js";
import type { LabelSelector } from "./label-selector.js";
import type { MatchResources } from "./match-resources.js";
import type { ResourceRule } from "./resource-rule.js";

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const MATCH_POLICIES = ["Equivalent", "Exact"];
const SCOPES = ["*", "Cluster", "Namespaced"];

/** The mistakes of match criteria that have their defaults. */
export function validateMatch(match: MatchResources, path: FieldPath): FieldError[] {
  const { matchPolicy } = match;
  const errors: FieldError[] = [];
  if (matchPolicy === undefined) errors.push(required([...path, "matchPolicy"]));
  else if (!MATCH_POLICIES.includes(matchPolicy)) {
    errors.push(notSupported([...path, "matchPolicy"], matchPolicy, MATCH_POLICIES));
  }
  for (const name of ["namespaceSelector", "objectSelector"] as const) {
    const selector = match[name];
    errors.push(...(selector ? validateSelector(selector, [...path, name]) : [required([...path, name])]));
  }
  for (const name of ["resourceRules", "excludeResourceRules"] as const) {
    (match[name] ?? []).forEach((rule, i) => {
      errors.push(...validateRule(rule, [...path, name, i]));
    });
  }
  return errors;
}

/** The mistakes of a label selector. */
export function validateSelector(selector: LabelSelector, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const labels = [...path, "matchLabels"];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    errors.push(...qualifiedNameErrors(key).map((error) => invalid(labels, key, error)));
    errors.push(...labelValueErrors(value).map((error) => invalid(labels, value, error)));
  }
  (selector.matchExpressions ?? []).forEach(({ key = "", operator = "", values = [] }, i) => {
    const at = [...path, "matchExpressions", i];
    if (operator === "In" || operator === "NotIn") {
      if (values.length === 0) {
        errors.push(required([...at, "values"], "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (values.length > 0) {
        errors.push(forbidden([...at, "values"], "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      }
    } else {
      // Operators have a type of their own in Go, and so print as JSON.
      const text = `Invalid value: ${goJson(operator)}: not a valid selector operator`;
      errors.push({ path: [...at, "operator"], text });
    }
    errors.push(...qualifiedNameErrors(key).map((error) => invalid([...at, "key"], key, error)));
    values.forEach((value, j) => {
      errors.push(...labelValueErrors(value).map((error) => invalid([...at, "values", j], value, error)));
    });
  });
  return errors;
}

/** The mistakes of a rule. */
export function validateRule(rule: ResourceRule, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  (rule.resourceNames ?? []).forEach((name, i) => {
    const at = [...path, "resourceNames", i];
    errors.push(...pathSegmentErrors(name).map((error) => invalid(at, name, error)));
    if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
  });

  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  const starAlone = (name: string, values: readonly string[], what: string): void => {
    if (values.length === 0) errors.push(required([...path, name]));
    if (values.length > 1 && values.includes("*")) {
      errors.push(invalid([...path, name], values, `if '*' is present, must not specify other ${what}`));
    }
  };
  starAlone("operations", operations, "operations");
  operations.forEach((operation, i) => {
    if (!OPERATIONS.includes(operation)) errors.push(notSupported([...path, "operations", i], operation, OPERATIONS));
  });
  starAlone("apiGroups", apiGroups, "API groups");
  starAlone("apiVersions", apiVersions, "API versions");
  apiVersions.forEach((version, i) => {
    if (version === "") errors.push(required([...path, "apiVersions", i]));
  });
  errors.push(...validateResources(resources, [...path, "resources"]));
  if (scope !== undefined && !SCOPES.includes(scope)) errors.push(notSupported([...path, "scope"], scope, SCOPES));
  return errors;
}

/** Overlaps between entries; a wildcard is only compared with the entries behind it. */
function validateResources(resources: readonly string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (resources.length === 0) errors.push(required(path));
  const withAllSubresources = new Set<string>();
  const ofAllResources = new Set<string>();
  let plain = false;
  resources.forEach((entry, i) => {
    const at = [...path, i];
    if (entry === "") {
      errors.push(required(at));
      return;
    }
    const slash = entry.indexOf("/");
    if (slash < 0) {
      // The last entry without a subresource decides, as in the API server.
      plain = entry !== "*";
      return;
    }
    const [resource, subresource] = [entry.slice(0, slash), entry.slice(slash + 1)];
    if (withAllSubresources.has(resource)) {
      errors.push(invalid(at, entry, `if '${resource}/*' is present, must not specify ${entry}`));
    }
    if (ofAllResources.has(subresource)) {
      errors.push(invalid(at, entry, `if '*/${subresource}' is present, must not specify ${entry}`));
    }
    if (subresource === "*") withAllSubresources.add(resource);
    if (resource === "*") ofAllResources.add(subresource);
  });
  if (resources.length > 1 && resources.includes("*/*")) {
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes("*") && plain) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalid(path, resources, detail));
  }
  return errors;
}

/** The mistakes in the name of a webhook. */
export function webhookNameErrors(name: string, path: FieldPath): FieldError[] {
  if (name === "") return [required(path)];
  const errors = dns1123SubdomainErrors(name);
  if (errors.length > 0) return [invalid(path, name, errors.join(","))];
  const isShort = name.split(".").length < 3;
  return isShort ? [invalid(path, name, "should be a domain with at least three segments separated by dots")] : [];
}
