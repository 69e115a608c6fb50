import type { Watcher } from "../../cel-policy/watcher.js";
import { isObject, type JsonObject } from "../../kubernetes/object.js";
import { worldOf } from "../../world/world.js";
import type { DocumentKind } from "../kind.js";
import { LoadError } from "../load-error.js";
import { prepareBinding } from "./binding.js";
import { createRuleCompiler } from "./dialect.js";
import { compilePolicy } from "./engine/compiled-policy.js";
import { needsOf } from "./needs.js";
import { CertificateRequestPolicySet } from "./policy.js";
import { preparePolicies } from "./prepare-policies.js";
import { GROUP, POLICY_KIND } from "./resource.js";

/**
 * cert-manager's CertificateRequestPolicies (spec certificate-request-policy.md).
 * @param watcher told what becomes of their rules
 */
export function certificateRequestPolicyKind(watcher?: Watcher): DocumentKind {
  const compiler = createRuleCompiler(watcher);
  return {
    policies: [{ group: GROUP, kind: POLICY_KIND }],
    companions: [],
    prepare({ id, own, others, validationActions, certificateRequests: settings }, warn) {
      throw new Error("unfinished");
    },
  };
}
