import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { EventLog, LogRecord } from '../../src/ports/event-log.ts';
import type { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { openFilledCopy } from '../support/lending/filled-copy.ts';
import { idempotencyRecordKey, writeIdempotencyRecord } from '../../src/lending-format/idempotency-record.ts';
import { silentLogger } from '../../src/logger.ts';
import { openLogUnderTest } from '../support/backend-under-test.ts';
import { eventually } from '../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { checkpointRecord, loanRecord, productRecord } from './stored-loans.ts';

const topic = 'lendstream.accounts';
const never = new AbortController().signal;
const minute = 60_000;
const mebibyte = 1024 * 1024;
const commandCount = 9_000;
/** The newest of so many commands stays. */
const keptShare = 10;
const recordsPerCommit = 300;
const digest = 'd'.repeat(3_500);

/** A command may wait for one step, and here for the other processes of the machine. */
const pauseMillisecondsMaximum = 2_000;

const commandIdOf = (number: number): string =>
  `00000000-0000-4000-8000-${`${(number * 7_919) % 100_000}`.padStart(12, '0')}`;

describe('a copy of accounts most of which is forgotten', function () {
  this.timeout(60_000);
  let folder: string;
  let log: EventLog;
  let clock: SimulatedClock;
  let accounts: AccountsCopy;
  let position: number;

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLogUnderTest(folder);
    await log.createTopic({ name: topic, partitionCount: 1, cleanupPolicy: 'compact', retentionMilliseconds: 0 });
    clock = new SimulatedClock();
    accounts = await openFilledCopy({ dataFolder: folder, log, partitionCount: 1, clock, logger: silentLogger });
    position = 0;
  });
  afterEach(async () => {
    await accounts.close();
    await log.close();
    await removeFolder(folder);
  });

  /** The commit of the worker for a command, and the wait until the copy has it. */
  async function commit(...records: readonly LogRecord[]): Promise<void> {
    position += 1;
    const commandId = commandIdOf(position);
    const outcome = accounts.outcomeOf(commandId, never);
    const checkpoint = checkpointRecord(0, position, [{ commandId, outcome: 'committed' }]);
    await log.append([{ topic, partition: 0, records: [...records, checkpoint] }]);
    expect(await outcome).to.include({ commandId });
  }

  /** Records the commands with these numbers, or forgets them. */
  async function commitCommands(to: number, valueOf: (number: number) => Buffer | null): Promise<void> {
    for (let first = 0; first < to; first += recordsPerCommit) {
      const numbers = Array.from({ length: recordsPerCommit }, (_, index) => first + index);
      await commit(
        ...numbers.map((number) => ({ key: idempotencyRecordKey(commandIdOf(number)), value: valueOf(number) })),
      );
    }
  }

  it('gives its disk space back within five minutes, while commands and reads go on', async () => {
    const sizeOf = (suffix: string): number => statSync(join(folder, `accounts.db${suffix}`)).size;
    await commit(productRecord());
    await commitCommands(commandCount, (decidedAt) => Buffer.from(writeIdempotencyRecord({ digest, decidedAt })));
    const kept = (commandCount * (digest.length + 200)) / keptShare;
    await commitCommands(commandCount - commandCount / keptShare, () => null);
    expect(sizeOf('')).to.be.above(5 * kept);

    const done = new AbortController();
    let [rounds, pause] = [0, 0];
    const others = (async () => {
      while (!done.signal.aborted) {
        const startedAt = performance.now();
        const id = `loan-${rounds}`;
        await commit(loanRecord({ id }));
        expect((await accounts.find(id))?.id).to.equal(id);
        const query = { sorting: [], offset: rounds, limit: 1 };
        expect((await accounts.search((searches) => searches.loans(query))).items).to.have.length(1);
        rounds += 1;
        pause = Math.max(pause, performance.now() - startedAt);
      }
    })();
    for (let passed = 0; passed < 5; passed += 1) {
      await clock.turn(minute);
      const before = rounds;
      await eventually(() => rounds > before);
    }
    done.abort();
    await others;

    expect(sizeOf('')).to.be.at.most(1.5 * kept + 4 * mebibyte);
    expect(sizeOf('-wal')).to.be.at.most(32 * mebibyte);
    expect(pause).to.be.below(pauseMillisecondsMaximum);
    expect(accounts.commandText(0, commandIdOf(0))).to.equal(undefined);
    const newest = commandCount - 1;
    const text = writeIdempotencyRecord({ digest, decidedAt: newest });
    expect(accounts.commandText(0, commandIdOf(newest))).to.equal(text);
  });
});
