import { setTimeout as sleep } from 'node:timers/promises';

/** How much work of one kind may be under way at a time. */
const underWayMaximum = 500;

/** How late the next work may be before what was not begun in the meantime is left out. Milliseconds. */
const lateMillisecondsMaximum = 5_000;

/**
 * Begins work at a steady rate for as long as the process lives, without waiting for the work before. What a service
 * or a machine missed for a few seconds, it gets after them. What it missed longer is left out, and shows in the rate.
 * @param perSecond How often; 0 for never.
 */
export async function steadily(perSecond: number, work: (number: number) => Promise<void>): Promise<void> {
  if (perSecond === 0) return;
  const period = 1_000 / perSecond;
  let underWay = 0;
  let dueAt = performance.now();
  for (let number = 0; ;) {
    const now = performance.now();
    if (now < dueAt) {
      await sleep(dueAt - now);
      continue;
    }
    if (now - dueAt > lateMillisecondsMaximum) dueAt = now;
    dueAt += period;
    if (underWay >= underWayMaximum) continue;
    underWay += 1;
    void work(number).finally(() => (underWay -= 1));
    number += 1;
  }
}
