import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { EventLog } from '../../src/ports/event-log.ts';
import { LendstreamError } from '../../src/errors.ts';
import { type Logger, silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import { CommandLag } from '../../src/worker/command-lag.ts';
import { commandRecord, openLendingLog, send } from '../support/lending/lending-log.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { overriding } from '../support/stepping-log.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

describe('CommandLag', () => {
  let folder = '';
  let log: EventLog;
  const metrics = createMetrics();

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLendingLog(folder, 2);
    metrics.workerLag.reset();
  });

  afterEach(async () => {
    await log.close();
    await removeFolder(folder);
  });

  async function measured(undecided: CommandLag): Promise<unknown> {
    await undecided.measure();
    return (await metrics.workerLag.get()).values.map(({ labels, value }) => [labels.partition, value]);
  }

  async function receive(count: number, partition: number): Promise<void> {
    const records = Array.from({ length: count }, () => commandRecord({ type: 'REPAY', id: 'L1' }));
    await send(log, records, partition);
  }

  it('counts from its start when the committed position of a partition is unknown', async () => {
    const undecided = new CommandLag({ log, metrics, logger: silentLogger });
    await receive(3, 0);
    undecided.startTracking(0);
    expect(await measured(undecided)).to.deep.equal([[0, 0]]);
    await receive(2, 0);
    expect(await measured(undecided)).to.deep.equal([[0, 2]]);
    undecided.advance(0, 1);
    expect(await measured(undecided)).to.deep.equal([[0, 4]]);
  });

  it('continues from the last decision when a partition starts again, and drops a released one', async () => {
    const undecided = new CommandLag({ log, metrics, logger: silentLogger });
    await receive(3, 1);
    undecided.startTracking(1);
    undecided.advance(1, 2);
    undecided.startTracking(1);
    expect(await measured(undecided)).to.deep.equal([[1, 1]]);
    undecided.stopTracking(1);
    expect(await measured(undecided)).to.deep.equal([]);
  });

  it('keeps the last number while the log does not respond, and logs it', async () => {
    const messages: string[] = [];
    const logger: Logger = checkedLogger({ warn: (_, message) => void messages.push(message) });
    let reachable = true;
    const endOffsets: EventLog['endOffsets'] = (partitions) =>
      reachable ? log.endOffsets(partitions) : Promise.reject(new LendstreamError('LOG_UNAVAILABLE', 'Not now.'));
    const undecided = new CommandLag({ log: overriding(log, { endOffsets }), metrics, logger });
    await receive(2, 0);
    undecided.startTracking(0);
    undecided.advance(0, 0);
    expect(await measured(undecided)).to.deep.equal([[0, 2]]);
    reachable = false;
    expect(await measured(undecided)).to.deep.equal([[0, 2]]);
    expect(messages).to.deep.equal(['Cannot count pending commands; retrying']);
  });

  it('fails with any other error than one that may pass', async () => {
    for (const error of [new LendstreamError('CORRUPT_BATCH', 'Damaged.'), new Error('A mistake.')]) {
      const undecided = new CommandLag({
        log: overriding(log, { endOffsets: () => Promise.reject(error) }),
        metrics,
        logger: silentLogger,
      });
      undecided.startTracking(0);
      expect(await undecided.measure().catch((thrown: unknown) => thrown)).to.equal(error);
    }
  });
});
