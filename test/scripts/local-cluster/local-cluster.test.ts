import { expect } from 'chai';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, describe, it } from 'mocha';
import { classArchive, newClusterFeatures } from '../../../scripts/local-cluster/kafka-broker.ts';
import { jarFolder, jarsAreFetched } from '../../../scripts/local-cluster/kafka-jars.ts';
import { startCluster, type LocalCluster } from '../../../scripts/local-cluster/local-cluster.ts';
import { java, maven, redisServer } from '../../../scripts/local-cluster/prerequisites.ts';

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

const startMillisecondsMaximum = 120_000;

describe('A local cluster', function () {
  this.timeout(startMillisecondsMaximum);
  let cluster: LocalCluster;

  before(async function () {
    const needed = [java, redisServer, ...(jarsAreFetched('4.3.1') ? [] : [maven])];
    const missing = needed.filter(({ isThere }) => !isThere()).map(({ name }) => name);
    if (missing.length > 0) {
      process.stdout.write(`    skipped: there is no ${missing.join(', no ')}\n`);
      this.skip();
    }
    cluster = await startCluster();
  });

  after(() => cluster?.stop());

  async function administer<Answer>(work: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    const admin = new Kafka({ brokers: [...cluster.kafkaBrokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  }

  it('restarts a killed broker at its address, with its topics', async () => {
    const [broker] = cluster.brokers;
    const topic = 'kept-over-a-crash';
    await administer((admin) => admin.createTopics({ topics: [{ topic, numPartitions: 3 }], waitForLeaders: true }));
    await broker?.kill('SIGKILL');
    expect(await isOpen(broker?.port ?? 0), 'its port is free once it is gone').to.equal(false);
    await broker?.start();
    expect(await administer((admin) => admin.listTopics())).to.include(topic);
  });

  it('has what makes its start quick, from a start before it', () => {
    const jars = jarFolder('4.3.1');
    for (const file of [classArchive(jars), newClusterFeatures(jars)]) expect(existsSync(file), file).to.equal(true);
  });
});
