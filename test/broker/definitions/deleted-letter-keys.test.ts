import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import {
  hasDeletedLetterKeys,
  hidesLetters,
  isLetterKeyDeleted,
  nameOfLetterKey,
  putDeletedLetterKey,
  removeExpiredLetterKeys,
} from '../../../src/broker/definitions/deleted-letter-keys.ts';
import { openBroker, type Broker } from '../../support/broker-on-embedded-log.ts';

describe('deleted keys of dead letters', () => {
  let broker: Broker;
  beforeEach(async () => {
    broker = await openBroker();
  });
  afterEach(() => broker.close());

  const key = { eventType: 'states', partition: '3', key: 'a' };

  it('hide the letters below where the queue ended, in each of its partitions', async () => {
    const { registry } = broker;
    expect(hasDeletedLetterKeys(registry)).to.equal(false);
    await putDeletedLetterKey(registry, nameOfLetterKey({ ...key, partition: null }), [0, 5]);
    expect(hasDeletedLetterKeys(registry)).to.equal(true);
    const isDeleted = (partition: number, offset: number): boolean =>
      isLetterKeyDeleted(registry, { partition, offset }, key);
    expect([isDeleted(0, 0), isDeleted(1, 4), isDeleted(1, 5), isDeleted(2, 0)]).to.deep.equal([
      false,
      true,
      false,
      false,
    ]);
  });

  it('are told from each other by event type, partition and key, and named by none of them', () => {
    const names = [key, { ...key, eventType: 'a' }, { ...key, partition: null }, { ...key, key: 'states' }].map(
      nameOfLetterKey,
    );
    expect(new Set(names).size).to.equal(4);
    for (const name of names) expect(name).to.match(/^[\w-]{43}$/);
  });

  it('are forgotten when all letters below are gone', async () => {
    const { registry } = broker;
    await putDeletedLetterKey(registry, 'x', [2, 3]);
    const bounds = (first: number, second: number) =>
      [first, second].map((earliest, partition) => ({ topic: 'queue', partition, earliest, latest: 9 }));
    await removeExpiredLetterKeys(registry, bounds(2, 2));
    expect(hasDeletedLetterKeys(registry)).to.equal(true);
    await removeExpiredLetterKeys(registry, bounds(2, 3));
    expect(hasDeletedLetterKeys(registry)).to.equal(false);
  });

  it('change what is shown when they come, not when they go', () => {
    const change = { kind: 'deleted-letter-key', name: 'x' } as const;
    expect(hidesLetters({ ...change, value: { name: 'x', before: [1] } })).to.equal(true);
    expect(hidesLetters({ ...change, value: null })).to.equal(false);
    expect(hidesLetters({ kind: 'erasure', name: 'x', value: {} })).to.equal(false);
  });
});
