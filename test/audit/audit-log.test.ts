import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { anonymous } from '../../src/access/principal.ts';
import { auditEventType } from '../../src/access/system-event-types.ts';
import type { AuditEntry } from '../../src/audit/audit-entry.ts';
import { AuditLog, auditMillisecondsMaximum } from '../../src/audit/audit-log.ts';
import { systemClock } from '../../src/clock.ts';
import { AuditChain } from '../../src/command-line/audit-chain.ts';
import { LendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { EventLog, FencedWriter } from '../../src/ports/event-log.ts';
import { expireTopic, openOwnLog, type OwnLog } from '../support/backend-under-test.ts';
import { eventually } from '../support/eventually.ts';
import { appendTo, readAllWritten, records } from '../support/log-reading.ts';

const partitionCount = 2;

describe('the audit log', function () {
  this.timeout(60_000);
  let own: OwnLog;
  let audits: AuditLog[];

  beforeEach(async () => {
    own = await openOwnLog();
    audits = [];
    const year = 365 * 24 * 3_600_000;
    const topic = {
      name: auditEventType,
      partitionCount,
      cleanupPolicy: 'delete',
      retentionMilliseconds: year,
    } as const;
    await own.log.createTopic(topic);
  });

  afterEach(async () => {
    await Promise.all(audits.map((audit) => audit.close()));
    await own.cleanup();
  });

  /** As another process opens it. */
  function open(partitions: readonly number[] = [0, 1], log: EventLog = own.log): AuditLog {
    const audit = new AuditLog({ log, clock: systemClock, logger: silentLogger, metrics: createMetrics(), partitions });
    audits.push(audit);
    return audit;
  }

  interface Stored {
    readonly request_id: string;
  }

  /** The ids of the requests in each partition, and what is wrong with the chains. */
  async function stored(): Promise<{ readonly ids: readonly string[]; readonly faults: readonly string[] }> {
    const ids: string[] = [];
    const faults: string[] = [];
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const chain = new AuditChain();
      for (const { offset, value } of await readAllWritten(own.log, { topic: auditEventType, partition })) {
        const record = JSON.parse(String(value)) as Stored;
        chain.take(String(offset), record);
        ids.push(record.request_id);
      }
      faults.push(...chain.faults().map(({ message }) => message));
    }
    return { ids, faults };
  }

  async function expectStored(entries: readonly AuditEntry[]): Promise<void> {
    const { ids, faults } = await stored();
    expect(faults).to.deep.equal([]);
    expect(ids.toSorted()).to.deep.equal(entries.map(({ requestId }) => requestId).toSorted());
  }

  it('chains what is appended, together and one by one', async () => {
    const audit = open();
    const entries = entriesOf(30);
    await Promise.all(entries.slice(0, 20).map((entry) => audit.append(entry)));
    for (const entry of entries.slice(20)) await audit.append(entry);
    await expectStored(entries);
  });

  it('continues a chain after a restart, and after everything in it has expired', async () => {
    const entries = entriesOf(3);
    const [first, second, third] = entries as [AuditEntry, AuditEntry, AuditEntry];
    const before = open([0]);
    await before.append(first);
    await before.close();
    await open([0]).append(second);
    await expectStored([first, second]);
    await expireTopic(own.log, auditEventType);
    const after = open([0]);
    await after.append(third);
    await eventually(async () => (await stored()).ids.length === 1);
  });

  it('keeps the chains whole while two processes take turns in one partition', async () => {
    const [left, right] = [open([0]), open([0])];
    const entries = entriesOf(24);
    // Each append ends the writer of the other process.
    await Promise.all(entries.map((entry, at) => (at % 2 === 0 ? left : right).append(entry)));
    await expectStored(entries);
  });

  it('gives two processes a partition each', async () => {
    const [left, right] = [open(), open()];
    const entries = entriesOf(200);
    await Promise.all(entries.map((entry, at) => (at % 2 === 0 ? left : right).append(entry)));
    await expectStored(entries);
    for (let partition = 0; partition < partitionCount; partition += 1) {
      expect(await readAllWritten(own.log, { topic: auditEventType, partition })).to.not.deep.equal([]);
    }
  });

  for (const [title, isStored] of [
    ['was stored', true],
    ['was not stored', false],
  ] as const) {
    it(`stores a record once when the answer was lost and it ${title}`, async () => {
      const lossy = losingAnswers(own.log, isStored);
      const audit = open([0], lossy.log);
      const entries = entriesOf(12);
      for (const [at, entry] of entries.entries()) {
        if (at % 3 === 1) lossy.loseNext();
        await audit.append(entry);
      }
      await expectStored(entries);
    });
  }

  for (const partitions of [[0, 1], [1]]) {
    it(`is not held up by a process that was killed while it wrote, with ${partitions.length} to choose from`, async () => {
      const killed = await own.log.openWriter(`${auditEventType}/1`);
      await killed.append([{ topic: auditEventType, partition: 1, records: records('{}') }]);
      const audit = open(partitions);
      const entries = entriesOf(3);
      for (const entry of entries) await audit.append(entry);
      await killed.close();
      await expectStored(entries);
    });
  }

  it('refuses what would need a record while it cannot be written, and stores what waited', async () => {
    const broken = losingAnswers(own.log, false);
    const audit = open([0], broken.log);
    const [first, second] = entriesOf(2) as [AuditEntry, AuditEntry];
    broken.loseAll(true);
    const error = await audit.append(first).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(LendstreamError).with.property('code', 'LOG_UNAVAILABLE');
    expect(audit.isFailing).to.equal(true);
    expect(() => audit.requireWritable()).to.throw('The audit cannot be written');
    broken.loseAll(false);
    await eventually(() => !audit.isFailing, 2 * auditMillisecondsMaximum);
    await audit.append(second);
    await expectStored([first, second]);
  });

  it('continues after a record that another program wrote, which the check names', async () => {
    const audit = open([0]);
    const [first, second] = entriesOf(2) as [AuditEntry, AuditEntry];
    await audit.append(first);
    await audit.close();
    await appendTo(own.log, { topic: auditEventType, partition: 0 }, [{ key: null, value: Buffer.from('{"a":1}') }]);
    await open([0]).append(second);
    const { faults } = await stored();
    expect(faults).to.deep.equal(['is no record of the service']);
  });
});

function entriesOf(count: number): AuditEntry[] {
  return Array.from({ length: count }, (_, at) => ({
    stage: 'finished',
    requestId: randomUUID(),
    at: Date.now(),
    flowId: `flow-${at}`,
    who: anonymous,
    from: '127.0.0.1',
    operation: 'switchToggle',
    subject: { kind: 'toggle', name: 'T' },
    status: 200,
    before: { enabled: false },
    after: { enabled: true, share: 0.1 },
  }));
}

/** A log whose commits lose their answer when they are told to. @param isStored Whether what they commit is stored. */
function losingAnswers(log: EventLog, isStored: boolean) {
  let isNextLost = false;
  let areAllLost = false;
  const around = (writer: FencedWriter): FencedWriter => ({
    writerId: writer.writerId,
    append: (partitions) => writer.append(partitions),
    abort: () => writer.abort(),
    close: () => writer.close(),
    async commit() {
      if (!isNextLost && !areAllLost) return writer.commit();
      isNextLost = false;
      if (isStored) await writer.commit();
      else await writer.abort();
      throw new LendstreamError('OUTCOME_UNKNOWN', 'The answer was lost.');
    },
  });
  const changed = new Proxy(log, {
    get(target, name) {
      if (name === 'openWriter') {
        return async (...given: Parameters<EventLog['openWriter']>) => around(await target.openWriter(...given));
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return {
    log: changed,
    loseNext: () => {
      isNextLost = true;
    },
    loseAll: (wanted: boolean) => {
      areAllLost = wanted;
    },
  };
}
