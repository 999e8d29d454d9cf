import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { EventLog, FencedWriter, LogRecord, Offset } from '../../src/ports/event-log.ts';
import { systemClock } from '../../src/clock.ts';
import { decodeSummary } from '../../src/lending/changelog/stored-loan.ts';
import { silentLogger } from '../../src/logger.ts';
import type { OwnCommit } from '../../src/accounts/accounts-for-worker.ts';
import type { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { openFilledCopy } from '../support/lending/filled-copy.ts';
import type { CommandOutcome } from '../../src/lending-format/checkpoint.ts';
import { openLogUnderTest } from '../support/backend-under-test.ts';
import { eventually } from '../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { overriding } from '../support/stepping-log.ts';
import { checkpointRecord, loanRecord } from './stored-loans.ts';

const topic = 'lendstream.accounts';
const never = new AbortController().signal;
const command = '11111111-1111-4111-8111-111111111111';

describe('a copy of accounts in the process that owns a partition', () => {
  let folder: string;
  let log: EventLog;
  let accounts: AccountsCopy;
  /** Whether the copy gets nothing from the log for now. */
  let isLate: boolean;
  let letThrough: () => void;
  let batchesRead: number;

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLogUnderTest(folder);
    await log.createTopic({ name: topic, partitionCount: 2, cleanupPolicy: 'compact', retentionMilliseconds: 0 });
    isLate = false;
    batchesRead = 0;
    const passed = new Promise<void>((resolve) => (letThrough = resolve));
    const read: EventLog['read'] = async (from, options) => {
      const result = await log.read(from, options);
      if (isLate && result.batches.length > 0) await passed;
      batchesRead += result.batches.length;
      return result;
    };
    accounts = await openFilledCopy({
      dataFolder: folder,
      log: overriding(log, { read }),
      partitionCount: 2,
      clock: systemClock,
      logger: silentLogger,
    });
  });

  afterEach(async () => {
    letThrough();
    await accounts.close();
    await log.close();
    await removeFolder(folder);
  });

  /** Commits to partition 0 like the worker. @returns the offset after the commit */
  async function commit(writer: FencedWriter, ...records: readonly LogRecord[]): Promise<Offset> {
    await writer.append([{ topic, partition: 0, records }]);
    const [committed] = await writer.commit();
    return committed?.nextOffset ?? expect.fail();
  }

  function outcomeWith(loanAccountId: string): CommandOutcome {
    return { commandId: command, outcome: 'committed', loanAccountId };
  }

  /** The commit of one loan and one outcome, as the log gets it and as the copy gets it. */
  function change(id: string, position: number) {
    const record = loanRecord({ id });
    const checkpoint = { position, outcomes: [outcomeWith(id)] };
    return {
      logRecords: [record, checkpointRecord(0, position, checkpoint.outcomes)],
      forView: { partition: 0, records: new Map([[String(record.key), String(record.value)]]), checkpoint },
    };
  }

  /** Commits a change and gives it to the copy. */
  async function commitDirectly(writer: FencedWriter, id: string, position: number, from: Offset): Promise<OwnCommit> {
    const { logRecords, forView } = change(id, position);
    const release = accounts.holdBack(0);
    const own = { ...forView, from, nextOffset: await commit(writer, ...logRecords) };
    expect(accounts.applyOwnCommit(own)).to.equal(true);
    release();
    return own;
  }

  /** Opens the copy again. It fails when the copy gets a batch from the log. */
  async function reopenWithoutReading(methods: Partial<EventLog> = {}): Promise<void> {
    const read: EventLog['read'] = async (from, options) => {
      const result = await log.read(from, options);
      expect(result.batches).to.have.length(0);
      return result;
    };
    const settings = { dataFolder: folder, partitionCount: 2, clock: systemClock, logger: silentLogger };
    accounts = await openFilledCopy({ ...settings, log: overriding(log, { ...methods, read }) });
  }

  const loans = async (): Promise<string[]> =>
    (await accounts.search((searches) => searches.loans({ sorting: [], offset: 0, limit: 9 }))).items.map(
      (text) => decodeSummary(text).id,
    );

  it('has a commit before it could read it, and announces its outcome', async () => {
    const writer = await log.openWriter('owner');
    const from = await accounts.catchUpPartition(0, never);
    isLate = true;
    const outcome = accounts.outcomeOf(command, never);
    const { nextOffset } = await commitDirectly(writer, 'a', 7, from);
    expect(await outcome).to.deep.equal(outcomeWith('a'));
    await commitDirectly(writer, 'b', 8, nextOffset);
    expect(await loans()).to.deep.equal(['a', 'b']);
    expect([accounts.checkpointPosition(0), accounts.checkpointPosition(1)]).to.deep.equal([8, null]);
    await writer.close();
  });

  it('takes each commit once, although it also reads it, and continues with what others write', async () => {
    const writer = await log.openWriter('owner');
    await commitDirectly(writer, 'a', 7, await accounts.catchUpPartition(0, never));
    let outcomes = 0;
    const waiting = accounts.outcomeOf(command, never).then(() => (outcomes += 1));
    await eventually(() => batchesRead > 0);
    const next = await log.openWriter('owner');
    await commit(next, loanRecord({ id: 'b' }));
    await accounts.catchUpPartition(0, never);
    expect([await loans(), outcomes]).to.deep.equal([['a', 'b'], 0]);
    await commit(next, ...change('c', 8).logRecords);
    await waiting;
    await next.close();
  });

  it('continues after a restart where its last own commit ended', async () => {
    const writer = await log.openWriter('owner');
    isLate = true;
    await commitDirectly(writer, 'a', 7, await accounts.catchUpPartition(0, never));
    await writer.close();
    letThrough();
    await accounts.close();
    await reopenWithoutReading();
    expect([await loans(), accounts.checkpointPosition(0)]).to.deep.equal([['a'], 7]);
  });

  it('is kept by a restart that comes before the end of its last own commit can be read', async () => {
    const writer = await log.openWriter('owner');
    await commitDirectly(writer, 'a', 7, await accounts.catchUpPartition(0, never));
    await writer.close();
    await accounts.close();
    // As on Kafka until the markers of a transaction are written.
    const bounds: EventLog['bounds'] = async (partitions, options) => {
      const all = await log.bounds(partitions, options);
      return options?.includeUncommitted === true ? all : all.map((each) => ({ ...each, latest: each.earliest }));
    };
    await reopenWithoutReading({ bounds });
    expect([await loans(), accounts.checkpointPosition(0)]).to.deep.equal([['a'], 7]);
  });

  it('takes no commit while it lacks earlier records, and then reads all of them in their order', async () => {
    isLate = true;
    const previous = await log.openWriter('owner');
    const known = await commit(previous, loanRecord({ id: 'a', loanName: 'of the previous owner' }));
    const writer = await log.openWriter('owner');
    const { logRecords, forView } = change('a', 7);
    const nextOffset = await commit(writer, ...logRecords);
    expect(accounts.applyOwnCommit({ ...forView, from: known, nextOffset })).to.equal(false);
    expect([await loans(), accounts.checkpointPosition(0)]).to.deep.equal([[], null]);
    const outcome = accounts.outcomeOf(command, never);
    letThrough();
    expect(await outcome).to.deep.equal(outcomeWith('a'));
    expect(decodeSummary(accounts.accountText('a') ?? '').loanName).to.equal(null);
    expect(accounts.applyOwnCommit({ ...forView, from: known, nextOffset }), 'it has the commit now').to.equal(true);
    await writer.close();
  });

  it('takes nothing of the partition from the log while the owner commits, and all of it when the commit failed', async () => {
    const release = accounts.holdBack(0);
    const writer = await log.openWriter('owner');
    await commit(writer, loanRecord({ id: 'a' }));
    const elsewhere = { topic, partition: 1, records: [loanRecord({ id: 'b' })] };
    await log.append([elsewhere]);
    await accounts.catchUpPartition(1, never);
    await eventually(() => batchesRead === 2);
    expect(await loans(), 'other partitions continue').to.deep.equal(['b']);
    release();
    await accounts.catchUpPartition(0, never);
    expect(await loans()).to.deep.equal(['a', 'b']);
    await writer.close();
  });
});
