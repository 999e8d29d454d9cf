import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import type { EventLog } from '../../src/ports/event-log.ts';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { checkpointKey } from '../../src/lending-format/checkpoint.ts';
import { deadLettersTopic, accountsTopic } from '../../src/lending-format/lending-topics.ts';
import { allTogglesOff } from '../../src/lending/toggles.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import { LoanView } from '../../src/accounts/loan-view.ts';
import { CommandBatch } from '../../src/worker/command-batch.ts';
import { LoanStore } from '../../src/worker/loan-store.ts';
import { type TestCommand, commandRecord, commandTime, openLendingLog } from '../support/lending/lending-log.ts';
import { richProduct } from '../support/lending/lending-script.ts';
import { overriding } from '../support/stepping-log.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const never = new AbortController().signal;

describe('a batch of commands', () => {
  let folder: string;
  let log: EventLog;
  let registry: Registry;
  let view: LoanView;
  let batch: CommandBatch;

  before(async () => {
    folder = await temporaryFolder();
    log = await openLendingLog(folder);
    const retentionMilliseconds = 3_600_000;
    await log.createTopic({ name: accountsTopic, partitionCount: 1, cleanupPolicy: 'compact', retentionMilliseconds });
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

  beforeEach(async () => {
    batch = await newBatch(registry);
  });

  after(async () => {
    await view.close();
    await registry.stop();
    await log.close();
    await removeFolder(folder);
  });

  async function newBatch(products: Registry): Promise<CommandBatch> {
    const store = await LoanStore.open(view, 0, never);
    const options = { partition: 0, store, logger: silentLogger, idempotencyMilliseconds: 86_400_000 };
    return new CommandBatch({ ...options, registry: products, now: commandTime });
  }

  function decide(command: TestCommand | Buffer | null): void {
    const value = command === null || Buffer.isBuffer(command) ? command : commandRecord(command).value;
    batch.decide({ partition: 0, offset: batch.size, appendedAt: commandTime, value }, allTogglesOff);
  }

  /** What the records of the batch take: all values but the checkpoint's, and the keys in the changelog. */
  function recordBytes(): number {
    const records = batch.records(0).flatMap(({ topic, records: ofTopic }) =>
      ofTopic.map(({ key, value }) => {
        if (topic === accountsTopic && key === checkpointKey(0)) return 0;
        return (value?.length ?? 0) + (topic === accountsTopic ? (key?.length ?? 0) : 0);
      }),
    );
    return records.reduce((sum, bytes) => sum + bytes, 0);
  }

  const rich = richProduct('P', 'FIXED_TERM_LOAN');
  const open: TestCommand = { type: 'CREATE_LOAN', id: 'L1', payload: { productTypeKey: 'P', loanAmount: 1000 } };
  const change = (action: string): TestCommand => ({ type: 'CHANGE_STATE', id: 'L1', payload: { action } });

  it('counts the bytes of its records after each command', () => {
    const steps: [string, TestCommand | Buffer | null][] = [
      ['a product', { ...rich, payload: { ...rich.payload, name: 'Häuser' } }],
      ['a new loan', open],
      ['a refused command', { ...open, payload: { productTypeKey: 'none', loanAmount: 1000 } }],
      ['a command that cannot be read', Buffer.from('{"Öl":')],
      ['a command without a value', null],
    ];
    for (const [what, command] of steps) {
      decide(command);
      expect(batch.bytes, what).to.equal(recordBytes());
    }
    expect(batch.records(0).find(({ topic }) => topic === deadLettersTopic)?.records).to.have.length(2);
  });

  it('includes the loan in the dead letter of an undecided command', async () => {
    const get = (): never => {
      throw new Error('The product cannot be read');
    };
    batch = await newBatch(overriding(registry, { get }));
    decide(open);
    const letters = batch.records(0).find(({ topic }) => topic === deadLettersTopic)?.records;
    expect(letters?.map(({ key }) => key)).to.deep.equal(['L1']);
    expect(batch.bytes).to.equal(recordBytes());
  });

  it('counts a loan once, however many of its commands changed it', () => {
    decide(rich);
    decide(open);
    for (const action of ['APPROVE', 'UNDO_APPROVE', 'REJECT', 'UNDO_REJECT', 'APPROVE']) {
      decide(change(action));
      expect(batch.bytes, action).to.equal(recordBytes());
    }
  });
});
