import { isObject, type JsonObject } from "../../kubernetes/object.js";
import { allNeeds } from "../../world/needs.js";
import { FileResources } from "../../world/resources/file-resources.js";
import { worldOf } from "../../world/world.js";
import type { DocumentKind } from "../kind.js";
import { told } from "../report-or-throw.js";
import type { Watcher } from "../shared/watcher.js";
import { prepareBinding } from "./binding.js";
import { createRuleCompiler } from "./dialect.js";
import { compilePolicy } from "./engine/compiled-policy.js";
import { needsOf } from "./needs.js";
import { CertificateRequestPolicySet } from "./policy.js";
import { preparePolicies } from "./prepare-documents.js";
import { CERTIFICATE_REQUEST_DOCUMENTS } from "./resource.js";
import { compileRule } from "./rules.js";
import { scrutinyOf } from "./scrutiny.js";

/**
 * cert-manager's CertificateRequestPolicies (spec certificate-request-policy.md).
 * @param watcher told what becomes of their rules
 */
export function certificateRequestPolicyKind(watcher?: Watcher): DocumentKind {
  const compiler = createRuleCompiler(watcher);
  return {
    ...CERTIFICATE_REQUEST_DOCUMENTS,
    prepare({ id, own, others, validationActions, certificateRequests: settings = {} }, warn) {
      const { readiness = "self", unprocessed = "allow", invalidPolicies = "refuse" } = settings;
      const { policies, problems } = preparePolicies(own, {
        compile: (rule) => compileRule(rule, compiler).error,
        hint: (rule) => compileRule(rule, compiler).hint,
        lenient: invalidPolicies === "keep",
      });
      const [first] = own;
      if (first === undefined) throw new Error("a set has a policy");
      const { binding, problems: doubts } = prepareBinding(settings, others, first);
      told([...problems, ...doubts], warn);
      const compiled = policies.map((policy) => compilePolicy(policy, compiler));
      const objects = others.map(({ value }) => value).filter(isObject) as readonly JsonObject[];
      return {
        needs: allNeeds([needsOf(compiled, objects), binding.needs]),
        policy: (outer) => {
          const known = worldOf(objects, outer);
          // A Namespace that nobody has seen has no labels that anybody knows (spec 3.2): none is made up.
          const resources = outer.resources === undefined ? new FileResources(objects) : known.resources;
          const world = { ...known, resources, authorizer: binding.authorizer(outer) };
          return new CertificateRequestPolicySet(compiled, {
            ...{ id, world, readiness, unprocessed, watcher },
            scrutinise: scrutinyOf(settings),
            actions: validationActions,
          });
        },
      };
    },
  };
}
