import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'mocha';
import {
  markDealtWith,
  markOf,
  noteCharactersMaximum,
  unmark,
  type LetterPlace,
} from '../../../src/broker/dead-letters/dealt-with-letters.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { openLogUnderTest } from '../../support/backend-under-test.ts';
import { failureOf } from '../../support/thrown-errors.ts';

describe('dead letters that were dealt with', () => {
  const topic = `letters-${randomUUID()}`;
  let folder: string;
  let log: EventLog;
  let registry: Registry;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lendstream-letters-'));
    log = await openLogUnderTest(folder);
    await log.createTopic({
      name: topic,
      partitionCount: 2,
      cleanupPolicy: 'delete',
      retentionMilliseconds: 3_600_000,
    });
    registry = await openRegistry();
  });

  afterEach(async () => {
    await registry.stop();
    await log.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function openRegistry(): Promise<Registry> {
    const opened = new Registry(log, silentLogger);
    await opened.start();
    return opened;
  }

  const place = (offset: number, partition = 0): LetterPlace => ({ queue: 'commands', partition, offset });
  const mark = (letter: LetterPlace, note = '', maximum?: number): Promise<void> =>
    markDealtWith({ registry, log, clock: systemClock }, letter, note, () => topic, maximum);

  it('are marked on all processes, also on those that start later, until they are open again', async () => {
    expect(markOf(registry, place(3))).to.equal(null);
    await mark(place(3), 'told the producer');
    expect(markOf(registry, place(3))).to.include({ note: 'told the producer' });
    const other = await openRegistry();
    try {
      expect(markOf(other, place(3))).to.deep.equal(markOf(registry, place(3)));
      expect(markOf(other, place(4))).to.equal(null);
      expect(markOf(other, { ...place(3), queue: 'subscriptions' })).to.equal(null);
      await unmark(other, place(3));
      await registry.catchUp();
      expect(markOf(registry, place(3))).to.equal(null);
    } finally {
      await other.stop();
    }
  });

  it('have a note as long as the limit says, and not longer', async () => {
    await mark(place(0), 'ä'.repeat(noteCharactersMaximum));
    expect(await failureOf(mark(place(1), 'ä'.repeat(noteCharactersMaximum + 1)))).to.have.property(
      'code',
      'UNPROCESSABLE',
    );
  });

  it('are as many as the limit says, and one more once some are no longer held', async () => {
    await log.append([
      { topic, partition: 0, records: Array.from({ length: 4 }, () => ({ key: null, value: Buffer.from('{}') })) },
    ]);
    await mark(place(0), '', 2);
    await mark(place(2), '', 2);
    await mark(place(2), 'again', 2);
    expect(await failureOf(mark(place(3), '', 2))).to.have.property('code', 'UNPROCESSABLE');
    const bounds: EventLog['bounds'] = (partitions) =>
      Promise.resolve(partitions.map((partition) => ({ ...partition, earliest: 1, latest: 4 })));
    await markDealtWith({ registry, log: { bounds }, clock: systemClock }, place(3), '', () => topic, 2);
    expect([0, 2, 3].map((offset) => markOf(registry, place(offset)) !== null)).to.deep.equal([false, true, true]);
  });
});
