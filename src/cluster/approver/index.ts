/** The approver: watches CertificateRequests of a cluster and writes the policies' decisions. */

export { SYSTEM_CLOCK } from "../../data/clock.js";
export { Approver, type ApproverOptions } from "./approver.js";
export type { ApprovalCount } from "./certificate-requests.js";
