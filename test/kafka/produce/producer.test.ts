import { expect } from 'chai';
import { after, before, it } from 'mocha';
import type { AppendResult, TopicPartition } from '../../../src/ports/event-log.ts';
import { describeOnCluster } from '../../support/cluster.ts';
import { recordBatchBytes } from '../../../src/kafka/protocol/record-batches/record-sizes.ts';
import { refuseWith, reportError, type Fault, type InjectedFault } from '../../support/kafka/proxy.ts';
import { incompressible } from '../../support/values/incompressible.ts';
import { digested, readDigests, schedule } from '../../support/values/large-values.ts';
import { appendTo, codeOf, keyed, readAll, readCount, records } from '../../support/log-reading.ts';
import { createSmallTopic, openLogBehindProxy, sized, type LogBehindProxy } from '../log-behind-proxy.ts';
import { metadataWithoutLeaders } from '../connection/metadata-responses.ts';
import { eventually } from '../../support/eventually.ts';

const loseResponse: Fault = { kind: 'lose response', disconnect: true };
const loseRequest: Fault = { kind: 'lose request', disconnect: true };

describeOnCluster('Appends to Kafka', (cluster) => {
  let subject: LogBehindProxy;

  before(async () => {
    subject = await openLogBehindProxy(cluster().kafkaBrokers);
  });
  after(() => subject.close());

  /** An append that has succeeded once, so that only the tested part remains. */
  async function usedPartition(): Promise<TopicPartition> {
    const where = await subject.newPartition();
    await appendTo(subject.log, where, records('first'));
    return where;
  }

  /** Appends each text with a separate call, all at once. */
  function appendEach(where: TopicPartition, ...texts: readonly string[]): Promise<AppendResult[]> {
    return Promise.all(texts.map((text) => subject.log.append([{ ...where, records: records(text) }]))).then(
      (results) => results.flat(),
    );
  }

  /** Expects each text to be stored once, at the offset that its append returned, after the earlier ones. */
  async function expectStored(where: TopicPartition, texts: readonly string[], results: readonly AppendResult[]) {
    const read = await readAll(subject.witness, where);
    expect(read.slice(-texts.length).map(({ value }) => value)).to.deep.equal(texts);
    expect(new Set(read.map(({ value }) => value)).size).to.equal(read.length);
    expect(results.map(outcomeOf)).to.deep.equal(read.slice(-texts.length).map(({ offset }) => offset));
  }

  async function whileInjected<Answer>(
    faults: readonly InjectedFault[],
    action: () => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await action();
    } finally {
      for (const fault of faults) fault.remove();
    }
  }

  it('of one turn of the event loop are one request and one batch, and each returns its own offset', async () => {
    const where = await usedPartition();
    const requests = subject.proxy.requests('Produce');
    const texts = Array.from({ length: 50 }, (_, index) => `${index}`);
    const results = await appendEach(where, ...texts);
    expect(subject.proxy.requests('Produce') - requests).to.equal(1);
    await expectStored(where, texts, results);
  });

  it('of one turn of the event loop are one request for all partitions of a leader', async () => {
    const topic = await subject.newTopic(3);
    const append = (): Promise<AppendResult[]> =>
      subject.log.append([0, 1, 2].map((partition) => ({ topic, partition, records: records('a') })));
    await append();
    const requests = subject.proxy.requests('Produce');
    await append();
    expect(subject.proxy.requests('Produce') - requests).to.equal(1);
  });

  for (const [what, errorCode, isAsked] of [
    ['looked up again when it reports that it is not the leader', 6, true],
    ['looked up again when it does not know the partition', 3, true],
    ['kept while too few replicas are in sync', 19, false],
    ['kept when its replicas took too long', 7, false],
  ] as const) {
    it(`go to a leader that is ${what}`, async () => {
      const where = await usedPartition();
      const lookups = subject.proxy.requests('Metadata');
      subject.proxy.inject({ api: 'Produce', fault: errorCode === 7 ? reportError(7) : refuseWith(errorCode) });
      await expectStored(where, ['a'], await appendEach(where, 'a'));
      expect(subject.proxy.requests('Metadata') - lookups).to.equal(isAsked ? 1 : 0);
    });
  }

  it('without records are refused', async () => {
    const where = await subject.newPartition();
    const [result] = await subject.log.append([{ ...where, records: [] }]);
    expect(result && outcomeOf(result)).to.equal('UNPROCESSABLE');
  });

  const transientFaults: readonly (readonly [string, Fault, number])[] = [
    ['a response is lost', loseResponse, 1],
    ['responses are lost repeatedly', loseResponse, 4],
    ['a request is lost', loseRequest, 1],
    ['the leader reports that it is not the leader', refuseWith(6), 3],
    ['the leader stores them and reports that it is not the leader', reportError(6), 1],
    ['too few replicas are in sync for a while', refuseWith(19), 3],
    ['too few replicas were in sync after they were stored', reportError(20), 2],
    ['the replicas took too long', reportError(7), 1],
    ['the broker does not know the partition yet', refuseWith(3), 2],
    ['they arrive damaged', refuseWith(2), 1],
    ['the broker expects another sequence number', refuseWith(45), 1],
    ['the broker does not know the producer id', refuseWith(59), 1],
    ['the producer’s epoch is over', refuseWith(47), 1],
  ];
  for (const [what, fault, times] of transientFaults) {
    it(`are stored once and in order when ${what}, with others queued behind`, async () => {
      const where = await usedPartition();
      const injected = subject.proxy.inject({ api: 'Produce', fault, times });
      const first = appendEach(where, 'a');
      await injected.hit;
      const behind = appendEach(where, 'b', 'c');
      const results = [...(await first), ...(await behind)];
      expect(injected.hits).to.equal(times);
      await expectStored(where, ['a', 'b', 'c'], results);
      await expectStored(where, ['d'], await appendEach(where, 'd'));
    });
  }

  it('are stored once when no response comes and the connection stays open', async () => {
    const where = await usedPartition();
    subject.proxy.inject({ api: 'Produce', fault: { kind: 'lose response', disconnect: false } });
    await expectStored(where, ['a'], await appendEach(where, 'a'));
  });

  it('to several partitions are stored once each when their common responses are lost', async () => {
    const topic = await subject.newTopic(5);
    const partitions = [0, 1, 2, 3, 4].map((partition) => ({ topic, partition }));
    const append = (text: string): Promise<AppendResult[]> =>
      subject.log.append(partitions.map((where) => ({ ...where, records: records(`${text}1`, `${text}2`) })));
    await append('first');
    subject.proxy.inject({ api: 'Produce', fault: loseResponse, times: 2 });
    const results = await Promise.all([append('a'), append('b')]);
    for (const [partition, where] of partitions.entries()) {
      const read = await readAll(subject.witness, where);
      expect(read.map(({ value }) => value)).to.deep.equal(['first1', 'first2', 'a1', 'a2', 'b1', 'b2']);
      const offsets = results.map((result) => outcomeOf(result[partition] as AppendResult));
      expect(offsets).to.deep.equal([read[2]?.offset, read[4]?.offset]);
    }
  });

  it('without a response have an unknown outcome, queued ones are not stored, and later ones are sent separately', async () => {
    const where = await usedPartition();
    const injected = subject.proxy.inject({ api: 'Produce', fault: loseResponse, times: Infinity });
    const sent = appendEach(where, 'sent');
    await injected.hit;
    const behind = appendEach(where, 'behind');
    const ids = subject.proxy.requests('InitProducerId');
    await whileInjected([injected], async () => {
      await until(() => injected.hits > 2);
      subject.advance(15_000);
      expect((await sent).map(outcomeOf)).to.deep.equal(['OUTCOME_UNKNOWN']);
      expect((await behind).map(outcomeOf)).to.deep.equal(['LOG_UNAVAILABLE']);
    });
    await appendEach(where, 'later');
    await appendEach(where, 'last');
    expect(await subject.valuesIn(where)).to.deep.equal(['first', 'sent', 'later', 'last']);
    // None when the request was just on its way: it is stored under its number, whatever its caller was told.
    expect(subject.proxy.requests('InitProducerId') - ids).to.be.within(0, 1);
  });

  it('that too few replicas could accept for too long fail with nothing stored', async () => {
    const where = await usedPartition();
    const injected = subject.proxy.inject({ api: 'Produce', fault: refuseWith(19), times: Infinity });
    await whileInjected([injected], async () => {
      const refused = appendEach(where, 'refused');
      // By then the pauses are long. The time must be over between two attempts, because one in progress may still be
      // stored.
      await eventually(() => injected.hits >= 6);
      await new Promise((resolve) => setTimeout(resolve, 30));
      subject.advance(15_000);
      expect((await refused).map(outcomeOf)).to.deep.equal(['LOG_UNAVAILABLE']);
    });
    await appendEach(where, 'later');
    expect(await subject.valuesIn(where)).to.deep.equal(['first', 'later']);
  });

  it('that the broker knows as stored, but no longer where, have an unknown outcome', async () => {
    const where = await usedPartition();
    subject.proxy.inject({ api: 'Produce', fault: reportError(46) });
    expect((await appendEach(where, 'a')).map(outcomeOf)).to.deep.equal(['OUTCOME_UNKNOWN']);
    await appendEach(where, 'b');
    expect(await subject.valuesIn(where)).to.deep.equal(['first', 'a', 'b']);
  });

  it('that fail with an unknown error have an unknown outcome, and the partition continues', async () => {
    const where = await usedPartition();
    subject.proxy.inject({ api: 'Produce', fault: reportError(-1) });
    expect((await appendEach(where, 'a')).map(outcomeOf)).to.deep.equal(['OUTCOME_UNKNOWN']);
    await appendEach(where, 'b');
    expect(await subject.valuesIn(where)).to.deep.equal(['first', 'a', 'b']);
  });

  it('to a partition without a leader fail with nothing stored and do not delay others', async () => {
    const leaderless = await subject.newPartition();
    const where = await usedPartition();
    const injected = subject.proxy.inject({
      api: 'Metadata',
      times: Infinity,
      when: ({ body }) => body.includes(leaderless.topic),
      fault: { kind: 'answer', body: () => metadataWithoutLeaders(leaderless.topic) },
    });
    await whileInjected([injected], async () => {
      const waiting = appendEach(leaderless, 'never');
      await injected.hit;
      await expectStored(where, ['a'], await appendEach(where, 'a'));
      await until(() => injected.hits > 2);
      subject.advance(5_000);
      expect((await waiting).map(outcomeOf)).to.deep.equal(['LOG_UNAVAILABLE']);
    });
    await appendEach(leaderless, 'later');
    expect(await subject.valuesIn(leaderless)).to.deep.equal(['later']);
  });

  it('to one partition with faults do not delay others', async () => {
    const failing = await usedPartition();
    const where = await usedPartition();
    const injected = subject.proxy.inject({
      api: 'Produce',
      times: Infinity,
      when: ({ body }) => body.includes(failing.topic),
      fault: refuseWith(19),
    });
    let waiting: Promise<AppendResult[]> = Promise.resolve([]);
    await whileInjected([injected], async () => {
      waiting = appendEach(failing, 'late');
      await injected.hit;
      for (const text of ['a', 'b', 'c']) await expectStored(where, [text], await appendEach(where, text));
    });
    await expectStored(failing, ['late'], await waiting);
  });

  it('to a topic with smaller batches are stored one by one, and those too large for it fail alone and completely', async () => {
    const topic = await createSmallTopic(cluster().kafkaBrokers, 100_000);
    const where = { topic, partition: 0 };
    const many = Array.from({ length: 30 }, (_, index) => sized(`many ${index}`, 10_000));
    const results = await Promise.all([
      ...many.map((record) => subject.log.append([{ ...where, records: [record] }])),
      subject.log.append([{ ...where, records: [{ key: 'huge', value: incompressible(150_000) }] }]),
      subject.log.append([{ ...where, records: many }]),
      subject.log.append([{ ...where, records: [sized('last', 10)] }]),
    ]);
    const outcomes = results.flat().map(outcomeOf);
    const read = await readAll(subject.witness, where, undefined, 10_000_000);
    expect(outcomes.slice(30, 32)).to.deep.equal(['RECORD_TOO_LARGE', 'RECORD_TOO_LARGE']);
    expect([...outcomes.slice(0, 30), outcomes[32]]).to.deep.equal(read.map(({ offset }) => offset));
    expect(read.map(({ value }) => value?.split('.')[0])).to.deep.equal([
      ...many.map(({ value }) => value?.toString().split('.')[0]),
      'last',
    ]);
  });

  it('are stored up to the exact size limit of a topic, and not at all one byte above it', async () => {
    const batchBytesMaximum = 20_000;
    const where = { topic: await createSmallTopic(cluster().kafkaBrokers, batchBytesMaximum), partition: 0 };
    const of = (bytes: number) => [sized('a', 5_000), sized('b', 5_000), sized('c', bytes)];
    const room = batchBytesMaximum - recordBatchBytes(of(9_000)) + 9_000;
    const [above] = await subject.log.append([{ ...where, records: of(room + 1) }]);
    expect(above && outcomeOf(above)).to.equal('RECORD_TOO_LARGE');
    expect(await readAll(subject.witness, where)).to.deep.equal([]);
    const [within] = await subject.log.append([{ ...where, records: of(room) }]);
    expect(within && outcomeOf(within)).to.equal(0);
    expect(await readAll(subject.witness, where)).to.have.length(3);
  });

  it('of large records are stored compressed: a topic accepts more of them than it accepts bytes', async () => {
    const where = { topic: await createSmallTopic(cluster().kafkaBrokers, 100_000), partition: 0 };
    const appended = [
      [keyed('small', '1'), { key: 'large', value: schedule(400_000) }, keyed('none', null)],
      [{ key: 'noise', value: incompressible(90_000) }],
    ];
    for (const some of appended) await appendTo(subject.log, where, some);
    const writer = await subject.log.openWriter(`writer-${where.topic}`);
    await writer.append(appended.map((some) => ({ ...where, records: some })));
    await writer.commit();
    await readCount(subject.witness, where, 8);
    const expected = [...appended.flat(), ...appended.flat()].map(digested);
    expect(await readDigests(subject.witness, where, 1_000_000)).to.deep.equal(expected);
    const tooMuch = appendTo(subject.log, where, [{ key: null, value: incompressible(110_000) }]);
    expect(await codeOf(tooMuch)).to.equal('RECORD_TOO_LARGE');
  });

  it('of large records are stored once when their response is lost', async () => {
    const where = await usedPartition();
    const lost = subject.proxy.inject({ api: 'Produce', fault: loseResponse });
    const record = { key: 'large', value: schedule(400_000) };
    const offset = await appendTo(subject.log, where, [record]);
    expect([offset, lost.hits]).to.deep.equal([1, 1]);
    expect((await readDigests(subject.witness, where, 1_000_000)).slice(1)).to.deep.equal([digested(record)]);
  });

  it('beyond the limit of one append are refused without being sent', async () => {
    const where = await usedPartition();
    const requests = subject.proxy.requests('Produce');
    const [result] = await subject.log.append([
      { ...where, records: Array.from({ length: 9 }, (_, index) => sized(`${index}`, 1024 * 1024)) },
    ]);
    expect(result && outcomeOf(result)).to.equal('RECORD_TOO_LARGE');
    expect(subject.proxy.requests('Produce')).to.equal(requests);
    await expectStored(where, ['a'], await appendEach(where, 'a'));
  });

  it('to a topic that is deleted in the meantime fail as unknown, and a new topic of the same name works', async () => {
    const { topic } = await usedPartition();
    const where = { topic, partition: 0 };
    await subject.witness.deleteTopic(topic);
    expect((await appendEach(where, 'gone')).map(outcomeOf)).to.deep.equal(['UNKNOWN_TOPIC_OR_PARTITION']);
    const configuration = {
      name: topic,
      partitionCount: 1,
      cleanupPolicy: 'delete',
      retentionMilliseconds: 1e6,
    } as const;
    await subject.witness.createTopic(configuration);
    await expectStored(where, ['anew', 'again'], await appendEach(where, 'anew', 'again'));
  });

  it('are each stored once, at the returned offset, and in the order of their caller, whatever fails', async () => {
    const topic = await subject.newTopic(4);
    // None that refuses the number of a batch: right after a lost response its outcome is unknown, which is correct.
    const faults: Fault[] = [loseResponse, loseRequest, refuseWith(6), reportError(6), reportError(20), refuseWith(19)];
    const injected = faults.flatMap((fault, index) =>
      [0, 1, 2, 3].map((round) => subject.proxy.inject({ api: 'Produce', fault, nth: 3 + index * 2 + round * 13 })),
    );
    const callers = Array.from({ length: 16 }, (_, caller) => caller);
    const outcomes = new Map<string, number | string>();
    await whileInjected(injected, () =>
      Promise.all(
        callers.map(async (caller) => {
          for (let round = 0; round < 25; round += 1) {
            const text = `${caller} ${round}`;
            const [result] = await appendEach({ topic, partition: caller % 4 }, text);
            outcomes.set(text, result === undefined ? 'nothing' : outcomeOf(result));
          }
        }),
      ),
    );
    expect(injected.reduce((sum, { hits }) => sum + hits, 0)).to.be.above(10);
    for (const partition of [0, 1, 2, 3]) {
      const read = await readAll(subject.witness, { topic, partition });
      expect(read).to.have.length(100);
      for (const { offset, value } of read) expect(outcomes.get(value ?? '')).to.equal(offset);
      for (const caller of callers.filter((candidate) => candidate % 4 === partition)) {
        const own = read.filter(({ value }) => value?.startsWith(`${caller} `)).map(({ value }) => value);
        expect(own).to.deep.equal(Array.from({ length: 25 }, (_, round) => `${caller} ${round}`));
      }
    }
  });
});

describeOnCluster('Appends to Kafka at their limits and at closing', (cluster) => {
  it('are refused immediately beyond the limit of the queue, and those before are stored', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers, { queuedBytesMaximum: 100_000 });
    try {
      const where = await subject.newPartition();
      subject.proxy.inject({ api: 'Produce', fault: { kind: 'delay request', milliseconds: 200 } });
      const append = (name: string): Promise<AppendResult[]> =>
        subject.log.append([{ ...where, records: [sized(name, 40_000)] }]);
      const accepted = [append('a'), append('b')];
      const [refused] = await append('c');
      expect(refused && outcomeOf(refused)).to.equal('OVERLOADED');
      await Promise.all(accepted);
      await append('d');
      const values = await subject.valuesIn(where);
      expect(values.map((value) => value?.[0])).to.deep.equal(['a', 'b', 'd']);
    } finally {
      await subject.close();
    }
  });

  it('are accepted beyond the limit of the queue when nothing else waits', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers, { queuedBytesMaximum: 100_000 });
    try {
      const where = await subject.newPartition();
      for (const name of ['a', 'b']) {
        const [result] = await subject.log.append([{ ...where, records: [sized(name, 200_000)] }]);
        expect(result && outcomeOf(result)).to.be.a('number');
      }
    } finally {
      await subject.close();
    }
  });

  it('are completed by closing, and refused afterwards', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const where = await subject.newPartition();
      await appendTo(subject.log, where, records('first'));
      subject.proxy.inject({ api: 'Produce', fault: loseResponse });
      const underWay = appendTo(subject.log, where, records('under way'));
      await Promise.all([subject.log.close(), subject.log.close()]);
      expect(await underWay).to.equal(1);
      expect(await codeOf(appendTo(subject.log, where, records('late')))).to.equal('LOG_CLOSED');
      expect(await subject.valuesIn(where)).to.deep.equal(['first', 'under way']);
    } finally {
      await subject.close();
    }
  });

  it('that cannot be stored do not prevent the log from closing', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const where = await subject.newPartition();
      await appendTo(subject.log, where, records('first'));
      const injected = subject.proxy.inject({ api: 'Produce', fault: loseResponse, times: Infinity });
      const sent = codeOf(appendTo(subject.log, where, records('sent')));
      await injected.hit;
      const queued = codeOf(appendTo(subject.log, where, records('queued')));
      await subject.log.close();
      expect(await sent).to.equal('OUTCOME_UNKNOWN');
      expect(await queued).to.equal('LOG_CLOSED');
    } finally {
      await subject.close();
    }
  });
});

/** The base offset, or the code of the error. */
function outcomeOf(result: AppendResult): number | string {
  return result.outcome === 'appended' ? result.baseOffset : result.error.code;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
