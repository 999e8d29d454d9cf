import { expect } from 'chai';
import { after, afterEach, before, it } from 'mocha';
import type { ReadResult, TopicPartition } from '../../../src/ports/event-log.ts';
import { isLendstreamError } from '../../../src/errors.ts';
import { describeOnCluster } from '../../support/cluster.ts';
import { partitionsOf, type KafkaRequest } from '../../support/kafka/frames.ts';
import { refuseWith, reportError, type Fault, type FaultRule, type InjectedFault } from '../../support/kafka/proxy.ts';
import { appendTo, codeOf, readAll, readCount, records, recordsOf } from '../../support/log-reading.ts';
import { openLogBehindProxy, type LogBehindProxy } from '../log-behind-proxy.ts';
import { metadataWithoutLeaders } from '../connection/metadata-responses.ts';

const atOnce = { bytesMaximum: 64 * 1024, waitMilliseconds: 0 };
const forever = { bytesMaximum: 64 * 1024, waitMilliseconds: Infinity };
const always = { times: Infinity };

describeOnCluster('Reads from Kafka during faults', (cluster) => {
  let subject: LogBehindProxy;
  const injected: InjectedFault[] = [];

  before(async () => {
    subject = await openLogBehindProxy(cluster().kafkaBrokers);
  });
  afterEach(() => {
    for (const fault of injected.splice(0)) fault.remove();
  });
  after(() => subject.close());

  function inject(rule: FaultRule): InjectedFault {
    const fault = subject.proxy.inject(rule);
    injected.push(fault);
    return fault;
  }

  /** A partition with one record, which the log has read. */
  async function readPartition(): Promise<TopicPartition> {
    const where = await subject.newPartition();
    await appendTo(subject.witness, where, records('first'));
    expect(await readAll(subject.log, where)).to.have.length(1);
    return where;
  }

  function names({ topic }: TopicPartition): (request: KafkaRequest) => boolean {
    return (request) => partitionsOf(request).some((named) => named.topic === topic);
  }

  function valuesOf({ batches }: ReadResult): (string | null)[] {
    return batches.flatMap(recordsOf).map(({ value }) => value);
  }

  const transientFaults: [string, Fault, number][] = [
    ['a leader that moved', refuseWith(6), 3],
    ['a leader that is not yet elected', refuseWith(5), 3],
    ['a broker with a bad disk', refuseWith(56), 1],
    ['a leader that does not know the partition yet', refuseWith(3), 2],
    ['a leader with an older epoch', refuseWith(1), 2],
    ['an unknown error', refuseWith(999), 1],
    ['a request that is lost with its connection', { kind: 'lose request', disconnect: true }, 2],
    ['a response that is lost with its connection', { kind: 'lose response', disconnect: true }, 2],
    ['a truncated response', { kind: 'patch response', patch: (body) => body.subarray(0, 30) }, 2],
    ['a response with an error for the whole request', { kind: 'patch response', patch: failedAsAWhole }, 2],
  ];
  for (const [title, fault, times] of transientFaults) {
    it(`continue after ${title}, both waiting and immediate ones`, async () => {
      const where = await readPartition();
      const when = names(where);
      const first = inject({ api: 'Fetch', when, times, fault });
      const waiting = readCount(subject.log, where, 1, 1);
      await first.hit;
      await appendTo(subject.witness, where, records('second'));
      expect((await waiting).map(({ value }) => value)).to.deep.equal(['second']);
      const second = inject({ api: 'Fetch', when, times, fault });
      expect(await subject.log.read({ ...where, offset: 2 }, atOnce)).to.deep.equal({ batches: [], nextOffset: 2 });
      expect([first.hits, second.hits]).to.deep.equal([times, times]);
    });
  }

  it('succeed for partitions without an error, whatever happens to another in the same response', async () => {
    const topic = await subject.newTopic(3);
    const pending = [0, 1, 2].map((partition) => readCount(subject.log, { topic, partition }, 1));
    inject({ api: 'Fetch', when: names({ topic, partition: 0 }), times: 3, fault: reportError(6) });
    for (const partition of [2, 1, 0]) await appendTo(subject.witness, { topic, partition }, records(`${partition}`));
    expect((await Promise.all(pending)).flat().map(({ value }) => value)).to.deep.equal(['0', '1', '2']);
  });

  it('report which batch is damaged and continue with other partitions', async () => {
    const damaged = await subject.newPartition();
    const sound = await subject.newPartition();
    for (const value of ['one', 'DAMAGED', 'three']) await appendTo(subject.witness, damaged, records(value));
    await appendTo(subject.witness, sound, records('sound'));
    inject({ api: 'Fetch', ...always, fault: { kind: 'patch response', patch: damage } });
    const [before, beside] = await Promise.all([
      subject.log.read({ ...damaged, offset: 0 }, atOnce),
      subject.log.read({ ...sound, offset: 0 }, atOnce),
    ]);
    expect([valuesOf(before), valuesOf(beside)]).to.deep.equal([['one'], ['sound']]);
    const waiting = readCount(subject.log, sound, 1, 1);
    const error: unknown = await subject.log
      .read({ ...damaged, offset: 1 }, forever)
      .catch((thrown: unknown) => thrown);
    expect(isLendstreamError(error, 'CORRUPT_BATCH') && error.details).to.deep.equal({ ...damaged, baseOffset: 1 });
    const behind = await subject.log.read({ ...damaged, offset: 2 }, atOnce);
    expect(valuesOf(behind)).to.deep.equal(['three']);
    await appendTo(subject.witness, sound, records('still read'));
    expect((await waiting).map(({ value }) => value)).to.deep.equal(['still read']);
  });

  it('report a damaged batch when the broker reports it', async () => {
    const where = await readPartition();
    inject({ api: 'Fetch', when: names(where), fault: refuseWith(2) });
    expect(await codeOf(subject.log.read({ ...where, offset: 1 }, forever))).to.equal('CORRUPT_BATCH');
  });

  it('continue after every connection is lost while thousands wait', async () => {
    const topic = await subject.newTopic(20);
    const pending = Array.from({ length: 2_000 }, (_, read) =>
      subject.log.read({ topic, partition: read % 20, offset: 0 }, forever),
    );
    await new Promise((resolve) => setTimeout(resolve, 150));
    subject.proxy.disconnect();
    for (let partition = 0; partition < 20; partition += 1) {
      await appendTo(subject.witness, { topic, partition }, records('after all'));
    }
    for (const result of await Promise.all(pending)) expect(valuesOf(result)).to.deep.equal(['after all']);
  });

  it('wait for a leader', async () => {
    const where = await readPartition();
    const lost = inject({
      api: 'Metadata',
      times: 5,
      fault: { kind: 'patch response', patch: () => metadataWithoutLeaders(where.topic) },
    });
    const moved = inject({ api: 'Fetch', when: names(where), fault: refuseWith(6) });
    const reading = subject.log.read({ ...where, offset: 1 }, atOnce);
    await moved.hit;
    expect(await reading).to.deep.equal({ batches: [], nextOffset: 1 });
    expect(lost.hits).to.equal(5);
  });

  it('fail after a while when they do not wait, and continue when they do', async () => {
    const where = await readPartition();
    const from = { ...where, offset: 1 };
    const fault = inject({ api: 'Fetch', when: names(where), ...always, fault: refuseWith(6) });
    const waiting = readCount(subject.log, where, 1, 1);
    const ended = codeOf(subject.log.read(from, atOnce));
    await fault.hit;
    await new Promise((resolve) => setTimeout(resolve, 60));
    subject.advance(10_000);
    expect(await ended).to.equal('LOG_UNAVAILABLE');
    fault.remove();
    await appendTo(subject.witness, where, records('second'));
    expect((await waiting).map(({ value }) => value)).to.deep.equal(['second']);
  });

  it('end when they are aborted or the log is closed, during faults too', async () => {
    const other = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const where = await other.newPartition();
      other.proxy.inject({ api: 'Fetch', ...always, fault: refuseWith(6) });
      const stop = new AbortController();
      const aborted = other.log.read({ ...where, offset: 0 }, { ...forever, signal: stop.signal });
      const closed = [forever, atOnce].map((options) => codeOf(other.log.read({ ...where, offset: 0 }, options)));
      await new Promise((resolve) => setTimeout(resolve, 60));
      stop.abort();
      expect(await aborted).to.deep.equal({ batches: [], nextOffset: 0 });
      await other.log.close();
      expect(await Promise.all(closed)).to.deep.equal(['LOG_CLOSED', 'LOG_CLOSED']);
    } finally {
      await other.close();
    }
  });

  it('survive a broker that hangs: its connection is replaced', async () => {
    const where = await readPartition();
    const waiting = readCount(subject.log, where, 1, 1);
    const hanging = inject({ api: 'Fetch', ...always, fault: { kind: 'lose request', disconnect: false } });
    await hanging.hit;
    const reading = subject.log.read({ ...where, offset: 1 }, atOnce);
    await new Promise((resolve) => setTimeout(resolve, 300));
    hanging.remove();
    await appendTo(subject.witness, where, records('second'));
    await reading;
    expect((await waiting).map(({ value }) => value)).to.deep.equal(['second']);
  }).timeout(20_000);
});

/** The response with an error for the whole request: the code comes after the throttle time. */
function failedAsAWhole(body: Buffer): Buffer {
  const failed = Buffer.from(body);
  failed.writeInt16BE(56, 4);
  return failed;
}

/** Flips a bit of the batch with the record. */
function damage(body: Buffer): Buffer | undefined {
  const at = body.indexOf('DAMAGED');
  if (at < 0) return undefined;
  const damaged = Buffer.from(body);
  damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
  return damaged;
}
