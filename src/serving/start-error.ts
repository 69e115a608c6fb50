/** Why the process can't serve; for the user. */
export class StartError extends Error {
  readonly code = "START";
}
