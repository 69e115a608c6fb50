/** Checks usages of certificates for the command line, before any code of policies is loaded. */
import { didYouMean } from "../../data/suggest.js";
import { USAGES } from "../../kinds/certificate-request-policy/words.js";

/** The message for usages that a cluster would refuse. */
export function unknownUsage(usages: readonly string[]): string | undefined {
  const unknown = usages.find((usage) => !(USAGES as readonly string[]).includes(usage));
  if (unknown === undefined) return undefined;
  return `there is no usage '${unknown}'${didYouMean(unknown, USAGES) || `: there are ${USAGES.join(", ")}`}`;
}
