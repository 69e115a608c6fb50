import { errorText } from "./error-text.js";

/** The errors of a file or folder, by the system's code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of the path is not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left",
  ENAMETOOLONG: "the name is too long",
};

/** Why a file could not be read or written, for a message that names the file already: without the system call and the path. */
export function fileProblem(thrown: unknown): string {
  const code = String((thrown as NodeJS.ErrnoException | null)?.code);
  return Object.hasOwn(REASONS, code) ? (REASONS[code] ?? "") : errorText(thrown);
}
