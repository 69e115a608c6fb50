/** What ends a scan before its time: nothing can be said of what was not looked at. The message is for the user. */
export class ScanError extends Error {
  readonly code = "SCAN";
  override readonly name = "ScanError";
}

/** A file is of an older form than is read. */
export class OutdatedFileError extends ScanError {}
