import { expect } from 'chai';
import { Kafka, logLevel } from 'kafkajs';
import { it } from 'mocha';
import { systemClock } from '../../src/clock.ts';
import { KafkaLog } from '../../src/kafka/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { describeEventLog } from '../contracts/event-log.contract.ts';
import { describeOnCluster, describeOnEachKafka } from '../support/cluster.ts';
import { int16, text } from '../support/kafka/frames.ts';
import { openKafkaLog, uniqueTopic } from '../support/kafka/log.ts';
import { openKafkaProxy } from '../support/kafka/proxy.ts';
import { deleteKafkaRecords } from '../support/kafka/records.ts';
import { appendTo, codeOf, readAll, records } from '../support/log-reading.ts';
import { openLogBehindProxy } from './log-behind-proxy.ts';

describeOnEachKafka('The log of a cluster', (cluster) => {
  describeEventLog('Kafka', async () => {
    const brokers = cluster().kafkaBrokers;
    const open = (): Promise<KafkaLog> =>
      KafkaLog.open({ brokers, clientId: 'contract', logger: silentLogger, clock: systemClock });
    let log = await open();
    return {
      get log() {
        return log;
      },
      reopen: async () => {
        await log.close();
        log = await open();
        return log;
      },
      expire: (topic) => deleteKafkaRecords(brokers, topic),
      cleanup: () => log.close(),
    };
  });
});

describeOnCluster('The log of a cluster', (cluster) => {
  it('names the cluster as soon as it is open, or calls it unknown', async () => {
    const admin = new Kafka({ brokers: [...cluster().kafkaBrokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const { clusterId } = await admin.describeCluster();
    await admin.disconnect();
    const log = await openKafkaLog(cluster());
    expect(log.clusterId).to.equal(clusterId);
    await log.close();
    const proxy = openKafkaProxy();
    const patch = (body: Buffer): Buffer => {
      const at = body.indexOf(text(clusterId));
      return Buffer.concat([body.subarray(0, at), int16(-1), body.subarray(at + text(clusterId).length)]);
    };
    proxy.inject({ api: 'Metadata', times: Infinity, fault: { kind: 'patch response', patch } });
    const nameless = await openKafkaLog(cluster(), { socketFactory: proxy.socketFactory });
    expect(nameless.clusterId).to.equal('unknown');
    await nameless.close();
    await proxy.close();
  });

  it('reads nothing of a topic that it has deleted, although it was read a moment before', async () => {
    const log = await openKafkaLog(cluster());
    const { name: topic, ...configuration } = uniqueTopic();
    const where = { topic, partition: 0 };
    await log.createTopic({ name: topic, ...configuration });
    await appendTo(log, where, records('a', 'b'));
    expect(await readAll(log, where)).to.have.length(2);
    await log.deleteTopic(topic);
    const read = log.read({ ...where, offset: 0 }, { bytesMaximum: 1, waitMilliseconds: 0 });
    expect(await codeOf(read)).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
    await log.close();
  });

  it('is closed for every caller only when its open transactions were aborted', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    const where = await subject.newPartition();
    const writer = await subject.log.openWriter('closing');
    await writer.append([{ ...where, records: records('open') }]);
    const aborting = subject.proxy.inject({ api: 'EndTxn', fault: { kind: 'delay response', milliseconds: 50 } });
    const closing = [subject.log.close(), subject.log.close()];
    const first = await Promise.race(closing.map((each, index) => each.then(() => index)));
    expect([first, aborting.hits, subject.proxy.requests('EndTxn')]).to.deep.equal([0, 1, 1]);
    expect(await subject.witness.bounds([where])).to.deep.equal([{ ...where, earliest: 0, latest: 2 }]);
    await subject.close();
  });
});
