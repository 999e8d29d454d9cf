import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LaterCompaction, laterCompactionMilliseconds } from '../../../src/broker/event-types/later-compaction.ts';
import { silentLogger, type Logger } from '../../../src/logger.ts';
import { overriding } from '../../support/stepping-log.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

describe('Compaction that begins later', () => {
  it('is looked for each minute, for every type that is due, also after one of them failed', async () => {
    const clock = new SimulatedClock();
    const warned: unknown[] = [];
    const warn = ((fields: { eventType: string }, text: string) =>
      warned.push([fields.eventType, text])) as Logger['warn'];
    const begun: string[] = [];
    let due: string[] = [];
    const compaction = new LaterCompaction({
      eventTypes: {
        dueForCompaction: () => due,
        beginCompaction: (name) => {
          if (name === 'broken') return Promise.reject(new Error('It is broken.'));
          begun.push(name);
          return Promise.resolve();
        },
      },
      clock,
      logger: overriding<Logger>(silentLogger, { warn }),
    });
    await clock.turn(laterCompactionMilliseconds);
    expect(begun).to.deep.equal([]);
    due = ['broken', 'orders'];
    await clock.turn(laterCompactionMilliseconds - 1);
    expect(begun).to.deep.equal([]);
    await clock.turn(1);
    expect(begun).to.deep.equal(['orders']);
    expect(warned).to.deep.equal([['broken', 'Compaction of an event type cannot begin; retrying']]);
    await compaction.stop();
    await clock.turn(laterCompactionMilliseconds);
    expect(begun).to.deep.equal(['orders']);
  });
});
