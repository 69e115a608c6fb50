/** Error that ends a scan early: resources that were not evaluated have no result. The message is for the user. */
export class ScanError extends Error {
  readonly code = "SCAN";
  override readonly name = "ScanError";
}

/** Error of a file in an outdated format. */
export class OutdatedFileError extends ScanError {}
