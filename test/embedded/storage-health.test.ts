import { expect } from 'chai';
import { describe, it } from 'mocha';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { watchThreads } from '../support/started-threads.ts';
import { openTemporaryLog } from '../support/temporary-log.ts';

describe('the watch over the storage of the log', () => {
  it('looks when the log opens and once a second from then on', async () => {
    const threads = watchThreads();
    const clock = new SimulatedClock();
    const temporary = await openTemporaryLog({ clock });
    try {
      const looks = async (): Promise<number> => {
        // The writer thread serves this after the looks before it.
        await temporary.log.openWriter('writer');
        return threads.requests('thread/writer.js').filter((name) => name === 'inspectStorage').length;
      };
      expect(await looks()).to.equal(1);
      for (const expected of [2, 3]) {
        await clock.turn(999);
        expect(await looks()).to.equal(expected - 1);
        await clock.turn(1);
        expect(await looks()).to.equal(expected);
      }
    } finally {
      await temporary.cleanup();
      threads.stop();
    }
  });
});
