/** Where AssemblyScript ends up when it can't go on: the host turns the trap into a rejection. */
export function abort(_message: string | null, _file: string | null, _line: u32, _column: u32): void {
  unreachable();
}
