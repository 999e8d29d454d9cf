import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'mocha';
import { systemClock } from '../../src/clock.ts';
import type { EventLog, LogRecord } from '../../src/ports/event-log.ts';
import { registryTopic } from '../../src/broker/definitions/registry.ts';
import type { CommandOutcome } from '../../src/lending-format/checkpoint.ts';
import { loanCommandsTopic, accountsTopic } from '../../src/lending-format/lending-topics.ts';
import { knownProduct } from '../../src/lending-format/stored-products.ts';
import { commandIdOfKey } from '../../src/lending-format/idempotency-record.ts';
import {
  type TestCommand,
  allEvents,
  commandRecord,
  decided,
  eventsOfType,
  recordsOf,
  send,
  untilDone,
  workerForEachTest,
} from '../support/lending/lending-log.ts';
import { lifeOf, productPatch, richProduct } from '../support/lending/lending-script.ts';
import { eventually } from '../support/eventually.ts';
import { overriding } from '../support/stepping-log.ts';
import { partOrWhole } from '../support/values/extent.ts';

const recordsPerAppend = 500;
const hour = 3_600_000;

const command = (type: TestCommand['type'], payload: Record<string, unknown>, id = 'L1'): TestCommand => ({
  type,
  id,
  payload,
  commandId: randomUUID(),
});

/** Each kind of command, including those that post nothing and those that are refused. */
const everyKind = [
  richProduct('P', 'DYNAMIC_TERM_LOAN'),
  ...lifeOf('L1', 'P', 'DYNAMIC_TERM_LOAN'),
  command('REPAY', { amount: 1_000_000 }),
  command('REPAY', { amount: 'no number' }),
  command('REPAY', { amount: 1 }, 'unknown'),
  command('CREATE_LOAN', { productTypeKey: 'P', loanAmount: 1000 }),
  { ...richProduct('P', 'FIXED_TERM_LOAN'), commandId: randomUUID() },
].map((each) => commandRecord(each));

/** How many commands are between a command and its repetition, one lot after another, and of which kind. */
const othersInBetween = partOrWhole([0, 65, 1_000], [0, 65, 1_000, 10_000]);

/** How many other updates of a product are between one and its repetition. */
const updatesInBetween = partOrWhole(200, 1_000);

describe('a loan command', () => {
  const fixture = workerForEachTest();

  async function doInBetween(count: number, make: () => TestCommand): Promise<void> {
    let last = -1;
    for (let sent = 0; sent < count; sent += recordsPerAppend) {
      const records = Array.from({ length: Math.min(recordsPerAppend, count - sent) }, () => commandRecord(make()));
      last = (await send(fixture.log, records)) + records.length - 1;
    }
    await untilDone(fixture.log, last);
  }

  /** The log, as if it had received each command at that time, which is looked up when the command is read. */
  function commandsTakenAt(time: () => number): EventLog {
    const { log } = fixture;
    const read: EventLog['read'] = async (from, options) => {
      const result = await log.read(from, options);
      const batches = result.batches.map((batch) => overriding(batch, { appendedAt: time() }));
      return from.topic === loanCommandsTopic ? { ...result, batches } : result;
    };
    return overriding(log, { read });
  }

  const penalty = (): TestCommand => command('APPLY_PENALTY', { amount: 0.01, valueDate: '2025-10-21' });
  const refused = (): TestCommand => command('REPAY', { amount: 1_000_000 });

  it(`of each kind is done once, with ${othersInBetween.slice(1).join(', ')} others in between, on another worker too`, async function () {
    this.timeout(180_000);
    const first = await decided(fixture.log, everyKind);
    expect(new Set(first.map(({ outcome }) => outcome))).to.deep.equal(new Set(['committed', 'refused']));
    const again = first.map((outcome): CommandOutcome => ({ ...outcome, outcome: 'repeated' }));
    for (const count of othersInBetween) {
      // A loan that is penalized so often would be a test of its own.
      await doInBetween(count, count > 1_000 ? refused : penalty);
      const events = (await allEvents(fixture.log)).length;
      expect(await decided(fixture.log, everyKind), `${count} in between`).to.deep.equal(again);
      // A worker that knows only the log, as after a restart or a takeover by another process.
      await fixture.restart();
      expect(await decided(fixture.log, everyKind), `${count} in between, on another worker`).to.deep.equal(again);
      expect((await allEvents(fixture.log)).length).to.equal(events);
    }
  });

  it(`that updates a product is done once, with ${updatesInBetween} others in between, on another worker too`, async function () {
    this.timeout(120_000);
    const update = (number: number): LogRecord =>
      commandRecord(command('PATCH_PRODUCT', productPatch({ name: `name ${number}`, notes: 'n' }), 'P'));
    const name = (): string | undefined => knownProduct(fixture.running.registry, 'P')?.name;
    const updates = Array.from({ length: updatesInBetween + 1 }, (_, index) => update(index + 1));
    const lastName = `name ${updates.length}`;
    await decided(fixture.log, [richProduct('P', 'FIXED_TERM_LOAN')]);
    const outcomes: CommandOutcome[] = [];
    for (let first = 0; first < updates.length; first += 500) {
      outcomes.push(...(await decided(fixture.log, updates.slice(first, first + 500))));
    }
    expect(new Set(outcomes.map(({ outcome }) => outcome))).to.deep.equal(new Set(['committed']));
    await eventually(() => name() === lastName);
    for (const onOther of [false, true]) {
      if (onOther) await fixture.restart();
      const again = await decided(fixture.log, [updates[0], updates.at(-1)] as LogRecord[]);
      expect(again.map(({ outcome }) => outcome)).to.deep.equal(['repeated', 'repeated']);
      expect(name()).to.equal(lastName);
    }
    // Its record does not grow with its changes.
    const records = (await recordsOf(fixture.log, registryTopic)).filter(({ key }) => key === 'product/P');
    const stored = JSON.parse(records.at(-1)?.text ?? '') as object;
    expect(Object.keys(stored)).to.have.members([
      'commandId',
      'commandDigest',
      'version',
      'createdAt',
      'modifiedAt',
      'product',
    ]);
  });

  it('that updates a product is recognised for the documented time, to the millisecond, then done again', async () => {
    let sentAt = Date.now() - 1_000 * hour;
    const start = sentAt;
    const clock = { ...systemClock, now: () => sentAt, monotonic: () => performance.now() };
    const onLog = commandsTakenAt(() => sentAt);
    await fixture.restart({ clock, idempotencyMilliseconds: hour }, onLog);
    const update = commandRecord(command('PATCH_PRODUCT', productPatch({ name: 'first' }), 'P'));
    const other = commandRecord(command('PATCH_PRODUCT', productPatch({ name: 'second' }), 'P'));
    await decided(fixture.log, [richProduct('P', 'FIXED_TERM_LOAN'), update, other]);
    const name = async (): Promise<string | undefined> => {
      await fixture.running.registry.catchUp();
      return knownProduct(fixture.running.registry, 'P')?.name;
    };
    for (const [time, outcome, expected] of [
      [start + hour - 1, 'repeated', 'second'],
      [start + hour, 'committed', 'first'],
      [start + 2 * hour - 1, 'repeated', 'first'],
    ] as const) {
      sentAt = time;
      expect((await decided(fixture.log, [update])).map((found) => found.outcome)).to.deep.equal([outcome]);
      expect(await name()).to.equal(expected);
    }
  });

  it('is done once when it comes twice in one batch, and when it comes to two workers', async () => {
    await fixture.stop();
    const records = everyKind.flatMap((record) => [record, record]);
    await send(fixture.log, records);
    await fixture.start({ commandsPerCommitMaximum: 7 });
    await untilDone(fixture.log, records.length - 1);
    const all = await decided(fixture.log, everyKind);
    expect(new Set(all.map(({ outcome }) => outcome))).to.deep.equal(new Set(['repeated']));
    const eids = (await allEvents(fixture.log)).map((event) => event['causationCommandId']);
    const rejections = (await eventsOfType(fixture.log, 'command_rejected')).map(
      ({ causationCommandId }) => causationCommandId,
    );
    expect(rejections).to.have.length(5);
    expect(new Set(rejections).size).to.equal(5);
    expect(eids.length).to.be.greaterThan(20);
  });

  it('is refused with the id of another one, with an error for its sender', async () => {
    const first = await decided(fixture.log, everyKind);
    const others = everyKind.map((record): LogRecord => {
      const event = JSON.parse(String(record.value)) as { payload: Record<string, unknown> };
      return { key: record.key, value: Buffer.from(JSON.stringify({ ...event, payload: { amount: 7 } })) };
    });
    for (const onOther of [false, true]) {
      if (onOther) await fixture.restart();
      const before = (await eventsOfType(fixture.log, 'command_rejected')).length;
      const events = (await allEvents(fixture.log)).length;
      const outcomes = await decided(fixture.log, others);
      // The outcome of the first command with that id, whose digest shows that it was a different one.
      expect(outcomes).to.deep.equal(first.map((outcome) => ({ ...outcome, outcome: 'repeated' })));
      const rejected = (await eventsOfType(fixture.log, 'command_rejected')).slice(before);
      expect(rejected.map(({ errors }) => errors.map(({ errorSource }) => errorSource).join())).to.deep.equal(
        others.map(() => 'commandId'),
      );
      expect((await allEvents(fixture.log)).length).to.equal(events + others.length);
    }
  });

  it('that posted nothing is remembered for the documented time, to the millisecond, and others for ever', async () => {
    let sentAt = Date.now() - 1_000 * hour;
    let now = sentAt;
    const clock = { ...systemClock, now: () => now, monotonic: () => performance.now() };
    const options = { clock, idempotencyMilliseconds: hour };
    await fixture.restart(
      options,
      commandsTakenAt(() => sentAt),
    );
    const start = sentAt;
    const first = await decided(fixture.log, everyKind);
    const repeated = first.map(() => 'repeated');
    const outcomesAt = async (time: number, decidedAt = time): Promise<string[]> => {
      sentAt = time;
      now = decidedAt;
      return (await decided(fixture.log, everyKind)).map(({ outcome }) => outcome);
    };
    expect(await outcomesAt(start + hour - 1)).to.deep.equal(repeated);
    // The time of sending counts: a command that waited for a worker for days is not forgotten in the meantime.
    expect(await outcomesAt(start + hour - 1, start + 100 * hour)).to.deep.equal(repeated);
    await fixture.restart(
      options,
      commandsTakenAt(() => sentAt),
    );
    expect(await outcomesAt(start + hour - 1)).to.deep.equal(repeated);
    const later = await outcomesAt(start + hour);
    // The product has the id of its command, the transactions have those of theirs; the rest is decided again, and
    // refused.
    expect(later).to.deep.equal(
      first.map(({ outcome, transactionKey, loanProductId }) =>
        transactionKey !== undefined || (loanProductId !== undefined && outcome === 'committed')
          ? 'repeated'
          : 'refused',
      ),
    );
    const isPosted = (index: number): boolean => first[index]?.transactionKey !== undefined;
    const muchLater = await outcomesAt(start + 900 * hour);
    expect(muchLater.filter((_, index) => isPosted(index))).to.deep.equal(
      repeated.filter((_, index) => isPosted(index)),
    );
  });

  it('is forgotten by deleting its record, and remembered at no cost for the next one', async () => {
    let sentAt = Date.now() - 1_000 * hour;
    const clock = { ...systemClock, now: () => sentAt, monotonic: () => performance.now() };
    await fixture.restart(
      { clock, idempotencyMilliseconds: hour },
      commandsTakenAt(() => sentAt),
    );
    const bytesOfOne = async (): Promise<number> => {
      const before = (await recordsOf(fixture.log, accountsTopic)).length;
      await decided(fixture.log, [refused()]);
      return (await recordsOf(fixture.log, accountsTopic))
        .slice(before)
        .reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
    };
    await decided(fixture.log, [
      richProduct('P', 'DYNAMIC_TERM_LOAN'),
      command('CREATE_LOAN', { productTypeKey: 'P', loanAmount: 1 }),
    ]);
    const alone = await bytesOfOne();
    await doInBetween(1_000, refused);
    expect(await bytesOfOne()).to.be.within(alone - 20, alone + 20);

    const live = async (): Promise<number> => {
      const records = new Map<string, string | null>();
      for (const { key, text } of await recordsOf(fixture.log, accountsTopic)) {
        if (commandIdOfKey(key ?? '') !== undefined) records.set(key ?? '', text);
      }
      return [...records.values()].filter((text) => text !== null).length;
    };
    expect(await live()).to.equal(1_004);
    sentAt += hour;
    // Each commit deletes at most 500.
    const left = [];
    for (let commit = 0; commit < 4; commit += 1) {
      await decided(fixture.log, [refused()]);
      left.push(await live());
    }
    expect(left).to.deep.equal([505, 6, 3, 4]);
  });
});
