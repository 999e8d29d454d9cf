import { randomUUID } from 'node:crypto';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import { hashPartition } from '../../../src/broker/publishing/partitioning.ts';
import { EmbeddedLog } from '../../../src/embedded/log.ts';
import { isCheckpointKey } from '../../../src/lending-format/checkpoint.ts';
import { accountsTopic } from '../../../src/lending-format/lending-topics.ts';
import { readToggles } from '../../../src/lending-format/stored-toggles.ts';
import { silentLogger } from '../../../src/logger.ts';
import { CommandBatch } from '../../../src/worker/command-batch.ts';
import { LoanStore } from '../../../src/worker/loan-store.ts';
import { emptyCopy } from '../empty-copy.ts';
import { commandsOf, commandsPerLoanMaximum } from './loan-commands.ts';

/**
 * Writes the changelog of many loans into the log of a service that is not running: the records that its worker would
 * write, decided and encoded by the worker's own code. Commands and events, which the copy of the changelog never
 * reads, are left out; so are the checkpoints, for there is no command that they could name. Prints the records.
 */
interface Settings {
  readonly dataFolder: string;
  readonly partitionCount: number;
  /** The ids of products, which the loans use in turns. */
  readonly products: readonly string[];
  /** The number of the first loan. */
  readonly from: number;
  readonly count: number;
  /** The day on which the loans are disbursed; without it, none is. */
  readonly disbursedOn?: string;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const { dataFolder, partitionCount, products, from, count, disbursedOn } = settings;
const loansPerRound = 4_000;
const idempotencyMilliseconds = 24 * 3_600_000;
/** Above the offsets of commands that were sent: the keys of a loan follow from the position of its command. */
const firstOffset = 1_000_000_000;

const log = await EmbeddedLog.open({ dataFolder, logger: silentLogger });
const registry = new Registry(log, silentLogger);
await registry.start();
const { signal } = new AbortController();
let written = 0;
for (let first = from; first < from + count; first += loansPerRound) {
  const stores = await Promise.all(
    Array.from({ length: partitionCount }, (_, partition) => LoanStore.open(emptyCopy, partition, signal)),
  );
  const now = Date.now();
  const batches = stores.map(
    (store, partition) =>
      new CommandBatch({
        partition,
        partitionCount,
        store,
        registry,
        logger: silentLogger,
        now,
        idempotencyMilliseconds,
        retentionMilliseconds: idempotencyMilliseconds,
      }),
  );
  for (let number = first; number < Math.min(first + loansPerRound, from + count); number += 1) {
    for (const [index, { loanAccountId, ...command }] of commandsOf(number, products, disbursedOn).entries()) {
      const partition = hashPartition([loanAccountId], partitionCount);
      const metadata = { eid: randomUUID(), received_at: new Date(now).toISOString() };
      const value = Buffer.from(JSON.stringify({ metadata, loanAccountId, ...command }));
      const offset = firstOffset + number * commandsPerLoanMaximum + index;
      batches[partition]?.decide({ partition, offset, appendedAt: now, value }, readToggles(registry));
    }
  }
  const appended = batches.flatMap((batch, partition) =>
    batch.write().records.flatMap(({ topic, records }) => {
      if (topic !== accountsTopic) return [];
      return [{ topic, partition, records: records.filter(({ key }) => key === null || !isCheckpointKey(key)) }];
    }),
  );
  for (const result of await log.append(appended)) if (result.outcome === 'failed') throw result.error;
  for (const { records } of appended) written += records.length;
  const refused = batches.flatMap((batch) => batch.decided).find(({ outcome }) => outcome !== 'committed');
  if (refused !== undefined) throw new Error(`A ${refused.type} was ${refused.outcome}`);
}
await registry.stop();
await log.close();
console.log(JSON.stringify({ records: written }));
