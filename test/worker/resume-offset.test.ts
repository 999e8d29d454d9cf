import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import type { EventLog, LogRecord } from '../../src/ports/event-log.ts';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { systemClock } from '../../src/clock.ts';
import { type Logger, silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import { LoanView } from '../../src/accounts/loan-view.ts';
import { idempotencyMilliseconds } from '../../src/lending-format/idempotency-record.ts';
import { ensureLendingTopics, loanCommandsTopic } from '../../src/lending-format/lending-topics.ts';
import { CommandLag } from '../../src/worker/command-lag.ts';
import { type LoopEnd } from '../../src/worker/partition-ownership.ts';
import {
  type PartitionLoopOptions,
  commandsPerCommitMaximum,
  runPartitionLoop,
} from '../../src/worker/partition-loop.ts';
import { eventually } from '../support/eventually.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { overriding } from '../support/stepping-log.ts';
import { type Json, commandRecord, openLendingLog, send, untilDone } from '../support/lending/lending-log.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

describe('where a partition resumes', () => {
  let folder: string;
  let log: EventLog;
  let registry: Registry;
  let view: LoanView;
  let clock: SimulatedClock;
  let stopping: AbortController;
  let ended: Promise<LoopEnd>;
  let metrics: ReturnType<typeof createMetrics>;
  let messages: string[];
  let pauses: unknown[];

  before(async () => {
    folder = await temporaryFolder();
    log = await openLendingLog(folder);
    await ensureLendingTopics(log, 1);
    registry = new Registry(log, silentLogger);
    await registry.start();
    view = await LoanView.open({
      dataFolder: folder,
      log,
      partitionCount: 1,
      clock: systemClock,
      logger: silentLogger,
    });
  });

  beforeEach(() => {
    clock = new SimulatedClock();
    stopping = new AbortController();
    ended = Promise.resolve('stopped');
    metrics = createMetrics();
    messages = [];
    pauses = [];
  });

  afterEach(async () => {
    stopping.abort();
    await ended;
  });

  after(async () => {
    await view.close();
    await registry.stop();
    await log.close();
    await removeFolder(folder);
  });

  function run(options: Partial<PartitionLoopOptions> = {}): void {
    const note = (fields: object, message: string): void => {
      messages.push(message);
      if ('pause' in fields) pauses.push(fields.pause);
    };
    const logger: Logger = { ...silentLogger, info: note, warn: note, error: note, child: () => logger };
    ended = runPartitionLoop({
      log,
      registry,
      copy: view,
      clock,
      logger,
      metrics,
      commandLag: new CommandLag({ log, metrics, logger }),
      partition: 0,
      signal: stopping.signal,
      commandsPerCommitMaximum,
      retentionMilliseconds: Infinity,
      idempotencyMilliseconds,
      definitionsMillisecondsMaximum: 7_000,
      onOwned: () => {},
      ...options,
    });
  }

  function refused(flowId = 'flow', payload: Json = { action: 'APPROVE' }): LogRecord {
    const { key, value } = commandRecord({ type: 'CHANGE_STATE', id: 'nobody', payload });
    return { key, value: Buffer.from(String(value).replace(/"flow of [^"]*"/, `"${flowId}"`)) };
  }

  async function stop(): Promise<LoopEnd> {
    stopping.abort();
    const end = await ended;
    stopping = new AbortController();
    return end;
  }

  it('continues without a warning at the first command that the log still has', async () => {
    const last = await send(log, [refused()]);
    run();
    await untilDone(log, last);
    await stop();
    messages.length = 0;
    await log.deleteRecords({ topic: loanCommandsTopic, partition: 0, offset: last + 1 }, Date.now() + 1_000);
    run();
    await untilDone(log, await send(log, [refused()]));
    expect(messages).to.deep.equal(['The worker owns the partition']);
  });

  it('decides nothing when the log has lost commands that are done', async () => {
    const errors: unknown[] = [];
    const last = await send(log, [refused()]);
    run();
    await untilDone(log, last);
    await stop();
    const bounds: EventLog['bounds'] = async (partitions) =>
      (await log.bounds(partitions)).map((found) =>
        found.topic === loanCommandsTopic ? { ...found, earliest: 0, latest: last } : found,
      );
    const logger: Logger = { ...silentLogger, warn: (fields) => void errors.push(fields), child: () => logger };
    run({ log: overriding(log, { bounds }), logger });
    await eventually(() => errors.length === 1);
    expect(JSON.stringify(errors)).to.include(
      `Commands of partition 0 are done up to ${last + 1}, but the log ends at ${last}`,
    );
  });
});
