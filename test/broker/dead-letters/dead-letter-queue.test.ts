import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { DeadLetterQueue, deadLetterEventType } from '../../../src/broker/dead-letters/dead-letter-queue.ts';
import { deadLetterEid } from '../../../src/broker/dead-letters/dead-letter-text.ts';
import { deadLetterQueue } from '../../../src/broker/definitions/unprocessable-events.ts';
import { compileValidator } from '../../../src/broker/schemas/schema-validator.ts';
import { loadSchema } from '../../../src/schema-files.ts';
import { exampleMetadata, openBroker, storedTexts, type Broker } from '../../support/broker-on-embedded-log.ts';
import { failureOf } from '../../support/thrown-errors.ts';

describe('the queue of dead letters', () => {
  let broker: Broker;
  let queue: DeadLetterQueue;
  const letter = {
    subscriptionId: '3f0f7a2e-3c6a-4a8e-9f0f-0d3f1c2b4a5d',
    eventType: 'loans',
    partition: 2,
    offset: 17,
    reason: 'It failed.',
    value: Buffer.from('{"amount":0.10}'),
    isJson: true,
  };

  before(async () => {
    broker = await openBroker();
    await broker.eventTypes.registerSystemEventTypes([deadLetterEventType()]);
    queue = new DeadLetterQueue(broker);
  });

  after(() => broker.close());

  const stored = async (): Promise<Record<string, unknown>[]> => {
    const partitions = [0, 1, 2, 3].map((partition) => storedTexts(broker.log, deadLetterQueue, partition));
    return (await Promise.all(partitions)).flat().map((text) => JSON.parse(text) as Record<string, unknown>);
  };

  it('holds each letter as an event of its schema, with an eid that stays the same', async () => {
    await queue.write(letter);
    await queue.write(letter);
    await queue.write({ ...letter, offset: 18, value: Buffer.from('{"half'), isJson: false });
    const letters = await stored();
    const validate = compileValidator(loadSchema('events/dead-letter.json'));
    for (const each of letters) expect(validate(each), JSON.stringify(each)).to.deep.equal([]);
    expect(letters.map(({ metadata }) => (metadata as { eid: string }).eid)).to.deep.equal([
      deadLetterEid(letter),
      deadLetterEid(letter),
      deadLetterEid({ ...letter, offset: 18 }),
    ]);
    expect(letters[0]?.['metadata']).to.include({ event_type: deadLetterQueue, version: '1.0.0' });
    expect(letters[0]).to.deep.include({ partition: '2', event: { amount: 0.1 } });
  });

  it('takes events from the service alone', async () => {
    const event = { metadata: exampleMetadata(), subscription_id: letter.subscriptionId };
    const body = Buffer.from(JSON.stringify([event]));
    const publishing = broker.publisher.publish(deadLetterQueue, body, { flowId: 'f', publishedBy: 'p' });
    expect(await failureOf(publishing)).to.have.property('code', 'FORBIDDEN');
    expect(await failureOf(broker.eventTypes.remove(deadLetterQueue))).to.have.property('code', 'FORBIDDEN');
  });
});
