import { sleep } from '../client/clock.ts';

/** Between two attempts to load a module. Milliseconds. */
const retryMilliseconds = 1_000;

/** After so many attempts the service is not just away: its page is another one by now. */
const attemptsMaximum = 60;

/**
 * Loads a part of the page when it is first needed. The service may be away at that moment, as while it starts again, so
 * it tries again for a minute.
 * @throws what the last attempt threw
 */
export async function laterModule<Module>(load: () => Promise<Module>): Promise<Module> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await load();
    } catch (error) {
      if (attempt === attemptsMaximum) throw error;
      await sleep(retryMilliseconds);
    }
  }
}
