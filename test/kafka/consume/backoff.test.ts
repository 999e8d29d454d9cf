import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PartitionReads } from '../../../src/kafka/consume/positions.ts';
import { PartitionBackoffs } from '../../../src/kafka/consume/backoff.ts';
import { silentLogger } from '../../../src/logger.ts';

describe('Partitions in trouble', () => {
  function readsOf(partition: number): PartitionReads {
    const reads = new PartitionReads({ topic: 'payments', partition }, 1);
    void reads.join(0, { bytesMaximum: 1, waitMilliseconds: Infinity }, 0);
    return reads;
  }

  function observed() {
    const said: string[] = [];
    const retried: number[] = [];
    let now = 0;
    let turned = (): void => undefined;
    let isTurning = false;
    const logger = {
      ...silentLogger,
      warn: (facts: object) => said.push(`warning: ${JSON.stringify(facts)}`),
      info: () => said.push('again'),
    };
    const troubles = new PartitionBackoffs(
      logger,
      () => now,
      (reads) => {
        retried.push(reads.partition);
        if (isTurning) return;
        isTurning = true;
        setImmediate(() => {
          isTurning = false;
          turned();
        });
      },
    );
    return {
      troubles,
      said,
      retried,
      /** The next time anything is tried again. */
      nextTurn: () => new Promise<void>((resolve) => (turned = resolve)),
      advance: (milliseconds: number) => (now += milliseconds),
    };
  }

  it('are tried again until they answer, but not while an attempt is under way', async () => {
    const { troubles, retried, nextTurn } = observed();
    const [one, other] = [readsOf(1), readsOf(2)];
    troubles.begin(one, new Error('moved'));
    troubles.begin(other, new Error('moved'));
    await nextTurn();
    if (one.backoff !== undefined) one.backoff.isRetrying = true;
    await nextTurn();
    troubles.begin(one, new Error('moved again'));
    troubles.end(other);
    await nextTurn();
    expect(retried).to.deep.equal([1, 2, 2, 1]);
    troubles.clear();
  });

  it('are tried less often when it lasts, and others no less for it', async () => {
    const { troubles, retried, nextTurn, advance } = observed();
    const [lasting, fresh] = [readsOf(1), readsOf(2)];
    troubles.begin(lasting, new Error('moved'));
    advance(2_000);
    troubles.begin(lasting, new Error('still'));
    troubles.begin(fresh, new Error('moved'));
    await nextTurn();
    advance(199);
    await nextTurn();
    expect(retried).to.deep.equal([2, 2]);
    advance(1);
    await nextTurn();
    expect(retried).to.deep.equal([2, 2, 1, 2]);
    troubles.clear();
  });

  it('are told of once when it lasts, and once when all of it is over', async () => {
    const { troubles, said, nextTurn, advance } = observed();
    const [one, other] = [readsOf(1), readsOf(2)];
    troubles.begin(one, new Error('moved'));
    await nextTurn();
    advance(900);
    troubles.begin(other, new Error('moved'));
    await nextTurn();
    expect(said).to.deep.equal([]);
    advance(200);
    troubles.begin(one, new Error('no answer'));
    await nextTurn();
    advance(5_000);
    await nextTurn();
    troubles.end(one);
    expect(said).to.deep.equal(['warning: {"topic":"payments","partition":1,"partitions":2,"error":"no answer"}']);
    troubles.end(other);
    expect(said.slice(1)).to.deep.equal(['again']);
    troubles.clear();
  });

  it('are given up when nobody reads them any more', async () => {
    const { troubles, retried, nextTurn } = observed();
    const [left, kept] = [readsOf(1), readsOf(2)];
    troubles.begin(left, new Error('moved'));
    troubles.begin(kept, new Error('moved'));
    left.positions.clear();
    await nextTurn();
    expect([retried, left.backoff]).to.deep.equal([[2], undefined]);
    troubles.clear();
  });
});
