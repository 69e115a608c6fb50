/** The bindings of policies of either kind, prepared for requests. */

import { type GroupVersionKind, parseApiVersion } from "../../kubernetes/names.js";
import { type PreparedSelector, prepareSelector } from "../shared/match/label-selector.js";
import { type PreparedMatch, prepareMatch } from "../shared/match/match-resources.js";
import type { CommonBindingSpec, ParamKind, Resource } from "./resource.js";

/** The parameters of a binding. */
export interface PreparedParamRef {
  readonly name: string;
  readonly namespace: string;
  readonly selector: PreparedSelector | undefined;
  /** Whether a missing parameter is an error. */
  readonly denyIfMissing: boolean;
}

/** A prepared binding of either kind. */
export interface PreparedTarget {
  /** `undefined` for a policy that acts without a binding. */
  readonly name: string | undefined;
  /** `undefined`: everything that the policy matches. */
  readonly match: PreparedMatch | undefined;
  readonly paramRef: PreparedParamRef | undefined;
}

/** The target of a policy that acts alone: everything it matches, without parameters. */
export const EVERYTHING_MATCHED: PreparedTarget = { name: undefined, match: undefined, paramRef: undefined };

/** Prepares the common parts of both kinds' bindings. */
export function prepareTarget({ metadata, spec }: Resource<CommonBindingSpec>): PreparedTarget {
  const { paramRef } = spec;
  return {
    name: metadata.name ?? "",
    match: spec.matchResources && prepareMatch(spec.matchResources),
    paramRef: paramRef && {
      name: paramRef.name ?? "",
      namespace: paramRef.namespace ?? "",
      selector: paramRef.selector && prepareSelector(paramRef.selector),
      denyIfMissing: paramRef.parameterNotFoundAction === "Deny",
    },
  };
}

/** The kind of a policy's parameters, parsed and as written. */
export interface PreparedParamKind {
  readonly kind: GroupVersionKind;
  readonly apiVersion: string;
}

/** Parses the kind of parameters. */
export function prepareParamKind(written: ParamKind | undefined): PreparedParamKind | undefined | "unreadable" {
  if (written === undefined) return undefined;
  const version = parseApiVersion(written.apiVersion ?? "");
  if (version === undefined) return "unreadable";
  return { kind: { ...version, kind: written.kind ?? "" }, apiVersion: written.apiVersion ?? "" };
}
