/** Time that this process has computed: on a busy machine work takes longer, but not more of it. */
export async function cpuMilliseconds(work: () => unknown): Promise<number> {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}
