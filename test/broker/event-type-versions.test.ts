import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { eventTypeBytesMaximum, recordWithSchema } from '../../src/broker/event-types/event-type-records.ts';
import type { EventTypeRecord } from '../../src/broker/definitions/event-type.ts';
import { readEventType } from '../../src/broker/event-types/requested-event-type.ts';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { isLendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import { type Broker, eventTypeBody, exampleMetadata, openBroker } from '../support/broker-on-embedded-log.ts';

/** The longest text that a schema may have, in ASCII, with no character that JSON escapes except its own quotes. */
const schemaCharactersMaximum = 262_144;

/** A schema of that many characters, different for each number. */
function schemaOf(number: number, characters = schemaCharactersMaximum): string {
  const text = (description: string): string => JSON.stringify({ type: 'object', description });
  const begun = `version ${number} `;
  return text(begun.padEnd(begun.length + characters - text(begun).length, 'x'));
}

const bytesOf = (record: EventTypeRecord): number => Buffer.byteLength(JSON.stringify(record));

describe('an event type with the maximum number of schema versions', () => {
  let broker: Broker;
  let full: EventTypeRecord;

  const definition = (changes: object): ReturnType<typeof readEventType> =>
    readEventType(eventTypeBody('orders', { schema: { type: 'json_schema', schema: schemaOf(1) }, ...changes }));

  const refusal = async (change: Promise<unknown>): Promise<unknown> => {
    try {
      await change;
    } catch (error) {
      if (isLendstreamError(error, 'UNPROCESSABLE')) return error.message;
      throw error;
    }
    return 'none';
  };

  /** A schema with which the record has the maximum number of bytes, or one less because two copies are counted. */
  function lastSchema(moreCharacters: number): string {
    const charactersAtLeast = 1_000;
    const now = new Date().toISOString();
    const bytes = bytesOf(recordWithSchema(full, schemaOf(99, charactersAtLeast), now));
    const room = Math.floor((eventTypeBytesMaximum - bytes) / 2);
    return schemaOf(99, charactersAtLeast + room + moreCharacters);
  }

  const retentionOf = async (): Promise<number | undefined> =>
    (await broker.log.listTopics(['orders']))[0]?.retentionMilliseconds;

  before(async function () {
    this.timeout(120_000);
    broker = await openBroker();
    full = await broker.eventTypes.create(definition({}));
    // All but the last two at once: each change writes the whole record.
    for (let number = 2; number < 29; number += 1)
      full = recordWithSchema(full, schemaOf(number), new Date().toISOString());
    await broker.registry.put('event-type', 'orders', full);
    for (let number = 29; ; number += 1) {
      const refused = await refusal(broker.eventTypes.addSchema('orders', schemaOf(number)));
      if (refused !== 'none') break;
    }
    full = await broker.eventTypes.get('orders');
  });

  after(() => broker.close());

  it('has thirty of the longest schemas, and refuses more with a reason', async () => {
    expect(full.schemas).to.have.length(30);
    expect(await refusal(broker.eventTypes.addSchema('orders', schemaOf(31)))).to.match(
      /^Event type orders with all versions of its schema would have \d+ bytes; the maximum is 8323072\./,
    );
    expect(await broker.eventTypes.get('orders')).to.equal(full);
  });

  it('changes nothing for a request with one schema too many', async () => {
    const retention = await retentionOf();
    const changed = definition({
      schema: { type: 'json_schema', schema: lastSchema(1) },
      options: { retention_time: 10_800_000 },
      labels: { team: 'a' },
    });
    expect(await refusal(broker.eventTypes.update('orders', changed))).to.contain('the maximum is 8323072');
    expect(await broker.eventTypes.get('orders')).to.equal(full);
    expect(await retentionOf()).to.equal(retention);
  });

  it('accepts the last schema up to the byte limit, is the same on other processes, and can be published to and deleted', async () => {
    expect(await refusal(broker.eventTypes.addSchema('orders', lastSchema(1)))).to.contain('the maximum is 8323072');
    await broker.eventTypes.addSchema('orders', lastSchema(0));
    const last = await broker.eventTypes.get('orders');
    expect(last.schemas).to.have.length(31);
    expect(bytesOf(last)).to.be.within(eventTypeBytesMaximum - 1, eventTypeBytesMaximum);
    const registry = new Registry(broker.log, silentLogger);
    await registry.start();
    expect(registry.get('event-type', 'orders')).to.deep.equal(last);
    await registry.stop();
    const event = Buffer.from(JSON.stringify([{ metadata: exampleMetadata() }]));
    const { status } = await broker.publisher.publish('orders', event, { flowId: 'f', publishedBy: 'p' });
    expect(status).to.equal(200);
    await broker.eventTypes.remove('orders');
    expect(broker.eventTypes.known('orders')).to.equal(undefined);
  });
});
