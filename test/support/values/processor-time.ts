/**
 * The processor time that this process takes for some work, all of which it does before that returns. A limit for it
 * holds on a busy machine too, where the same work takes longer on the clock. Milliseconds.
 */
export function processorMilliseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return millisecondsSince(before);
}

/** The processor time that this process has taken since then. Milliseconds. */
export function millisecondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
