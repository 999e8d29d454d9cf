import { expect } from 'chai';
import { Kafka, logLevel } from 'kafkajs';
import { describeOnCluster } from '../cluster.ts';
import { insist } from '../insist.ts';
import { openKafkaGateways, type KafkaGateways } from './gateways.ts';
import { after, before, it } from 'mocha';

describeOnCluster('Gateways to Kafka', (cluster) => {
  let gateways: KafkaGateways;

  before(async () => {
    gateways = await openKafkaGateways(cluster().kafkaBrokers);
  });

  after(() => gateways.close());

  it('are the only addresses that a client ever connects to', async () => {
    const addresses = gateways.proxies.map(({ host, port }) => `${host}:${port}`);
    const admin = new Kafka({ brokers: addresses, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const { brokers } = await admin.describeCluster();
    expect(brokers.map(({ host, port }) => `${host}:${port}`)).to.have.members(addresses);
    // Asks the coordinator of the group, whose address comes from another request. In a new Kafka it starts only now.
    await insist(() => admin.describeGroups(['no-such-group']));
    await admin.disconnect();
  });

  it('disconnect a client when they are cut', async () => {
    for (const proxy of gateways.proxies) proxy.setMode({ kind: 'cut' });
    const brokers = gateways.proxies.map(({ host, port }) => `${host}:${port}`);
    const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 0 } }).admin();
    const outcome = await admin.connect().then(
      () => 'connected',
      () => 'refused',
    );
    await admin.disconnect();
    for (const proxy of gateways.proxies) proxy.setMode({ kind: 'pass' });
    expect(outcome).to.equal('refused');
  });
});
