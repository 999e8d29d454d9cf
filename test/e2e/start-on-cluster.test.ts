import { expect } from 'chai';
import { it } from 'mocha';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findFreePorts } from '../../scripts/local-cluster/free-ports.ts';
import { systemClock } from '../../src/clock.ts';
import { KafkaLog } from '../../src/kafka/log.ts';
import { accountsTopic } from '../../src/lending-format/lending-topics.ts';
import { silentLogger } from '../../src/logger.ts';
import { loanRecord, productRecord } from '../accounts/stored-loans.ts';
import { describeOnCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/http/client.ts';
import { openKafkaGateways } from '../support/kafka/gateways.ts';
import { readyAddress } from '../support/processes/ready-address.ts';
import { serviceProgram } from '../support/processes/service-program.ts';
import { removeFolder, startService, temporaryFolder } from '../support/processes/service.ts';

/** To have everything, a process that listens needs at least two responses, each of which is this late. */
const responseMilliseconds = 200;

describeOnCluster('a process that starts with accounts to read from Kafka', (cluster) => {
  it('shows how far it is, refuses all other requests, and serves when it has them', async function () {
    this.timeout(120_000);
    const { kafkaBrokers, redisUrl } = cluster();
    const log = await KafkaLog.open({
      brokers: kafkaBrokers,
      clientId: 'test',
      clock: systemClock,
      logger: silentLogger,
    });
    // Creates the topics, which would take long while responses are late.
    const first = await temporaryFolder();
    const before = await startService(first, { KAFKA_BROKERS: kafkaBrokers.join(','), REDIS_URL: redisUrl });
    await before.stop();
    await removeFolder(first);
    const records = [productRecord(), loanRecord({ id: `loan-${Date.now()}` })];
    await log.append([{ topic: accountsTopic, partition: 0, records }]);
    await log.close();

    const folder = await temporaryFolder();
    const kafka = await openKafkaGateways(kafkaBrokers);
    for (const proxy of kafka.proxies) {
      proxy.setMode({ kind: 'delay', milliseconds: responseMilliseconds, direction: 'to client' });
    }
    const [port = 0] = await findFreePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const child = spawn(process.execPath, [serviceProgram], {
      env: {
        ...process.env,
        KAFKA_BROKERS: kafka.proxies.map((proxy) => `${proxy.host}:${proxy.port}`).join(','),
        REDIS_URL: redisUrl,
        HOST: '127.0.0.1',
        PORT: String(port),
        LOG_LEVEL: 'silent',
        DATA_DIR: folder,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    const ready = readyAddress(child, { withinMilliseconds: 100_000 });
    try {
      const isListening = async (): Promise<boolean> =>
        (await fetch(`${url}/health`).catch(() => undefined))?.status === 200;
      await eventually(isListening, 60_000);
      for (const proxy of kafka.proxies) proxy.setMode({ kind: 'pause' });
      const { body } = await call(`${url}/health`, 'GET', undefined, { Accept: 'application/json' });
      const parts = body['parts'] as { name: string; progress: { records: number; percent: number } | null }[];
      const progress = parts.find(({ name }) => name === 'accounts-copy')?.progress;
      expect(progress?.records).to.be.at.least(records.length);
      expect(progress?.percent).to.be.lessThan(100);
      const reading = /The local copy of accounts is being read from the log: \d+ of \d+ records, \d+ %\./;
      for (const path of ['/ready', '/event-types', '/loans']) {
        const { status, headers, text } = await call(`${url}${path}`, 'GET');
        expect([status, headers.get('retry-after')], path).to.deep.equal([503, '1']);
        expect(text).to.match(reading);
      }
      for (const proxy of kafka.proxies) proxy.setMode({ kind: 'pass' });
      expect(await ready).to.equal(url);
      expect((await call(`${url}/ready`, 'GET')).status).to.equal(200);
      expect((await call(`${url}/loans`, 'GET')).status).to.equal(200);
    } finally {
      child.kill('SIGKILL');
      await exited;
      await kafka.close();
      await removeFolder(folder);
    }
  });
});
