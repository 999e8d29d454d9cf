import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { EventLog } from '../../src/ports/event-log.ts';
import { Registry, registryTopic } from '../../src/broker/definitions/registry.ts';
import { type Logger, silentLogger } from '../../src/logger.ts';
import { definitionsMillisecondsMaximum as defaultMaximum } from '../../src/worker/partition-loop.ts';
import { knownProduct } from '../../src/lending-format/stored-products.ts';
import { setToggle } from '../../src/lending-format/stored-toggles.ts';
import {
  type RunningWorker,
  allEvents,
  commandTime,
  decided,
  eventsOfType,
  openLendingLog,
  outcomesOf,
  send,
  commandRecord,
  startWorker,
  untilDone,
} from '../support/lending/lending-log.ts';
import { richProduct } from '../support/lending/lending-script.ts';
import { eventually } from '../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { overriding, withSteps } from '../support/stepping-log.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

const definitionsMillisecondsMaximum = 3_000;
const startsOver = 'The worker restarts from the log';

/** The worker receives definitions through a separate log, on which they can be delayed. */
describe('a worker that waits for definitions', () => {
  let folder: string;
  let log: EventLog;
  let others: Registry;
  let slow: Registry;
  let running: RunningWorker;
  let release: () => void;
  let held: Promise<void>;
  let messages: string[];

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLendingLog(folder);
    messages = [];
    held = Promise.resolve();
    release = () => {};
    const read: EventLog['read'] = async (from, options) => {
      const result = await log.read(from, options);
      if (from.topic === registryTopic) await held;
      return result;
    };
    slow = new Registry(overriding(log, { read }), silentLogger);
    await slow.start();
    others = new Registry(log, silentLogger);
    await others.start();
    const logger: Logger = checkedLogger({ warn: (_, message) => void messages.push(message) });
    running = await startWorker(log, { registry: slow, logger, definitionsMillisecondsMaximum });
    await decided(log, [
      richProduct('P', 'FIXED_TERM_LOAN'),
      { type: 'CREATE_LOAN', id: 'L1', payload: { productTypeKey: 'P', loanAmount: 1000 } },
      { type: 'CHANGE_STATE', id: 'L1', payload: { action: 'APPROVE' } },
      { type: 'DISBURSE', id: 'L1', payload: { valueDate: '2025-09-12' } },
    ]);
    await slow.catchUp();
  });

  afterEach(async () => {
    release();
    await running.stop();
    await others.stop();
    await slow.stop();
    await log.close();
    await removeFolder(folder);
  });

  function hold(): void {
    held = new Promise((resolve) => {
      release = resolve;
    });
  }

  /** Switches a toggle, and sends a command that has to be decided under it. @returns the position of the command */
  async function sendUnderToggle(): Promise<number> {
    await setToggle(others, 'ALLOW_NON_SCHEDULED_FEES', true, commandTime);
    return send(log, [commandRecord({ type: 'REPAY', id: 'L1', payload: { amount: 10 } })]);
  }

  async function expectDecidedOnce(offset: number): Promise<void> {
    await untilDone(log, offset);
    expect((await outcomesOf(log)).at(-1)?.outcome).to.equal('committed');
    const repayments = (await eventsOfType(log, 'loan_transaction_posted')).filter(
      ({ transactionType }) => transactionType === 'REPAYMENT',
    );
    expect(repayments.map(({ toggles }) => toggles.ALLOW_NON_SCHEDULED_FEES)).to.deep.equal([true]);
  }

  it('waits half a minute by default', () => {
    expect(defaultMaximum).to.equal(30_000);
  });

  it('decides under them when they come within the timeout, and does not restart', async () => {
    hold();
    const offset = await sendUnderToggle();
    const events = (await allEvents(log)).length;
    await new Promise((resolve) => setTimeout(resolve, definitionsMillisecondsMaximum / 6));
    expect((await allEvents(log)).length).to.equal(events);
    release();
    await expectDecidedOnce(offset);
    expect(messages).not.to.include(startsOver);
  });

  it('restarts after the timeout, decides nothing until then, and decides each command once when they come', async () => {
    hold();
    const begun = performance.now();
    const offset = await sendUnderToggle();
    const events = (await allEvents(log)).length;
    await eventually(() => messages.includes(startsOver));
    expect(performance.now() - begun).to.be.at.least(definitionsMillisecondsMaximum);
    // A second time, so that the restart is visible.
    await eventually(() => messages.filter((line) => line === startsOver).length === 2);
    expect((await allEvents(log)).length).to.equal(events);
    release();
    await expectDecidedOnce(offset);
    expect(knownProduct(slow, 'P')?.id).to.equal('P');
  });

  it('can be stopped while it waits, and leaves the command to the next worker', async () => {
    let isFetched = false;
    await running.stop();
    const watched = withSteps(log, (step) => {
      isFetched ||= step === 'fetched';
    });
    running = await startWorker(watched, { registry: slow });
    hold();
    const offset = await sendUnderToggle();
    await eventually(() => isFetched);
    const begun = performance.now();
    await running.stop();
    // It may wait for half a minute.
    expect(performance.now() - begun).to.be.lessThan(10_000);
    expect((await eventsOfType(log, 'loan_transaction_posted')).map(({ name }) => name)).to.deep.equal([
      'loan_disbursed',
    ]);
    release();
    running = await startWorker(log, { registry: slow });
    await expectDecidedOnce(offset);
  });
});
