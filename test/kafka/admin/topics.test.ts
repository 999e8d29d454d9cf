import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { ClusterMetadata } from '../../../src/kafka/connection/cluster-metadata.ts';
import type { BrokerAddress, RequestSender } from '../../../src/kafka/connection/connections.ts';
import { KafkaTopics } from '../../../src/kafka/admin/topics.ts';
import type { KafkaRequest } from '../../../src/kafka/protocol/request.ts';
import { WireReader, WireWriter } from '../../../src/kafka/protocol/wire.ts';
import { partitionsPerTopicMaximum } from '../../../src/ports/event-log.ts';
import { eventTypeNameCharactersMaximum } from '../../../src/broker/event-types/requested-event-type.ts';
import type { KafkaLog } from '../../../src/kafka/log.ts';
import kafkajs from 'kafkajs';
import { describeOnCluster } from '../../support/cluster.ts';
import { openKafkaLog, uniqueTopic } from '../../support/kafka/log.ts';
import { int16, int32, text } from '../../support/kafka/frames.ts';
import { codeOf, records } from '../../support/log-reading.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { failureOf } from '../../support/thrown-errors.ts';
import { openLogBehindProxy } from '../log-behind-proxy.ts';
import { pass } from '../simulated-broker.ts';

const invalidPartitions = 37;

describeOnCluster('Topics of Kafka', (cluster) => {
  let log: KafkaLog;

  before(async () => {
    log = await openKafkaLog(cluster());
  });

  after(() => log.close());

  /** Settings of a topic as another client sees them. */
  async function settingsOf(topic: string): Promise<Record<string, string>> {
    const admin = new kafkajs.Kafka({
      brokers: [...cluster().kafkaBrokers],
      logLevel: kafkajs.logLevel.NOTHING,
    }).admin();
    await admin.connect();
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
    });
    await admin.disconnect();
    return Object.fromEntries(
      resources.flatMap(({ configEntries }) =>
        configEntries.map(({ configName, configValue }) => [configName, configValue]),
      ),
    );
  }

  it('accept records of the maximum size and store the time of the broker', async () => {
    const topic = uniqueTopic();
    await log.createTopic(topic);
    expect(await settingsOf(topic.name)).to.include({
      'max.message.bytes': String(8 * 1024 * 1024 + 64 * 1024),
      'message.timestamp.type': 'LogAppendTime',
      'cleanup.policy': 'delete',
      'retention.ms': '3600000',
    });
  });

  it('may have names as long as those of event types', async () => {
    const { name: begin } = uniqueTopic();
    const topic = uniqueTopic({ name: begin.padEnd(eventTypeNameCharactersMaximum, 'x') });
    await log.createTopic(topic);
    expect(topic.name).to.have.length(249);
    await log.deleteTopic(topic.name);
  });

  it('are refused with our own error code when they conflict with an external topic', async () => {
    const topic = uniqueTopic();
    await log.createTopic(topic);
    const error = await failureOf(log.createTopic({ ...topic, name: topic.name.replace('test.', 'test_') }));
    expect(error).to.include({
      code: 'UNPROCESSABLE',
      message: `A topic named ${topic.name} exists: names must differ in more than dots and underscores.`,
    });
  });

  it('keep the settings that an alteration does not name, including those set by others', async () => {
    const topic = uniqueTopic({ retentionBytes: 9_000_000 });
    await log.createTopic(topic);
    await log.alterTopic(topic.name, { retentionMilliseconds: 7_200_000 });
    expect(await settingsOf(topic.name)).to.include({
      'retention.ms': '7200000',
      'retention.bytes': '9000000',
      'max.message.bytes': String(8 * 1024 * 1024 + 64 * 1024),
    });
  });

  const segments: [string, number, string][] = [
    ['a tenth of the retention', 36_000_000, '3600000'],
    ['a minute at the least', 100_000, '60000'],
    ['a week at the most', 10_000_000_000, '604800000'],
  ];
  for (const [title, retentionMilliseconds, expected] of segments) {
    it(`close their segments after ${title}, so that retention can remove them`, async () => {
      const topic = uniqueTopic({ retentionMilliseconds });
      await log.createTopic(topic);
      expect((await settingsOf(topic.name))['segment.ms']).to.equal(expected);
    });
  }

  it('get their partitions although the response is lost or another client adds as many at the same time', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const topic = await subject.newTopic(1);
      subject.proxy.inject({ api: 'CreatePartitions', fault: { kind: 'lose response', disconnect: true } });
      await subject.log.alterTopic(topic, { partitionCount: 2 });
      const last = { topic, partition: 1 };
      expect(await subject.log.bounds([last])).to.deep.equal([{ ...last, earliest: 0, latest: 0 }]);
      await Promise.all([subject.log, subject.witness].map((each) => each.alterTopic(topic, { partitionCount: 4 })));
      expect((await log.listTopics()).find(({ name }) => name === topic)?.partitionCount).to.equal(4);
    } finally {
      await subject.close();
    }
  });

  it('get their partitions when the response is lost and the brokers learn of them a moment later', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const topic = await subject.newTopic(1);
      const fault = { kind: 'lose response', disconnect: true } as const;
      const lost = subject.proxy.inject({ api: 'CreatePartitions', fault });
      let [earlier, earlierResponses]: [Buffer | undefined, number] = [undefined, 0];
      const patch = (body: Buffer): Buffer | undefined => {
        if (lost.hits === 0) earlier = body;
        else if (earlierResponses < 3) earlierResponses += 1;
        else return undefined;
        return earlier;
      };
      subject.proxy.inject({ api: 'Metadata', times: Infinity, fault: { kind: 'patch response', patch } });
      await subject.log.alterTopic(topic, { partitionCount: 2 });
      expect(earlierResponses).to.equal(3);
      const last = { topic, partition: 1 };
      expect(await subject.log.bounds([last])).to.deep.equal([{ ...last, earliest: 0, latest: 0 }]);
    } finally {
      await subject.close();
    }
  });

  it('report why Kafka refuses them, in its own words where it has some', async () => {
    const topic = uniqueTopic();
    await log.createTopic(topic);
    const existing = await failureOf(log.createTopic(topic));
    expect(existing).to.include({
      code: 'TOPIC_ALREADY_EXISTS',
      message: `Creating topic ${topic.name} failed: Topic '${topic.name}' already exists.`,
    });
    const missing = uniqueTopic().name;
    expect(await failureOf(log.deleteTopic(missing))).to.include({
      code: 'UNKNOWN_TOPIC_OR_PARTITION',
      message: `Deleting topic ${missing} failed: Kafka responded with 3 (unknownTopicOrPartition).`,
    });
  });

  it('are changed only in what an alteration names, and not to an impossible number of partitions', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const topic = await subject.newTopic(1);
      for (const partitionCount of [0, 1.5, partitionsPerTopicMaximum + 1]) {
        const error = await failureOf(subject.log.alterTopic(topic, { partitionCount }));
        expect(error).to.have.property('code', 'UNPROCESSABLE');
        expect(error).to.have.property('message').that.includes(`may have from 1 to ${partitionsPerTopicMaximum}`);
      }
      expect(subject.proxy.requests('CreatePartitions')).to.equal(0);
      await subject.log.alterTopic(topic, { partitionCount: 2 });
      expect(subject.proxy.requests('IncrementalAlterConfigs')).to.equal(0);
      await subject.log.alterTopic(topic, { partitionCount: 2, retentionMilliseconds: 100_000 });
      expect(subject.proxy.requests('IncrementalAlterConfigs')).to.equal(1);
      expect(subject.proxy.requests('CreatePartitions')).to.equal(1);
    } finally {
      await subject.close();
    }
  });

  it('have their new settings when the change returns, although the brokers learn of them a moment later', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const topic = await subject.newTopic(1);
      let [earlier, earlierResponses]: [Buffer | undefined, number] = [undefined, 0];
      const patch = (body: Buffer): Buffer | undefined => {
        if (subject.proxy.requests('IncrementalAlterConfigs') === 0) earlier = body;
        else if (earlierResponses < 3) earlierResponses += 1;
        else return undefined;
        return earlier;
      };
      subject.proxy.inject({ api: 'DescribeConfigs', times: Infinity, fault: { kind: 'patch response', patch } });
      await subject.log.alterTopic(topic, { retentionMilliseconds: 7_200_000 });
      expect(earlierResponses).to.equal(3);
      const [listed] = await subject.log.listTopics([topic]);
      expect(listed).to.have.property('retentionMilliseconds', 7_200_000);
    } finally {
      await subject.close();
    }
  });

  it('do not wait for settings that another process has replaced meanwhile', async () => {
    const topic = uniqueTopic();
    await log.createTopic(topic);
    const others = [100_000, 200_000, 300_000, 400_000];
    await Promise.all(others.map((retentionMilliseconds) => log.alterTopic(topic.name, { retentionMilliseconds })));
    const [listed] = await log.listTopics([topic.name]);
    expect(others).to.include(listed?.retentionMilliseconds);
  });

  it('are gone when their deletion returns, although the brokers learn of it a moment later', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const where = await subject.newPartition();
      let [earlier, earlierResponses]: [Buffer | undefined, number] = [undefined, 0];
      const patch = (body: Buffer): Buffer | undefined => {
        if (subject.proxy.requests('DeleteTopics') === 0) earlier = body;
        else if (earlierResponses < 3) earlierResponses += 1;
        else return undefined;
        return earlier;
      };
      const when = ({ body }: { readonly body: Buffer }): boolean => body.includes(where.topic);
      subject.proxy.inject({ api: 'Metadata', when, times: Infinity, fault: { kind: 'patch response', patch } });
      await subject.log.bounds([where]);
      await subject.log.deleteTopic(where.topic);
      expect(earlierResponses).to.equal(3);
      const requests = subject.proxy.requests('ListOffsets');
      expect(await codeOf(subject.log.bounds([where]))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
      expect(subject.proxy.requests('ListOffsets')).to.equal(requests);
    } finally {
      await subject.close();
    }
  });

  it('are created although one of the brokers is down', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      subject.proxy.inject({
        api: 'Metadata',
        times: Infinity,
        fault: { kind: 'patch response', patch: withBrokerThatIsDown },
      });
      const topic = uniqueTopic();
      await subject.log.createTopic(topic);
      expect((await subject.log.listTopics([topic.name])).map(({ name }) => name)).to.deep.equal([topic.name]);
    } finally {
      await subject.close();
    }
  });

  it('are created together when they are asked for at the same time, each with its own outcome', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const existing = uniqueTopic();
      await subject.witness.createTopic(existing);
      const [first, second] = [uniqueTopic(), uniqueTopic({ partitionCount: 2 })];
      const wanted = [first, existing, second, first];
      const codes = await Promise.all(wanted.map((topic) => codeOf(subject.log.createTopic(topic))));
      // The name that is there twice is in another request.
      expect(codes.slice(1, 3)).to.deep.equal(['TOPIC_ALREADY_EXISTS', null]);
      expect([codes[0], codes[3]]).to.have.members([null, 'TOPIC_ALREADY_EXISTS']);
      expect(subject.proxy.requests('CreateTopics')).to.equal(2);
      const listed = await subject.witness.listTopics([first.name, second.name]);
      expect(listed.map(({ name, partitionCount }) => [name, partitionCount])).to.have.deep.members([
        [first.name, 1],
        [second.name, 2],
      ]);
    } finally {
      await subject.close();
    }
  });

  it('are described once for all simultaneous appends that need their cleanup policy', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const where = await subject.newPartition();
      const appends = Array.from({ length: 50 }, (_, index) => [{ ...where, records: records(`${index}`) }]);
      await Promise.all(appends.map((each) => subject.log.append(each)));
      expect(subject.proxy.requests('DescribeConfigs')).to.equal(1);
    } finally {
      await subject.close();
    }
  });

  it('are ready when their creation returns, like added partitions, however many', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    const questionsForBounds = async (topic: string, partitionCount: number): Promise<number> => {
      const before = subject.proxy.requests('ListOffsets');
      await subject.log.bounds(Array.from({ length: partitionCount }, (_, partition) => ({ topic, partition })));
      return subject.proxy.requests('ListOffsets') - before;
    };
    try {
      const topic = uniqueTopic({ partitionCount: 100 });
      await subject.log.createTopic(topic);
      expect(await questionsForBounds(topic.name, 100)).to.equal(2);
      await subject.log.alterTopic(topic.name, { partitionCount: 150 });
      expect(await questionsForBounds(topic.name, 150)).to.equal(2);
      await subject.log.deleteTopic(topic.name);
    } finally {
      await subject.close();
    }
  });
});

/** A Metadata response (version 5) with one more broker, at a port where nothing listens. */
function withBrokerThatIsDown(body: Buffer): Buffer {
  const throttleBytes = 4;
  const count = body.readInt32BE(throttleBytes);
  const down = Buffer.concat([int32(99), text('127.0.0.1'), int32(1), int16(-1)]);
  return Buffer.concat([body.subarray(0, throttleBytes), int32(count + 1), down, body.subarray(throttleBytes + 4)]);
}

/** What the brokers show of a topic. */
interface ShownTopic {
  partitionCount: number;
  /** -1 for partitions that have no leader yet. */
  leader: number;
  errorCode: number;
  partitionErrorCode: number;
}

/** A cluster of one broker that accepts every change of topics, and shows what the test says. */
class AdministeredBroker implements RequestSender {
  readonly shown = new Map<string, ShownTopic>();
  /** The settings of every topic. */
  settings: readonly (readonly [name: string, value: string | null])[] = [];
  /** Of the descriptions of topics. */
  describeErrorCode = 0;
  /** The settings of the topics that were created. */
  created: readonly (readonly [name: string, value: string | null])[] = [];
  /** Of every change. */
  changeErrorCode = 0;
  /** The requests, each with its time in monotonic milliseconds. */
  readonly requests: { readonly name: string; readonly at: number }[] = [];
  readonly #clock: SimulatedClock;

  constructor(clock: SimulatedClock) {
    this.#clock = clock;
  }

  show(name: string, topic: Partial<ShownTopic> = {}): void {
    this.shown.set(name, { partitionCount: 1, leader: 0, errorCode: 0, partitionErrorCode: 0, ...topic });
  }

  timesOf(request: string): number[] {
    return this.requests.filter(({ name }) => name === request).map(({ at }) => at);
  }

  async send<Response>(_to: BrokerAddress, _purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    await Promise.resolve();
    this.requests.push({ name: request.name, at: this.#clock.monotonic() });
    const write = this.#responses[request.name];
    if (write === undefined) throw new Error(`A request that is not simulated: ${request.name}`);
    return request.decode(write(new WireReader(request.encode() as Buffer)).toBuffer());
  }

  readonly #responses: Readonly<Record<string, (request: WireReader) => WireWriter>> = {
    Metadata: (request) => {
      const names = request.array(() => request.string());
      const writer = new WireWriter().int32(0);
      writer.int32(1).int32(0).string('broker').int32(9_092).string(null).string('cluster').int32(0);
      return writer.array(names, (name) => {
        const missing = { partitionCount: 0, leader: 0, errorCode: 3, partitionErrorCode: 0 };
        const { partitionCount, leader, errorCode, partitionErrorCode } = this.shown.get(name) ?? missing;
        const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
        writer.int16(errorCode).string(name).boolean(false);
        writer.array(partitions, (partition) => {
          writer.int16(partitionErrorCode).int32(partition).int32(leader).int32(0).int32(0).int32(0);
        });
      });
    },
    CreateTopics: (request) => this.#outcomes([...this.#createdIn(request)]),
    CreatePartitions: (request) => {
      request.int32();
      return this.#outcomes([request.string()]);
    },
    IncrementalAlterConfigs: (request) => {
      request.position += 4 + 1; // one resource, its type
      const writer = new WireWriter().int32(0).int32(1);
      return writer.int16(this.changeErrorCode).string(null).int8(2).string(request.string());
    },
    DescribeConfigs: (request) => {
      const names = request.array(() => {
        request.int8();
        const name = request.string();
        request.array(() => request.string());
        return name;
      });
      const writer = new WireWriter().int32(0);
      return writer.array(names, (name) => {
        writer.int16(this.describeErrorCode).string(null).int8(2).string(name);
        writer.array(this.settings, ([setting, value]) => {
          writer.string(setting).string(value).boolean(false).int8(1).boolean(false);
          writer.array([setting], (synonym) => writer.string(synonym).string(value).int8(5));
        });
      });
    },
    ListOffsets: (request) => {
      request.position += 4 + 1; // replica, isolation
      const topics = request.array(() => ({
        topic: request.string(),
        partitions: request.array(() => ({ partition: request.int32(), time: request.int64() })),
      }));
      const writer = new WireWriter().int32(0);
      return writer.array(topics, ({ topic, partitions }) =>
        writer.string(topic).array(partitions, ({ partition }) => {
          writer.int32(partition).int16(0).int64(-1).int64(0);
        }),
      );
    },
  };

  *#createdIn(request: WireReader): Iterable<string> {
    for (let count = request.int32(); count > 0; count -= 1) {
      yield request.string();
      request.position += 4 + 2 + 4; // partitions, replicas, no assignment
      this.created = request.array(() => [request.string(), request.nullableString()]);
    }
  }

  #outcomes(names: readonly string[]): WireWriter {
    const writer = new WireWriter().int32(0);
    return writer.array(names, (name) => writer.string(name).int16(this.changeErrorCode).string(null));
  }
}

function newTopics(minimumInSyncReplicas?: number) {
  const clock = new SimulatedClock();
  const broker = new AdministeredBroker(clock);
  const metadata = new ClusterMetadata(broker, [{ host: 'broker', port: 9_092 }], clock);
  const topics = new KafkaTopics({
    connections: broker,
    metadata,
    clock,
    replicationFactor: -1,
    minimumInSyncReplicas,
  });
  const create = (name: string, partitionCount = 1): Promise<void> =>
    topics.create({ name, partitionCount, cleanupPolicy: 'delete', retentionMilliseconds: Infinity });
  return { clock, broker, topics, create };
}

/** Lets so much time pass in small steps: what waits for the event loop in between takes none of it. */
async function passSlowly(clock: SimulatedClock, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 20) await pass(clock, 20);
}

describe('What Kafka shows of topics', () => {
  const all = { name: 'a', partitionCount: 1 };
  const cases: [title: string, settings: AdministeredBroker['settings'], shown: object][] = [
    ['nothing', [], { ...all, cleanupPolicy: 'delete', retentionMilliseconds: 0 }],
    [
      'no limits',
      [
        ['cleanup.policy', 'compact'],
        ['retention.ms', '-1'],
        ['retention.bytes', '-1'],
        ['max.compaction.lag.ms', '9223372036854775807'],
      ],
      { ...all, cleanupPolicy: 'compact', retentionMilliseconds: Infinity },
    ],
    [
      'limits',
      [
        ['cleanup.policy', 'delete, compact'],
        ['retention.ms', '1000'],
        ['retention.bytes', '2000'],
        ['max.compaction.lag.ms', '3000'],
      ],
      {
        ...all,
        cleanupPolicy: 'compact_and_delete',
        retentionMilliseconds: 1_000,
        retentionBytes: 2_000,
        compactionLagMilliseconds: 3_000,
      },
    ],
  ];
  for (const [title, settings, shown] of cases) {
    it(`is understood where their settings have ${title}`, async () => {
      const { broker, topics } = newTopics();
      broker.show('a');
      broker.settings = settings;
      expect(await topics.list(['a', 'missing'])).to.deep.equal([shown]);
      broker.describeErrorCode = 3;
      expect(await topics.list(['a']), 'a topic that is being deleted').to.deep.equal([]);
      expect(await topics.list(['missing'])).to.deep.equal([]);
    });
  }

  it('is how they drop old records, which is asked again after a minute, or after a failure', async () => {
    const { clock, broker, topics } = newTopics();
    broker.settings = [['cleanup.policy', 'compact']];
    const policies = () => Promise.all([topics.cleanupPolicyOf('a'), topics.cleanupPolicyOf('a')]);
    const asked = () => broker.timesOf('DescribeConfigs').length;
    expect([await policies(), asked()]).to.deep.equal([['compact', 'compact'], 1]);
    await clock.turn(59_999);
    expect([await policies(), asked()]).to.deep.equal([['compact', 'compact'], 1]);
    await clock.turn(1);
    for (const [errorCode, code] of [
      [3, 'UNKNOWN_TOPIC_OR_PARTITION'],
      [17, 'UNKNOWN_TOPIC_OR_PARTITION'],
      [29, 'LOG_UNAVAILABLE'],
    ] as const) {
      broker.describeErrorCode = errorCode;
      expect(await codeOf(topics.cleanupPolicyOf('a'))).to.equal(code);
    }
    broker.describeErrorCode = 0;
    expect([await policies(), asked()]).to.deep.equal([['compact', 'compact'], 5]);
  });
});

describe('Topics of Kafka that are being created', () => {
  it('are waited for until each of them has all of its partitions, led and without an error', async () => {
    const { clock, broker, create } = newTopics();
    let created = 0;
    for (const name of ['a', 'b']) void create(name, 2).then(() => (created += 1));
    broker.show('a', { partitionCount: 2 });
    for (const state of [
      { errorCode: 3 },
      { partitionCount: 1 },
      { partitionCount: 2, leader: -1 },
      { partitionCount: 2, partitionErrorCode: 5 },
    ]) {
      broker.show('b', state);
      await passSlowly(clock, 100);
      expect(created).to.equal(0);
    }
    expect(broker.timesOf('ListOffsets'), 'leaders are asked when there are some').to.deep.equal([]);
    broker.show('b', { partitionCount: 2 });
    await passSlowly(clock, 60);
    expect(created).to.equal(2);
    expect(broker.timesOf('CreateTopics')).to.have.length(1);
  });

  it('are waited for during half a minute, with a question every twenty milliseconds', async () => {
    const { clock, broker, create } = newTopics();
    const failure = failureOf(create('a'));
    await pass(clock);
    await passSlowly(clock, 30_100);
    expect(await failure).to.include({
      code: 'LOG_UNAVAILABLE',
      message: 'Not every broker knows of the change of topic a.',
    });
    const times = broker.timesOf('Metadata');
    expect(times.slice(0, 4)).to.deep.equal([0, 0, 20, 40]);
    expect(times.at(-1)).to.equal(30_020);
  });

  it('have partitions that another request has added, although the brokers learn of them within a second only', async () => {
    for (const seenAfter of [1_000, 1_100]) {
      const { clock, broker, topics } = newTopics();
      broker.changeErrorCode = invalidPartitions;
      broker.show('a');
      const altered = codeOf(topics.alter('a', { partitionCount: 2 }));
      for (let passed = 0; passed < seenAfter; passed += 5) await pass(clock, 5);
      broker.show('a', { partitionCount: 2 });
      await passSlowly(clock, 200);
      expect(await altered).to.equal(seenAfter === 1_000 ? null : 'UNPROCESSABLE');
    }
  });

  it('have as many replicas in step as was asked for, and what the brokers say where nothing was', async () => {
    for (const replicas of [undefined, 2]) {
      const { clock, broker, create } = newTopics(replicas);
      broker.show('a');
      const created = create('a');
      await passSlowly(clock, 60);
      await created;
      const asked = broker.created.filter(([name]) => name === 'min.insync.replicas');
      expect(asked).to.deep.equal(replicas === undefined ? [] : [['min.insync.replicas', '2']]);
    }
  });

  it('are not waited for after a change when they were deleted meanwhile', async () => {
    const { clock, broker, topics } = newTopics();
    broker.show('a');
    broker.describeErrorCode = 3;
    const altered = topics.alter('a', { retentionMilliseconds: 1_000 });
    await passSlowly(clock, 60);
    await altered;
    expect(broker.timesOf('DescribeConfigs')).to.have.length(2);
  });

  it('cannot lose partitions, and are left alone when they have as many already', async () => {
    const { clock, broker, topics } = newTopics();
    broker.show('a', { partitionCount: 2 });
    expect(await codeOf(topics.alter('a', { partitionCount: 1 }))).to.equal('UNPROCESSABLE');
    const altered = topics.alter('a', { partitionCount: 2 });
    await pass(clock, 25);
    await altered;
    expect(broker.requests.map(({ name }) => name)).to.deep.equal(['Metadata', 'Metadata']);
  });
});
