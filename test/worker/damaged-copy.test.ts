import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'mocha';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { Health } from '../../src/health.ts';
import { openDatabase } from '../../src/sqlite.ts';
import { eventually } from '../support/eventually.ts';
import {
  type TestCommand,
  commandRecord,
  decided,
  eventsOfType,
  outcomesOf,
  send,
  untilDone,
  workerForEachTest,
} from '../support/lending/lending-log.ts';
import { lifeOf, richProduct } from '../support/lending/lending-script.ts';
import { overriding } from '../support/stepping-log.ts';

const loanCount = 30;

describe('a worker whose copy of the changelog is damaged while it decides', () => {
  const tests = workerForEachTest();

  it('does every command once, new or repeated, and is not ready until the copy is rebuilt', async function () {
    this.timeout(60_000);
    const health = new Health(systemClock);
    const part = health.part('loan-copy');
    const reasons: string[] = [];
    const reportNotReady = (reason: string): void => {
      reasons.push(reason);
      part.reportNotReady(reason);
    };
    await tests.restart({ health: overriding(part, { reportNotReady }) });
    const lives = Array.from({ length: loanCount }, (_, index) => lifeOf(`L${index}`, 'P', 'FIXED_TERM_LOAN'));
    const first = await decided(tests.log, [richProduct('P', 'FIXED_TERM_LOAN'), ...lives.flat()]);
    expect(new Set(first.map(({ outcome }) => outcome))).to.deep.equal(new Set(['committed']));

    const database = openDatabase(join(tests.running.dataFolder, 'accounts.db'));
    const change = `UPDATE transactions SET state = replace(state, '2025-10-12', '2025-10-13')`;
    expect(database.prepare(change).run().changes).to.be.greaterThan(loanCount);
    database.close();
    const repayments = lives.map((_, index): TestCommand => ({
      type: 'REPAY',
      id: `L${index}`,
      payload: { amount: 1.5, valueDate: '2025-11-01' },
      commandId: randomUUID(),
    }));
    // Each new command is followed by all that its loan has been through.
    const later = repayments.flatMap((repayment, index) => [repayment, ...(lives[index] ?? [])]);
    const before = (await outcomesOf(tests.log)).length;
    const offset = await send(
      tests.log,
      later.map((command) => commandRecord(command)),
    );
    await untilDone(tests.log, offset + later.length - 1);

    const outcomes = (await outcomesOf(tests.log)).slice(before);
    const firstByCommand = new Map(first.map((outcome) => [outcome.commandId, outcome]));
    for (const [index, { commandId = '' }] of later.entries()) {
      const known = firstByCommand.get(commandId);
      const outcome = outcomes[index];
      if (known === undefined) expect(outcome?.outcome).to.equal('committed');
      else expect(outcome).to.deep.equal({ ...known, outcome: 'repeated' });
    }
    expect(outcomes).to.have.length(later.length);
    const posted = await eventsOfType(tests.log, 'loan_transaction_posted');
    const causes = posted.map(({ causationCommandId }) => causationCommandId);
    expect(new Set(causes).size, 'each command posted once').to.equal(causes.length);
    expect(repayments.every(({ commandId = '' }) => causes.includes(commandId))).to.equal(true);

    expect(reasons[0]).to.include('is being rebuilt from the log');
    await eventually(() => health.notReadyReasons().length === 0);
  });
});
