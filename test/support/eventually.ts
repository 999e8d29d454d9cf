/** The pause between two checks: its maximum, and its share of the time waited so far. Milliseconds; a number. */
const pauseMillisecondsMaximum = 100;
const pauseShare = 0.1;

/**
 * Waits until a condition is true that no event announces. It checks often at first and less often later, because
 * checks take processor time from the awaited work.
 * @param milliseconds How long it may take. By default as long as a busy machine may need.
 */
export async function eventually(condition: () => boolean | Promise<boolean>, milliseconds = 20_000): Promise<void> {
  const startedAt = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - startedAt;
    if (waited > milliseconds) throw new Error(`Waited in vain for ${String(condition)}`);
    const pause = Math.min(waited * pauseShare, pauseMillisecondsMaximum);
    await new Promise((resolve) => setTimeout(resolve, Math.max(2, pause)));
  }
}
