import { expect } from 'chai';
import { describe, it } from 'mocha';
import { silentLogger } from '../../src/logger.ts';
import type { LateCommits } from '../../src/ports/coordination.ts';
import { SessionCloseRetries } from '../../src/redis/session-close-retries.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

describe('sessions that could not be closed', () => {
  it('are closed after a second, in their order, until the first that fails again', async () => {
    const clock = new SimulatedClock();
    const closed: string[] = [];
    let failing = '';
    const retries = new SessionCloseRetries(
      async (subscriptionId, streamId, lateCommits) => {
        closed.push(`${subscriptionId} ${streamId} ${lateCommits}`);
        if (streamId !== failing) return;
        // As closing does when it fails.
        retries.add(subscriptionId, streamId, lateCommits);
        throw new Error('Out of reach');
      },
      clock,
      silentLogger,
    );
    const late: LateCommits = 'accepted';
    retries.add('a', 's1', late);
    retries.add('b', 's2', late);
    retries.add('b', 's3', late);
    await clock.turn(999);
    expect(closed).to.deep.equal([]);
    failing = 's2';
    await clock.turn(1);
    expect(closed).to.deep.equal([`a s1 ${late}`, `b s2 ${late}`]);
    failing = '';
    await clock.turn(1_000);
    expect(closed.slice(2)).to.deep.equal([`b s3 ${late}`, `b s2 ${late}`]);
    await clock.turn(5_000);
    expect(closed).to.have.length(4);
    retries.add('a', 's4', late);
    retries.stop();
    await clock.turn(5_000);
    expect(closed).to.have.length(4);
  });

  it('report the failed deliveries that they were to report', async () => {
    const clock = new SimulatedClock();
    const failed = {
      failuresMaximum: 3,
      partitions: [{ eventType: 'loans', partition: 0, firstOffset: 5, throughOffset: 9 }],
    };
    const closed: unknown[] = [];
    const retries = new SessionCloseRetries(async (...session) => void closed.push(session), clock, silentLogger);
    retries.add('a', 's1', 'refused', failed);
    await clock.turn(1_000);
    expect(closed).to.deep.equal([['a', 's1', 'refused', failed]]);
    retries.stop();
  });
});
