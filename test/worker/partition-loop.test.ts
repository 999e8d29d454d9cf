import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import type { Coordination } from '../../src/ports/coordination.ts';
import type { EventLog, FencedWriter, LogRecord } from '../../src/ports/event-log.ts';
import type { Registry } from '../../src/broker/definitions/registry.ts';
import { LendstreamError } from '../../src/errors.ts';
import { type Logger, silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { AccountsForWorker } from '../../src/accounts/accounts-for-worker.ts';
import type { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { isCheckpointKey, parseCheckpoint } from '../../src/lending-format/checkpoint.ts';
import { idempotencyMilliseconds } from '../../src/lending-format/idempotency-record.ts';
import { accountsTopic } from '../../src/lending-format/lending-topics.ts';
import { CommandLag } from '../../src/worker/command-lag.ts';
import { DecidingTurns } from '../../src/worker/deciding-turns.ts';
import { DecodedLoans } from '../../src/worker/decoded-loans.ts';
import { type LoopEnd } from '../../src/worker/partition-ownership.ts';
import {
  type PartitionLoopOptions,
  commandsPerCommitMaximum,
  runPartitionLoop,
} from '../../src/worker/partition-loop.ts';
import { openCoordinationUnderTest } from '../support/backend-under-test.ts';
import { eventually } from '../support/eventually.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { overriding } from '../support/stepping-log.ts';
import { type Json, commandRecord, outcomesOf, recordsOf, send, untilDone } from '../support/lending/lending-log.ts';
import { richProduct } from '../support/lending/lending-script.ts';
import { type WorkerParts, openWorkerParts } from './worker-parts.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

describe('the loop of a partition', () => {
  let parts: WorkerParts;
  let log: EventLog;
  let registry: Registry;
  let accounts: AccountsCopy;
  let coordination: Coordination;
  let clock: SimulatedClock;
  let stopping: AbortController;
  let ended: Promise<LoopEnd>;
  let metrics: ReturnType<typeof createMetrics>;
  let messages: string[];
  let pauses: unknown[];

  before(async () => {
    parts = await openWorkerParts();
    ({ log, registry, accounts } = parts);
    coordination = await openCoordinationUnderTest(`loop-${randomUUID()}`, log);
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
    await coordination.close();
    await parts.close();
  });

  function run(options: Partial<PartitionLoopOptions> = {}): void {
    const note = (fields: object, message: string): void => {
      messages.push(message);
      if ('pause' in fields) pauses.push(fields.pause);
    };
    const logger: Logger = checkedLogger({ info: note, warn: note, error: note });
    ended = runPartitionLoop({
      log,
      registry,
      copy: accounts,
      decodedLoans: new DecodedLoans(),
      turns: new DecidingTurns(clock),
      clock,
      logger,
      metrics,
      commandLag: new CommandLag({ log, metrics, logger }),
      partition: 0,
      partitionCount: 1,
      coordination,
      signal: stopping.signal,
      commandsPerCommitMaximum,
      retentionMilliseconds: Infinity,
      idempotencyMilliseconds,
      definitionsMillisecondsMaximum: 7_000,
      endOfDayHoldMilliseconds: Infinity,
      onOwned: () => {},
      ...options,
    });
  }

  function refused(flowId = 'flow', payload: Json = { action: 'APPROVE' }): LogRecord {
    const { key, value } = commandRecord({ type: 'CHANGE_STATE', id: 'nobody', payload });
    return { key, value: Buffer.from(String(value).replace(/"flow of [^"]*"/, `"${flowId}"`)) };
  }

  /** How many commands each commit has, from the one with the command at that offset. */
  async function commitSizes(first: number): Promise<number[]> {
    const records = await recordsOf(log, accountsTopic);
    return records.flatMap(({ key, text }) => {
      if (!isCheckpointKey(key ?? '')) return [];
      const { position, outcomes } = parseCheckpoint(text ?? '');
      return position < first ? [] : [outcomes.length];
    });
  }

  async function stop(): Promise<LoopEnd> {
    stopping.abort();
    const end = await ended;
    stopping = new AbortController();
    return end;
  }

  /** The log, on which the writer of the worker does something before each commit. */
  function withCommit(beforeCommit: () => Promise<void> | void): EventLog {
    const openWriter: EventLog['openWriter'] = async (writerId, partitions) => {
      const writer = await log.openWriter(writerId, partitions);
      const commit: FencedWriter['commit'] = async () => {
        await beforeCommit();
        return writer.commit();
      };
      return overriding(writer, { commit });
    };
    return overriding(log, { openWriter });
  }

  it('decides at most 500 commands in one commit', async () => {
    const first = await send(
      log,
      Array.from({ length: 501 }, () => refused()),
    );
    run();
    await untilDone(log, first + 500);
    expect(await commitSizes(first)).to.deep.equal([500, 1]);
  });

  it('closes a commit at 4 MiB', async () => {
    // Refused for thirty reasons, which are in its event, in its outcome and in the record that remembers it.
    const payload = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 1]));
    const measured = await send(log, [refused('', payload)]);
    run({ commandsPerCommitMaximum: Infinity });
    await untilDone(log, measured);
    await stop();
    const event = (await recordsOf(log, 'command_rejected')).at(-1);
    const remembered = (await recordsOf(log, accountsTopic)).findLast(({ key }) => key?.startsWith('command/'));
    const outcome = JSON.stringify((await outcomesOf(log)).at(-1));
    const texts = [event?.text, remembered?.key, remembered?.text, outcome];
    const bytes = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
    const flowId = 'f'.repeat(8 * 1024 - bytes);
    const first = await send(
      log,
      Array.from({ length: 513 }, () => refused(flowId, payload)),
    );
    run({ commandsPerCommitMaximum: Infinity });
    await untilDone(log, first + 512);
    expect(await commitSizes(first)).to.deep.equal([512, 1]);
  });

  it('closes a commit at 4 MiB of outcomes, which share one record', async () => {
    const payload = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}`.padEnd(100, 'f'), 1]));
    const commandId = randomUUID();
    // It is short, and its outcome repeats all the errors of the first command with its id.
    const repeated = commandRecord({ type: 'CHANGE_STATE', id: 'nobody', payload: {}, commandId });
    const measured = await send(log, [
      commandRecord({ type: 'CHANGE_STATE', id: 'nobody', payload, commandId }),
      repeated,
    ]);
    run({ commandsPerCommitMaximum: Infinity });
    await untilDone(log, measured + 1);
    await stop();
    const rejection = (await recordsOf(log, 'command_rejected')).at(-1)?.text ?? '';
    const bytes = rejection.length + JSON.stringify((await outcomesOf(log)).at(-1)).length;
    const count = Math.ceil((4 * 1024 * 1024) / bytes);
    const first = await send(
      log,
      Array.from({ length: count + 1 }, () => repeated),
    );
    run({ commandsPerCommitMaximum: Infinity });
    await untilDone(log, first + count);
    expect(await commitSizes(first)).to.deep.equal([count, 1]);
  });

  it('lets others run after ten milliseconds of deciding', async () => {
    const first = await send(
      log,
      Array.from({ length: 25 }, () => refused()),
    );
    let decisions = 0;
    const get: Registry['get'] = (kind, name) => {
      // The first toggle that a decision reads.
      if (kind === 'toggle' && name === 'ALLOW_NON_SCHEDULED_FEES') {
        decisions += 1;
        clock.jump(1);
      }
      return registry.get(kind, name);
    };
    const seen = new Set<number>();
    let isDone = false;
    const look = (): void => {
      seen.add(decisions);
      if (!isDone) setImmediate(look);
    };
    setImmediate(look);
    run({ registry: overriding(registry, { get }) });
    await untilDone(log, first + 24);
    isDone = true;
    expect([...seen].filter((count) => count > 0 && count < 25)).to.deep.equal([10, 20]);
  });

  it('pauses after each error in a row twice as long, for at most five seconds', async () => {
    let attempts = 0;
    const openWriter = (): Promise<never> => {
      attempts += 1;
      return Promise.reject(new LendstreamError('LOG_UNAVAILABLE', 'Not now.'));
    };
    const commandLag = new CommandLag({ log, metrics, logger: silentLogger });
    run({ log: overriding(log, { openWriter }), commandLag });
    await commandLag.measure();
    const measured = (await metrics.workerLag.get()).values.map(({ labels }) => labels.partition);
    expect(measured, 'its commands are counted although it cannot decide them').to.deep.equal([0]);
    const expected = [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000];
    for (const [index, pause] of expected.entries()) {
      await clock.turn(0);
      expect(clock.nextDeadline() - clock.monotonic()).to.equal(pause);
      await clock.turn(pause - 1);
      expect(attempts).to.equal(index + 1);
      await clock.turn(1);
    }
    expect(pauses.slice(0, expected.length)).to.deep.equal(expected);
  });

  it('pauses shortly again after an error that follows a commit', async () => {
    let failures = 2;
    const onLog = withCommit(() => {
      failures -= 1;
      if (failures >= 0 || failures === -2) throw new LendstreamError('OUTCOME_UNKNOWN', 'The answer was lost.');
    });
    const first = await send(log, [refused(), refused(), refused()]);
    run({ log: onLog, commandsPerCommitMaximum: 1 });
    for (const count of [1, 2, 3]) {
      await eventually(() => pauses.length === count && clock.nextDeadline() < Infinity);
      await clock.turn(200);
    }
    await untilDone(log, first + 2);
    expect(pauses).to.deep.equal([100, 200, 100]);
  });

  it('releases the partition without a restart when it is stopped while an error occurs', async () => {
    const last = await send(log, [refused()]);
    const onLog = withCommit(() => {
      stopping.abort();
      throw new LendstreamError('OUTCOME_UNKNOWN', 'The answer was lost.');
    });
    run({ log: onLog });
    expect(await ended).to.equal('stopped');
    expect(messages).to.deep.equal(['The worker owns the partition', 'The worker released the partition']);
    stopping = new AbortController();
    run();
    await untilDone(log, last);
  });

  it('measures the time of a commit, and counts its commands and their progress', async () => {
    clock.jump(1_000);
    const advances: number[] = [];
    const deletions: number[] = [];
    const first = await send(log, [refused(), refused()]);
    const commandLag = overriding(new CommandLag({ log, metrics, logger: silentLogger }), {
      advance: (_partition, next) => void advances.push(next),
    });
    const deleteRecords: EventLog['deleteRecords'] = ({ offset }) => Promise.resolve(void deletions.push(offset));
    const onLog = overriding(
      withCommit(() => clock.jump(2_500)),
      { deleteRecords },
    );
    run({ log: onLog, commandLag, retentionMilliseconds: 1 });
    await eventually(() => advances.length === 2);
    expect(advances).to.deep.equal([first, first + 2]);
    await eventually(() => deletions.length === 1);
    await clock.turn(60_000);
    expect(deletions).to.deep.equal([first, first + 2]);
    const { values } = await metrics.commandSeconds.get();
    expect(values.filter(({ metricName }) => metricName?.endsWith('_sum')).map(({ value }) => value)).to.deep.equal([
      2.5,
    ]);
    const counted = (await metrics.commands.get()).values.map(({ labels, value }) => [labels.outcome, value]);
    expect(counted).to.deep.equal([['refused', 2]]);
  });

  it('reads the definitions before it decides what it has read, and before and after a commit with a product', async () => {
    const limits: unknown[] = [];
    const catchUp: Registry['catchUp'] = (milliseconds) => {
      limits.push(milliseconds);
      return registry.catchUp(milliseconds);
    };
    run({ registry: overriding(registry, { catchUp }) });
    // Only its next read listens to the signal then.
    const isIdle = (): boolean => getEventListeners(stopping.signal, 'abort').length === 1;
    await untilDone(log, await send(log, [refused()]));
    await eventually(isIdle);
    expect(limits).to.deep.equal([7_000]);
    await untilDone(log, await send(log, [commandRecord(richProduct('Q', 'FIXED_TERM_LOAN'))]));
    await eventually(() => limits.length === 4 && isIdle());
    // The third is that of the turn to store products.
    expect(limits).to.deep.equal([7_000, 7_000, undefined, 7_000]);
  });

  it('waits while another partition stores a product, and no longer than until it is to stop', async () => {
    expect(await coordination.claim('product/any', 60_000)).to.equal(true);
    run();
    const last = await send(log, [commandRecord(richProduct('R', 'FIXED_TERM_LOAN'))]);
    await eventually(() => clock.nextDeadline() === 25);
    expect(await stop()).to.equal('stopped');
    expect(registry.get('product', 'R')).to.equal(undefined);
    await coordination.releaseClaim('product/any');
    run();
    await untilDone(log, last);
    await registry.catchUp();
    expect(registry.get('product', 'R')).to.not.equal(undefined);
    expect(await coordination.claim('product/any', 1)).to.equal(true);
    await coordination.releaseClaim('product/any');
  });

  it('leaves no timer, no open writer and no metric behind', async () => {
    let closed = 0;
    const openWriter: EventLog['openWriter'] = async (writerId, partitions) => {
      const writer = await log.openWriter(writerId, partitions);
      const close: FencedWriter['close'] = () => {
        closed += 1;
        return writer.close();
      };
      return overriding(writer, { close });
    };
    const commandLag = new CommandLag({ log, metrics, logger: silentLogger });
    run({ log: overriding(log, { openWriter }), commandLag });
    await untilDone(log, await send(log, [refused()]));
    await commandLag.measure();
    const lag = async (): Promise<number> => (await metrics.workerLag.get()).values.length;
    expect(await lag()).to.equal(1);
    expect(await stop()).to.equal('stopped');
    expect([clock.nextDeadline(), closed, await lag()]).to.deep.equal([Infinity, 1, 0]);
  });

  it('waits for a copy that could not take the commit, once the commit is counted', async () => {
    let waits = 0;
    const copy: AccountsForWorker = overriding<AccountsForWorker>(accounts, {
      applyOwnCommit: () => false,
      catchUpPartition: (partition, signal) => {
        waits += 1;
        if (waits === 1) return accounts.catchUpPartition(partition, signal);
        return Promise.reject(new LendstreamError('LOG_UNAVAILABLE', 'Not now.'));
      },
    });
    metrics.commands.reset();
    run({ copy, commandsPerCommitMaximum: 1 });
    await send(log, [refused(), refused()]);
    await eventually(() => pauses.length === 1);
    expect(waits).to.equal(2);
    const counted = (await metrics.commands.get()).values.map(({ labels, value }) => [labels.outcome, value]);
    expect(counted, 'the second one waits').to.deep.equal([['refused', 1]]);
  });
});
