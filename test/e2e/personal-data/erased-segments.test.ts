import { expect } from 'chai';
import { it } from 'mocha';
import kafkajs from 'kafkajs';
import { readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { systemClock } from '../../../src/clock.ts';
import { accountsTopic, loanCommandsTopic } from '../../../src/lending-format/lending-topics.ts';
import { listErasures } from '../../../src/lending-format/personal-data/erasures.ts';
import { silentLogger } from '../../../src/logger.ts';
import { ErasedDataRemoval } from '../../../src/worker/personal-data/erased-data-removal.ts';
import { partitionCount, startLendingService } from '../../http/lending/lending-service.ts';
import { describeOnCluster } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { openKafkaLog } from '../../support/kafka/log.ts';
import { kafkaPartitionFolders } from '../../support/kafka/stored-bytes.ts';
import { NamespacedLog } from '../../support/namespaced-log.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

const marker = 'Zebedee-Quux-4712';

/** The brokers look every 15 seconds for something to compact. Milliseconds. */
const erasureMilliseconds = 40_000;

describeOnCluster('the files of Kafka after an erasure of personal data', (cluster) => {
  it('have nothing of it in the changelog within the time, and the local copy has nothing either', async function () {
    this.timeout(150_000);
    const { kafkaBrokers } = cluster();
    const folder = await temporaryFolder();
    const log = new NamespacedLog(await openKafkaLog(cluster()), basename(folder));
    const service = await startLendingService(folder, true, { log });
    const { registry, accounts } = service;
    const options = { log, registry, copy: accounts, clock: systemClock, logger: silentLogger };
    const removal = new ErasedDataRemoval({ ...options, erasureMilliseconds, retentionMilliseconds: 0 });
    const send = async (method: 'post' | 'put', path: string, body: unknown, status: number): Promise<void> => {
      const answer = await service[method](path, body);
      expect(answer.status, answer.text).to.equal(status);
    };
    try {
      await keepDeletedFilesFor(kafkaBrokers, log.sharedName(accountsTopic), 100);
      await send('post', '/loanproducts', annuityProduct('annuity'), 201);
      const texts = { loanName: marker, accountHolderKey: marker, notes: marker, _set: { name: marker } };
      await send('post', '/loans', { id: 'erased', productTypeKey: 'annuity', loanAmount: 1000, ...texts }, 201);
      await send('post', '/loans/erased:changeState', { action: 'APPROVE' }, 200);
      const paid = { valueDate: '2011-01-23', notes: marker };
      await send('post', '/loans/erased/disbursement-transactions', paid, 201);
      const filesOf = async (topic: string): Promise<string[]> => {
        const found: string[] = [];
        for (let partition = 0; partition < partitionCount; partition += 1) {
          for (const each of await kafkaPartitionFolders(kafkaBrokers, log.sharedName(topic), partition)) {
            found.push(...(await filesWith(each)));
          }
        }
        return found;
      };
      expect(await filesOf(accountsTopic)).to.have.length(1);
      expect(await filesWith(folder)).not.to.deep.equal([]);
      await send('post', '/loans/erased:erasePersonalData', {}, 204);
      const { erasedAt = 0 } = listErasures(registry)[0] ?? {};
      const isGone = async (): Promise<boolean> => {
        // To look takes more processor time than what is awaited.
        await systemClock.sleep(1_000);
        return (await filesOf(accountsTopic)).length === 0 && (await filesWith(folder)).length === 0;
      };
      await eventually(isGone, erasedAt + erasureMilliseconds - systemClock.now());
      // The commands have a retention of their own.
      expect(await filesOf(loanCommandsTopic)).not.to.deep.equal([]);
    } finally {
      await removal.stop();
      await service.stop();
      await removeFolder(folder);
    }
  });
});

async function filesWith(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(folder)) {
    const bytes = await readFile(join(folder, name)).catch(() => Buffer.alloc(0));
    if (bytes.includes(marker)) found.push(name);
  }
  return found;
}

/** Kafka deletes the files of compacted segments after a minute, which a test need not wait. */
async function keepDeletedFilesFor(brokers: readonly string[], topic: string, milliseconds: number): Promise<void> {
  const { ConfigResourceTypes, Kafka, logLevel } = kafkajs;
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const configEntries = [
    { name: 'cleanup.policy', value: 'compact' },
    { name: 'segment.ms', value: '3600000' },
    { name: 'file.delete.delay.ms', value: String(milliseconds) },
  ];
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic, configEntries };
  await admin.alterConfigs({ validateOnly: false, resources: [resource] });
  await admin.disconnect();
}
