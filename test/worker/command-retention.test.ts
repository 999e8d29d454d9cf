import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { EventLog } from '../../src/ports/event-log.ts';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { EventTypes } from '../../src/broker/event-types/event-types.ts';
import { systemClock } from '../../src/clock.ts';
import { LendstreamError } from '../../src/errors.ts';
import { CommandRetention } from '../../src/worker/command-retention.ts';
import { type Logger, silentLogger } from '../../src/logger.ts';
import { lendingEventTypes, loanCommandsTopic } from '../../src/lending-format/lending-topics.ts';
import { openCoordinationUnderTest, openLogUnderTest, runRetention } from '../support/backend-under-test.ts';
import { eventually } from '../support/eventually.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import {
  type RunningWorker,
  type WorkerOptions,
  commandRecord,
  outcomesOf,
  send,
  startWorker,
  untilDone,
} from '../support/lending/lending-log.ts';
import { lifeOf, richProduct } from '../support/lending/lending-script.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { overriding } from '../support/stepping-log.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

const hour = 3_600_000;
const retentionMilliseconds = hour;

describe('accepted loan commands', () => {
  let folder: string;
  let log: EventLog;
  let running: RunningWorker | undefined;

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLogUnderTest(folder);
    const coordination = await openCoordinationUnderTest(folder, log);
    const registry = new Registry(log, silentLogger);
    await registry.start();
    const eventTypes = new EventTypes({ registry, coordination, log, clock: systemClock, logger: silentLogger });
    // Twice, as a restarted process does.
    for (let start = 0; start < 2; start += 1) {
      await eventTypes.registerSystemEventTypes(lendingEventTypes(1, retentionMilliseconds));
    }
    expect(eventTypes.known(loanCommandsTopic)?.eventType.options).to.deep.equal({ retention_time: hour });
    await registry.stop();
    await coordination.close();
  });

  afterEach(async () => {
    await running?.stop();
    running = undefined;
    await log.close();
    await removeFolder(folder);
  });

  /** A hundred hours later than the real time. */
  const clock = { ...systemClock, now: () => Date.now() + 100 * hour, monotonic: () => performance.now() };

  async function start(options: WorkerOptions = {}, onLog: EventLog = log): Promise<void> {
    running = await startWorker(onLog, { clock, retentionMilliseconds, ...options });
  }

  /** What the log would remove by itself after a hundred hours. */
  async function passRetention(): Promise<void> {
    const [topic] = await log.listTopics([loanCommandsTopic]);
    expect(topic?.retentionMilliseconds).to.equal(Infinity);
    await runRetention(log, clock.now());
  }

  const earliest = async (): Promise<number> =>
    (await log.bounds([{ topic: loanCommandsTopic, partition: 0 }]))[0]?.earliest ?? -1;

  const life = [richProduct('P', 'FIXED_TERM_LOAN'), ...lifeOf('L1', 'P', 'FIXED_TERM_LOAN')].map((each) =>
    commandRecord(each),
  );

  it('wait for a worker beyond their retention, are then all decided, and are deleted when they are done and old', async () => {
    await send(log, life);
    await passRetention();
    expect(await earliest()).to.equal(0);
    await start();
    await untilDone(log, life.length - 1);
    expect((await outcomesOf(log)).map(({ outcome }) => outcome)).to.deep.equal(life.map(() => 'committed'));
    await running?.stop();
    await start();
    await eventually(async () => (await earliest()) > 0);
    expect(await earliest()).to.equal((await log.bounds([{ topic: loanCommandsTopic, partition: 0 }]))[0]?.latest);
  });

  it('are kept while their partition is blocked, though earlier ones are deleted, and are decided afterwards', async () => {
    const opening = life.slice(0, 3);
    await send(log, opening);
    await start();
    await untilDone(log, opening.length - 1);
    await running?.stop();
    const first = await send(log, life.slice(opening.length));
    const warnings: string[] = [];
    const logger: Logger = checkedLogger({ warn: (_, message) => void warnings.push(message) });
    // The loan cannot be read, so no command can be decided on this partition.
    const accountText = (): never => {
      throw new LendstreamError('LOG_UNAVAILABLE', 'The copy is being rebuilt');
    };
    await start({ logger, copyWith: (copy) => overriding(copy, { accountText }) });
    await eventually(async () => (await earliest()) > 0);
    await eventually(() => warnings.filter((message) => message.includes('restarts from the log')).length >= 3);
    await passRetention();
    expect(await earliest()).to.be.at.most(first);
    await running?.stop();
    expect(await earliest()).to.be.at.most(first);
    await start();
    await untilDone(log, first + life.length - opening.length - 1);
    const outcomes = (await outcomesOf(log)).map(({ outcome }) => outcome);
    expect(outcomes).to.deep.equal(life.map(() => 'committed'));
  });

  it('that are done are kept until they are old', async () => {
    await send(log, life);
    await start({ clock: systemClock });
    await untilDone(log, life.length - 1);
    await running?.stop();
    let polls = 0;
    const deleteRecords: EventLog['deleteRecords'] = async (before, appendedBefore) => {
      await log.deleteRecords(before, appendedBefore);
      polls += 1;
    };
    await start({ clock: systemClock }, overriding(log, { deleteRecords }));
    await eventually(() => polls > 0);
    expect(await earliest()).to.equal(0);
  });

  it('are decided while old ones cannot be deleted', async () => {
    const warnings: string[] = [];
    const logger: Logger = checkedLogger({ warn: (_, message) => void warnings.push(message) });
    const deleteRecords = () => Promise.reject(new LendstreamError('LOG_UNAVAILABLE', 'Not now.'));
    await start({ logger }, overriding(log, { deleteRecords }));
    await send(log, life);
    await untilDone(log, life.length - 1);
    expect(warnings.filter((message) => message.includes('Cannot delete old commands'))).to.have.length(1);
  });

  it('are deleted when the owner has its checkpoint, then every minute, until it stops', async () => {
    const turned = new SimulatedClock();
    const deletions: [offset: number, appendedBefore: number][] = [];
    const deleteRecords: EventLog['deleteRecords'] = async ({ offset }, appendedBefore) => {
      deletions.push([offset, appendedBefore - turned.now()]);
    };
    const retention = new CommandRetention({
      log: overriding(log, { deleteRecords }),
      clock: turned,
      logger: silentLogger,
      partition: 0,
      retentionMilliseconds,
    });
    await turned.turn(20_000);
    expect(deletions).to.deep.equal([]);
    retention.advance(5);
    retention.advance(6);
    await turned.turn(39_999);
    expect(deletions).to.deep.equal([[5, -hour]]);
    await turned.turn(1);
    expect(deletions).to.deep.equal([
      [5, -hour],
      [6, -hour],
    ]);
    await retention.stop();
    await turned.turn(600_000);
    expect(deletions).to.have.length(2);
  });

  it('are deleted by one request at a time, and the owner stops only after it has ended', async () => {
    const turned = new SimulatedClock();
    const endings: (() => void)[] = [];
    const deleteRecords: EventLog['deleteRecords'] = () => new Promise((resolve) => void endings.push(resolve));
    const onLog = overriding(log, { deleteRecords });
    const options = { clock: turned, logger: silentLogger, partition: 0, retentionMilliseconds };
    const retention = new CommandRetention({ log: onLog, ...options });
    retention.advance(5);
    await turned.turn(180_000);
    expect(endings).to.have.length(1);
    endings[0]?.();
    await turned.turn(60_000);
    expect(endings).to.have.length(2);
    let hasStopped = false;
    const stopped = retention.stop().then(() => (hasStopped = true));
    await turned.turn(1_000);
    expect(hasStopped).to.equal(false);
    endings[1]?.();
    await stopped;
  });
});
