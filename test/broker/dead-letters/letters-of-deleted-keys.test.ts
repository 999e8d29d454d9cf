import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { deadLetterEventType, DeadLetterQueue } from '../../../src/broker/dead-letters/dead-letter-queue.ts';
import { LettersOfDeletedKeys } from '../../../src/broker/dead-letters/letters-of-deleted-keys.ts';
import { hasDeletedLetterKeys, type LetterKey } from '../../../src/broker/definitions/deleted-letter-keys.ts';
import { deadLetterQueue } from '../../../src/broker/definitions/unprocessable-events.ts';
import { systemClock } from '../../../src/clock.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { maskedLog } from '../../../src/lending-format/personal-data/masked-log.ts';
import { openBroker, type Broker } from '../../support/broker-on-embedded-log.ts';
import { readAll } from '../../support/log-reading.ts';
import { overriding } from '../../support/stepping-log.ts';

describe('LettersOfDeletedKeys', () => {
  const { partitionCount } = deadLetterEventType();
  let broker: Broker;
  let queue: DeadLetterQueue;
  let written = 0;
  beforeEach(async () => {
    broker = await openBroker();
    await broker.eventTypes.registerSystemEventTypes([deadLetterEventType()]);
    queue = new DeadLetterQueue(broker);
    written = 0;
  });
  afterEach(() => broker.close());

  const subscriptionId = '00000000-0000-4000-8000-000000000001';

  /** Writes a letter of an event with this key. */
  async function write(eventType: string, key: unknown, partition = 0): Promise<void> {
    const event = { metadata: { partition_compaction_key: key }, name: `Ada ${written}` };
    const value = Buffer.from(JSON.stringify(event));
    const place = { subscriptionId, eventType, partition, offset: written };
    await queue.write({ ...place, reason: 'It failed.', value, isJson: true });
    written += 1;
  }

  /** The names in the events of all letters, as everything shows them; `-` where the event is hidden. */
  async function shown(): Promise<string[]> {
    const log = maskedLog(broker.log, broker.registry);
    const letters: { name: string; offset: string }[] = [];
    for (let partition = 0; partition < partitionCount; partition += 1) {
      for (const { value } of await readAll(log, { topic: deadLetterQueue, partition })) {
        const letter = JSON.parse(String(value)) as { offset: string; event?: { name: string } };
        letters.push({ name: letter.event?.name ?? '-', offset: letter.offset });
      }
    }
    return letters.toSorted((left, right) => (left.offset < right.offset ? -1 : 1)).map(({ name }) => name);
  }

  const letters = (keysMaximum?: number): LettersOfDeletedKeys =>
    new LettersOfDeletedKeys({ ...broker, partitionCount, ...(keysMaximum === undefined ? {} : { keysMaximum }) });
  const key = (eventType: string, text: string, partition: string | null = null): LetterKey => ({
    eventType,
    key: text,
    partition,
  });

  it('hides the events of a key in the letters that are there, and in none that comes later', async () => {
    await write('states', 'a');
    await write('states', 'b');
    await write('others', 'a');
    await write('states', 'a');
    await write('states', 7);
    const hiding = letters();
    await hiding.hide([key('states', 'a'), key('states', 'a')]);
    expect(await shown()).to.deep.equal(['-', 'Ada 1', 'Ada 2', '-', 'Ada 4']);
    await write('states', 'a');
    expect((await shown()).at(-1)).to.equal('Ada 5');
    await hiding.hide([key('states', 'a')]);
    expect(await shown()).to.deep.equal(['-', 'Ada 1', 'Ada 2', '-', 'Ada 4', '-']);
  });

  it('hides the events of one partition, where the key was deleted in that alone', async () => {
    await write('states', 'a', 1);
    await write('states', 'a', 2);
    await letters().hide([key('states', 'a', '2')]);
    expect(await shown()).to.deep.equal(['Ada 0', '-']);
    await letters().hide([key('states', 'a')]);
    expect(await shown()).to.deep.equal(['-', '-']);
  });

  it('keeps nothing for keys without letters, up to the number of keys that it remembers', async () => {
    await write('states', 'a');
    await letters().hide([]);
    await letters().hide([key('states', 'b'), key('others', 'a'), key('states', 'a', '1')]);
    expect(hasDeletedLetterKeys(broker.registry)).to.equal(false);
    // Each letter has two names, with its partition and without.
    await letters(3).hide([key('states', 'b')]);
    expect(hasDeletedLetterKeys(broker.registry)).to.equal(false);
    await letters(2).hide([key('states', 'b')]);
    expect(hasDeletedLetterKeys(broker.registry)).to.equal(true);
  });

  it('reads the queue on when letters are not visible at once, and when retention removes some meanwhile', async () => {
    for (let number = 0; number < 4; number += 1) await write('states', 'a');
    let reads = 0;
    const log = overriding(broker.log, {
      read: (from, options) => {
        reads += 1;
        if (reads === 1) return Promise.resolve({ batches: [], nextOffset: from.offset });
        if (reads > 2) return broker.log.read(from, options);
        const details = { earliest: from.offset + 1, latest: from.offset + 4 };
        return Promise.reject(new LendstreamError('OFFSET_OUT_OF_RANGE', 'Retention was here.', { details }));
      },
    });
    await new LettersOfDeletedKeys({ ...broker, log, partitionCount }).hide([key('states', 'a')]);
    expect(reads).to.be.greaterThan(2);
    expect(await shown()).to.deep.equal(['-', '-', '-', '-']);
  });

  it('forgets the keys whose letters have expired when another one is deleted', async () => {
    await write('states', 'a');
    await letters().hide([key('states', 'a')]);
    const [bounds] = (
      await broker.log.bounds(
        Array.from({ length: partitionCount }, (_, partition) => ({ topic: deadLetterQueue, partition })),
      )
    ).filter(({ latest }) => latest > 0);
    const place = { topic: deadLetterQueue, partition: bounds?.partition ?? 0 };
    await broker.log.deleteRecords({ ...place, offset: bounds?.latest ?? 0 }, systemClock.now() + 60_000);
    await write('states', 'b');
    expect(broker.registry.count('deleted-letter-key')).to.equal(1);
    await letters().hide([key('states', 'b')]);
    expect(broker.registry.count('deleted-letter-key')).to.equal(1);
    expect(await shown()).to.deep.equal(['-']);
  });
});
