import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PartitionReads } from '../../../src/kafka/consume/reads-by-position.ts';
import { PartitionBackoffs } from '../../../src/kafka/consume/partition-backoff.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { checkedLogger } from '../../support/logs/secrets-in-logs.ts';

/** How often anything is retried. Milliseconds. */
const retryMilliseconds = 25;

describe('Partitions that cannot be read', () => {
  function readsOf(partition: number): PartitionReads {
    const reads = new PartitionReads({ topic: 'payments', partition }, 1);
    void reads.join(0, { bytesMaximum: 1, waitMilliseconds: Infinity }, new SimulatedClock());
    return reads;
  }

  function observed() {
    const clock = new SimulatedClock();
    const messages: string[] = [];
    const retried: number[] = [];
    const logger = checkedLogger({
      warn: (facts: object) => messages.push(`warning: ${JSON.stringify(facts)}`),
      info: () => messages.push('again'),
    });
    const backoffs = new PartitionBackoffs(logger, clock, (reads) => retried.push(reads.partition));
    return { clock, backoffs, messages, retried };
  }

  it('are retried until they respond, but not while an attempt is in progress', async () => {
    const { clock, backoffs, retried } = observed();
    const [one, other] = [readsOf(1), readsOf(2)];
    backoffs.begin(one, new Error('moved'));
    backoffs.begin(other, new Error('moved'));
    await clock.turn(retryMilliseconds - 1);
    expect(retried).to.deep.equal([]);
    await clock.turn(1);
    expect(retried.splice(0)).to.deep.equal([1, 2]);
    if (one.backoff !== undefined) one.backoff.isRetrying = true;
    await clock.turn(retryMilliseconds);
    expect(retried.splice(0)).to.deep.equal([2]);
    backoffs.begin(one, new Error('moved again'));
    backoffs.end(other);
    await clock.turn(retryMilliseconds);
    expect(retried.splice(0)).to.deep.equal([1]);
    backoffs.end(one);
    await clock.turn(60_000);
    expect(retried).to.deep.equal([]);
  });

  it('are retried less often when the failure lasts, and others as often as before', async () => {
    const { clock, backoffs, retried } = observed();
    const [lasting, fresh] = [readsOf(1), readsOf(2)];
    backoffs.begin(lasting, new Error('moved'));
    await clock.turn(2_000);
    retried.length = 0;
    backoffs.begin(lasting, new Error('still'));
    backoffs.begin(fresh, new Error('moved'));
    await clock.turn(199);
    expect(new Set(retried.splice(0))).to.deep.equal(new Set([2]));
    await clock.turn(1);
    expect(retried).to.deep.equal([1, 2]);
  });

  it('are logged once when the failure lasts, and once when all have recovered', async () => {
    const { clock, backoffs, messages } = observed();
    const [one, other] = [readsOf(1), readsOf(2)];
    backoffs.begin(one, new Error('moved'));
    await clock.turn(900);
    backoffs.begin(other, new Error('moved'));
    backoffs.begin(one, new Error('no response'));
    await clock.turn(99);
    expect(messages).to.deep.equal([]);
    await clock.turn(1);
    expect(messages).to.deep.equal([
      'warning: {"topic":"payments","partition":1,"partitions":2,"error":"no response"}',
    ]);
    await clock.turn(60_000);
    backoffs.end(one);
    expect(messages).to.have.length(1);
    backoffs.end(other);
    expect(messages.slice(1)).to.deep.equal(['again']);
  });

  it('are dropped when nothing reads them any more', async () => {
    const { clock, backoffs, retried } = observed();
    const [left, kept] = [readsOf(1), readsOf(2)];
    backoffs.begin(left, new Error('moved'));
    backoffs.begin(kept, new Error('moved'));
    left.positions.clear();
    await clock.turn(retryMilliseconds);
    expect([retried, left.backoff]).to.deep.equal([[2], undefined]);
  });

  it('are not retried after the log was closed', async () => {
    const { clock, backoffs, retried } = observed();
    backoffs.begin(readsOf(1), new Error('moved'));
    backoffs.clear();
    await clock.turn(60_000);
    expect(retried).to.deep.equal([]);
  });
});
