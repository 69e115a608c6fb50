/** `audit` on the command line. */
import { addAuditOptions } from "../audit/options.js";
import { type AddCommand, LOADING_OPTIONS, withExamples, withOptions } from "../definition.js";
import { settingsOf } from "../loader-settings.js";

/** Adds `audit`. */
export const addAudit: AddCommand = (program, { io, done }) => {
  const audit = program
    .command("audit")
    .description(
      "apply the policies to the objects of a cluster, once, as serve does in the background; exit 1 if one fails",
    );
  addAuditOptions(audit);
  withOptions(audit, LOADING_OPTIONS).action(async () => {
    const { auditCommand } = await import("../audit/index.js");
    done(await auditCommand(audit.opts(), settingsOf(audit, io), io));
  });
  withExamples(audit, [
    ["policy-server audit --kubeconfig admin.kubeconfig", "ask the policies of policies.yaml about what a cluster has"],
  ]);
};
