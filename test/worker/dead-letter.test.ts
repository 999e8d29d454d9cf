import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'mocha';
import type { LogRecord } from '../../src/ports/event-log.ts';
import { registryTopic } from '../../src/broker/definitions/registry.ts';
import { loanCommandsTopic } from '../../src/lending-format/lending-topics.ts';
import { writeDeadLetter } from '../../src/worker/dead-letter.ts';
import {
  type TestCommand,
  allEvents,
  commandRecord,
  commandTime,
  deadLetters,
  decided,
  recordsOf,
  send,
  untilDone,
  workerForEachTest,
} from '../support/lending/lending-log.ts';
import { richProduct } from '../support/lending/lending-script.ts';

describe('a dead letter', () => {
  const letterOf = (value: Buffer | null): Record<string, unknown> => {
    const letter = writeDeadLetter({ partition: 2, offset: 7, appendedAt: commandTime, value }, 'why', null);
    return JSON.parse(letter.toString()) as Record<string, unknown>;
  };

  it('repeats a mebibyte of the command, from its start', () => {
    const mebibyte = 1024 * 1024;
    const value = Buffer.alloc(mebibyte + 1, 'ab');
    expect(letterOf(value)['value']).to.equal(value.toString('base64', 0, mebibyte));
    expect(letterOf(value.subarray(1))['value'], 'a whole one').to.equal(value.toString('base64', 1));
  });

  it('has the position of the command, also when that has no value', () => {
    expect(letterOf(null)).to.deep.equal({
      reason: 'why',
      commandId: null,
      topic: loanCommandsTopic,
      partition: 2,
      offset: 7,
      appendedAt: '2026-01-12T10:00:00.000Z',
      value: null,
    });
  });
});

describe('a command in the dead letters', () => {
  const fixture = workerForEachTest();
  const lettersOf = async (commandId: string): Promise<number> =>
    (await deadLetters(fixture.log)).filter((letter) => letter['commandId'] === commandId).length;
  const outcomesFor = async (...records: (LogRecord | TestCommand)[]): Promise<string[]> =>
    (await decided(fixture.log, records)).map(({ outcome }) => outcome);

  /** The same record with an unknown type, so that only its id can be read. */
  function unreadable({ key, value }: LogRecord): LogRecord {
    return { key, value: Buffer.from(String(value).replace(/"type":"[A-Z_]+"/, '"type":"UNKNOWN"')) };
  }

  it('is added again as long as it cannot be read, and is done once when it can be, also after restarts', async () => {
    const commandId = randomUUID();
    const mended = commandRecord({ ...richProduct('P', 'FIXED_TERM_LOAN'), commandId });
    const broken = unreadable(mended);
    expect(await outcomesFor(broken, broken)).to.deep.equal(['dead_letter', 'dead_letter']);
    await fixture.restart();
    expect(await outcomesFor(broken)).to.deep.equal(['dead_letter']);
    expect(await lettersOf(commandId)).to.equal(3);
    await fixture.restart();
    expect(await outcomesFor(mended)).to.deep.equal(['committed']);
    await fixture.restart();
    expect(await outcomesFor(mended, broken, mended)).to.deep.equal(['repeated', 'dead_letter', 'repeated']);
  });

  it('is done once when it comes again, corrected, in the same commit', async () => {
    const commandId = randomUUID();
    const mended = commandRecord({ ...richProduct('P', 'FIXED_TERM_LOAN'), commandId });
    await fixture.stop();
    await send(fixture.log, [unreadable(mended), mended, mended]);
    await fixture.start();
    await untilDone(fixture.log, 2);
    expect(await lettersOf(commandId)).to.equal(1);
    expect(await outcomesFor(mended)).to.deep.equal(['repeated']);
    expect((await recordsOf(fixture.log, registryTopic)).filter(({ key }) => key === 'product/P')).to.have.length(1);
  });

  it('because of a failed decision is done once when the cause is repaired, and left no trace before', async () => {
    await decided(fixture.log, [richProduct('P', 'FIXED_TERM_LOAN')]);
    await fixture.stop();
    const [stored] = await recordsOf(fixture.log, registryTopic);
    const put = (text: string): Promise<unknown> =>
      fixture.log.append([
        { topic: registryTopic, partition: 0, records: [{ key: 'product/P', value: Buffer.from(text) }] },
      ]);
    const text = stored?.text ?? '';
    // A product as no version of this program writes it: every decision on it throws.
    await put(text.replace('"interestSettings":{', '"interestSettings":null,"was":{'));
    await fixture.start();
    const payload = { productTypeKey: 'P', loanAmount: 1000 };
    const opening = commandRecord({ type: 'CREATE_LOAN', id: 'L1', payload });
    expect(await outcomesFor(opening, opening)).to.deep.equal(['dead_letter', 'dead_letter']);
    await fixture.restart();
    expect(await outcomesFor(opening)).to.deep.equal(['dead_letter']);
    expect(await allEvents(fixture.log)).to.deep.equal([]);
    await put(text);
    expect(await outcomesFor(opening, opening)).to.deep.equal(['committed', 'repeated']);
    await fixture.restart();
    expect(await outcomesFor(opening)).to.deep.equal(['repeated']);
    expect(await allEvents(fixture.log)).to.have.length(1);
  });
});
