/** What ends a scan before its time: nothing can be said of what was not looked at. The message is for the user. */
export class ScanError extends Error {
  readonly code = "SCAN";
  override readonly name = "ScanError";
}
