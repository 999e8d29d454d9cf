import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'mocha';
import { call, eventsOf, openStream } from '../support/http/client.ts';
import { describeOnCluster } from '../support/cluster.ts';
import { runKafkaTool } from '../support/kafka/tools.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

describeOnCluster('records written by the console producer of Kafka', (cluster) => {
  let folder: string;
  let service: Service;
  const eventType = `others-${randomUUID()}`;

  before(async function () {
    this.timeout(60_000);
    folder = await temporaryFolder();
    const { kafkaBrokers, redisUrl } = cluster();
    service = await startService(folder, {
      KAFKA_BROKERS: kafkaBrokers.join(','),
      REDIS_URL: redisUrl,
      LOG_LEVEL: 'error',
    });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const publish = async (number: number): Promise<void> => {
    const { status, text } = await call(`${service.url}/event-types/${eventType}/events`, 'POST', [{ number }]);
    expect(status, text).to.equal(200);
  };

  it('are delivered among our own when they are JSON, and reported when they are not', async function () {
    this.timeout(90_000);
    const defined = await call(`${service.url}/event-types`, 'POST', {
      name: eventType,
      owning_application: 'tests',
      category: 'undefined',
      schema: { type: 'json_schema', schema: '{"type":"object"}' },
    });
    expect(defined.status, defined.text).to.equal(201);
    const { body } = await call(`${service.url}/subscriptions`, 'POST', {
      owning_application: 'tests',
      event_types: [eventType],
      read_from: 'begin',
    });
    await publish(1);
    await runKafkaTool(
      'org.apache.kafka.tools.ConsoleProducer',
      cluster().kafkaBrokers,
      [
        '--topic',
        eventType,
        ...['parse.key=true', 'parse.headers=true', 'null.marker=NULL'].flatMap((setting) => [
          '--reader-property',
          setting,
        ]),
      ],
      // Headers, key and value, separated by tabs.
      [
        'source:console\tplain key\t{"number":2}',
        'source:console\tplain key\tthis is no JSON',
        'source:console\tplain key\tNULL',
        'source:console\tNULL\t["a list", 3]',
        'source:console\tplain key\t{"number":4',
        '',
      ].join('\n'),
    );
    await publish(5);

    const stream = await openStream(service.url, String(body['id']), '?batch_limit=100&batch_flush_timeout=1');
    await stream.until((batches) => eventsOf(batches).length >= 4);
    expect(eventsOf(stream.batches)).to.deep.equal([{ number: 1 }, { number: 2 }, ['a list', 3], { number: 5 }]);
    const debugTexts = stream.batches.map(({ info }) => info?.debug ?? '').join('\n');
    expect(debugTexts).to.match(/skipped records that are not JSON, count: 2/);
    const last = stream.batches.filter(({ events }) => events !== undefined).at(-1)?.cursor;
    expect((await stream.commit(last === undefined ? [] : [last])).status).to.equal(204);
    stream.close();
    await stream.ended;

    const { body: statistics } = await call(`${service.url}/subscriptions/${String(body['id'])}/stats`, 'GET');
    const [partition] = (statistics['items'] as { partitions: { unconsumed_events: number }[] }[])[0]?.partitions ?? [];
    expect(partition?.unconsumed_events).to.equal(0);
  });
});
