/** The pause between two checks: its usual maximum, and its share of the time waited so far. Milliseconds; a number. */
const longestPauseMilliseconds = 100;
const pauseShare = 0.1;

/**
 * Waits until a condition is true that no event announces. It checks often at first and less often later, because
 * checks take processor time from the awaited work.
 * @param milliseconds How long it may take. By default as long as a busy machine may need.
 * @param pauseMillisecondsMaximum The longest pause, where a check is dear and what it waits for takes seconds.
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  milliseconds = 20_000,
  pauseMillisecondsMaximum = longestPauseMilliseconds,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - startedAt;
    if (waited > milliseconds) throw new Error(`Waited in vain for ${String(condition)}`);
    const pause = Math.min(waited * pauseShare, pauseMillisecondsMaximum);
    await new Promise((resolve) => setTimeout(resolve, Math.max(2, pause)));
  }
}

/** How often what was too slow is tried again. */
const attemptsMaximum = 5;

/**
 * Tries again what took longer than it may: others may have had the processor meanwhile. It fails when each attempt was
 * too slow.
 * @param milliseconds What the fastest attempt may take.
 * @param attempt Makes one attempt, and returns how long that part of it took. Milliseconds.
 */
export async function soonEnough(milliseconds: number, attempt: () => Promise<number>): Promise<void> {
  const took: number[] = [];
  while (took.length < attemptsMaximum) {
    const last = await attempt();
    if (last < milliseconds) return;
    took.push(Math.round(last));
  }
  throw new Error(`Each attempt took more than ${milliseconds} ms: ${took.join(', ')}`);
}
