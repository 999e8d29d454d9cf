import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { type SchemaValidator, compileValidator } from '../../src/broker/schemas/schema-validator.ts';
import { alwaysOpen } from '../../src/lending/schedule/calendar.ts';
import { figuresOf } from '../../src/lending/balances.ts';
import { execute } from '../../src/lending/commands/execute.ts';
import { encodeTransaction } from '../../src/lending/changelog/stored-transaction.ts';
import type { Loan, LoanTransaction } from '../../src/lending/loan.ts';
import { Decimal } from '../../src/lending/money.ts';
import type { LoanProduct } from '../../src/lending/products/product.ts';
import { type Toggles, toggleNames } from '../../src/lending/toggle-names.ts';
import { parseCommand } from '../../src/lending-format/command-format.ts';
import { eventWriter, writeCommandRejected } from '../../src/lending-format/event-format.ts';
import { keysOf } from '../../src/lending-format/derived-ids.ts';
import { lendingEventTypeNames, lendingEventTypes } from '../../src/lending-format/lending-topics.ts';
import { writeBalances, writeSchedule, writeTransaction } from '../../src/lending-format/response-bodies.ts';
import { adjust, disbursed, dynamicProduct, loanOf, payOff, product, repay, when } from '../lending/loan-fixtures.ts';
import { postedAmong, withChanged } from '../lending/posted-transactions.ts';
import { type Json, type TestCommand, commandRecord, commandTime } from '../support/lending/lending-log.ts';
import { lifeOf, richProduct } from '../support/lending/lending-script.ts';

const combinations: Toggles[] = Array.from({ length: 8 }, (_, bits) => ({
  ALLOW_NON_SCHEDULED_FEES: (bits & 1) !== 0,
  PRINCIPAL_OVERPAYMENT: (bits & 2) !== 0,
  fixInstallmentTaxOnPenalty: (bits & 4) !== 0,
}));

const validators = new Map<string, SchemaValidator>(
  lendingEventTypes(1, 1).map(({ name, schema }) => [name, compileValidator(schema)]),
);

interface Life {
  /** Every event as it was published. */
  readonly texts: string[];
  readonly events: Json[];
  /** The loan after each command. */
  readonly loans: Loan[];
  /** Its transactions at the end. */
  readonly transactions: readonly LoanTransaction[];
}

/**
 * Runs through the life of a loan, without a log.
 * @param togglesAt The toggles of the command at that index, where they are switched on the way.
 * @param commands The commands of a life other than that of lifeOf.
 */
function live(
  type: 'FIXED_TERM_LOAN' | 'DYNAMIC_TERM_LOAN',
  toggles: Toggles,
  togglesAt: (place: number) => Toggles = () => toggles,
  commands: readonly TestCommand[] = lifeOf('L1', 'P', type, toggles.ALLOW_NON_SCHEDULED_FEES),
): Life {
  const product = productOf(type);
  const texts: string[] = [];
  const loans: Loan[] = [];
  let loan: Loan | null = null;
  let transactions: readonly LoanTransaction[] = [];
  for (const [offset, command] of commands.entries()) {
    const position = { partition: 0, offset };
    const parsed = parseCommand(commandRecord(command).value as Buffer, { ...position, appendedAt: 0 });
    if (parsed.kind !== 'loan') throw new Error(`no command for a loan: ${JSON.stringify(parsed)}`);
    const loanCommand = parsed.command.type === 'CREATE_LOAN' ? { ...parsed.command, product } : parsed.command;
    const context = {
      toggles: togglesAt(offset),
      calendar: alwaysOpen,
      newKey: keysOf(position),
      transactions: postedAmong(transactions),
    };
    const execution = execute(loan, loanCommand, context);
    if (execution.outcome !== 'committed') throw new Error(`${command.type}: ${JSON.stringify(execution)}`);
    const source = { envelope: parsed.envelope, position, receivedAt: commandTime + 5 };
    const write = eventWriter(source, product.currency.digits);
    const written = execution.events.map((event, index) => write(event, index));
    // The cached text for the next event is the same in every event of a command.
    const alone = execution.events.map((event, index) => eventWriter(source, product.currency.digits)(event, index));
    expect(written).to.deep.equal(alone);
    texts.push(...written);
    loan = execution.loan;
    transactions = withChanged(transactions, execution.transactions);
    loans.push(loan);
  }
  return { texts, events: texts.map((text) => JSON.parse(text) as Json), loans, transactions };
}

function productOf(type: 'FIXED_TERM_LOAN' | 'DYNAMIC_TERM_LOAN'): LoanProduct {
  const parsed = parseCommand(commandRecord(richProduct('P', type)).value as Buffer, {
    partition: 0,
    offset: 0,
    appendedAt: 0,
  });
  if (parsed.kind !== 'product' || parsed.request.type !== 'CREATE_PRODUCT') {
    throw new Error(`no product: ${JSON.stringify(parsed)}`);
  }
  return parsed.request.product;
}

const typeOf = (event: Json): string => (event['metadata'] as Json)['event_type'] as string;

/** The schedule that a consumer knows from the events alone. */
function foldSchedule(events: readonly Json[]): Json[] {
  const rows = new Map<unknown, Json>();
  for (const event of events.filter((event) => typeOf(event) === 'loan_schedule_changed')) {
    for (const key of event['removedInstallmentKeys'] as string[]) rows.delete(key);
    for (const row of event['changedInstallments'] as Json[]) rows.set(row['encodedKey'], row);
  }
  return [...rows.values()].sort((a, b) => Number(a['number']) - Number(b['number']));
}

describe('the format of events', () => {
  for (const type of ['FIXED_TERM_LOAN', 'DYNAMIC_TERM_LOAN'] as const) {
    for (const toggles of combinations) {
      const on = toggleNames.filter((name) => toggles[name]);
      describe(`of a ${type} with ${on.length === 0 ? 'no toggle' : on.join(', ')} on`, () => {
        let life: Life;
        before(() => {
          life = live(type, toggles);
        });

        it('matches its schemas', () => {
          const faults = life.events.flatMap(
            (event) => validators.get(typeOf(event))?.(event) ?? [{ pointer: typeOf(event), message: 'has no schema' }],
          );
          expect(faults).to.deep.equal([]);
          expect(new Set(life.events.map(typeOf))).to.deep.equal(
            new Set(
              lendingEventTypeNames.filter(
                (name) => !['command_rejected', 'business_day_closed', 'loan_account_changed'].includes(name),
              ),
            ),
          );
        });

        it('numbers events without a gap and assigns each its own id', () => {
          expect(life.events.map((event) => event['sequence'])).to.deep.equal(life.events.map((_, index) => index + 1));
          expect(new Set(life.events.map((event) => (event['metadata'] as Json)['eid'])).size).to.equal(
            life.events.length,
          );
        });

        it('has the same balances and schedule as responses', () => {
          const loan = life.loans.at(-1) as Loan;
          const balances = life.events.findLast((event) => typeOf(event) === 'loan_balance_changed')?.['balances'];
          expect(balances).to.deep.equal(JSON.parse(writeBalances(loan, toggles)));
          const written = writeSchedule(loan, toggles, alwaysOpen);
          if (typeof written !== 'string') expect.fail('no schedule');
          const schedule = JSON.parse(written) as Json;
          expect(foldSchedule(life.events)).to.deep.equal(schedule['installments']);
        });

        it('has each transaction as in the response to its request', () => {
          const posted = life.texts.find((text) => text.includes('"name":"loan_repayment"')) ?? '';
          const key = (JSON.parse(posted) as { transactionEncodedKey: string }).transactionEncodedKey;
          const repayment = life.transactions.find(({ encodedKey }) => encodedKey === key) ?? expect.fail();
          const loan = life.loans.at(-1) ?? expect.fail();
          // Some were adjusted since.
          const text = encodeTransaction({ ...repayment, adjustmentTransactionKey: null });
          expect(posted).to.include(`"transaction":${writeTransaction(loan, text)}`);
        });

        it('uses no name of a toggle that is off', () => {
          const text = life.texts.map((text) => text.replace(/"toggles":\{[^}]*\}/, '')).join('\n');
          expect(/scheduledFee/i.test(text)).to.equal(toggles.ALLOW_NON_SCHEDULED_FEES);
          expect(/"fees(Due|Paid|Balance)"/.test(text)).to.equal(!toggles.ALLOW_NON_SCHEDULED_FEES);
          expect(text.includes('nonScheduledPrincipalBalanceOverpayment')).to.equal(toggles.PRINCIPAL_OVERPAYMENT);
          expect(life.events.map((event) => event['toggles'])).to.deep.equal(life.events.map(() => toggles));
        });
      });
    }
  }

  it('matches its schemas when a toggle was switched since the last event', () => {
    const [off, on] = [combinations[0], { ...combinations[0], ALLOW_NON_SCHEDULED_FEES: true }] as [Toggles, Toggles];
    for (const isOnAt of [(place: number) => place % 2 === 0, (place: number) => place < 6]) {
      const { events } = live('FIXED_TERM_LOAN', on, (place) => (isOnAt(place) ? on : off));
      const told = events.filter((event) => typeOf(event) === 'loan_balance_changed');
      const closed = told.filter(({ toggles, changes }) => {
        const isOn = (toggles as Toggles).ALLOW_NON_SCHEDULED_FEES;
        return (changes as Json[]).some(({ type }) => type === (isOn ? 'feesBalance' : 'scheduledFeesBalance'));
      });
      expect(closed).not.to.deep.equal([]);
      expect(events.flatMap((event) => validators.get(typeOf(event))?.(event) ?? [])).to.deep.equal([]);
    }
  });

  it('writes each amount with the digits of its currency', () => {
    const { texts } = live('FIXED_TERM_LOAN', combinations[0] as Toggles);
    const amounts = texts.flatMap((text) => [
      ...text.matchAll(/"(?:amount|expected|paid|due|\w+Balance)":(-?[\d.]+)/g),
    ]);
    expect(amounts.length).to.be.greaterThan(100);
    expect(amounts.filter(([, digits]) => !/^-?\d+\.\d{2}$/.test(digits ?? '')).map(([found]) => found)).to.deep.equal(
      [],
    );
    expect(texts.join('')).to.contain('"interestRate":10}');
  });

  it('fits the longest texts of commands into its schemas', () => {
    const id = 'L'.repeat(64);
    const notes = '😀'.repeat(2_000);
    const externalIdOf = (index: number): string => String(index).padStart(2, '0') + '😀'.repeat(254);
    const commands = lifeOf(id, 'P', 'FIXED_TERM_LOAN').map((command, index): TestCommand => {
      const isPosting = ['DISBURSE', 'REPAY', 'APPLY_FEE', 'APPLY_PENALTY'].includes(command.type);
      return isPosting
        ? { ...command, payload: { ...command.payload, notes, externalId: externalIdOf(index) } }
        : command;
    });
    const { events } = live('FIXED_TERM_LOAN', combinations[0] as Toggles, undefined, commands);
    const posted = events.flatMap(({ transaction }) => (transaction === undefined ? [] : [transaction as Json]));
    expect(posted.filter((transaction) => transaction['notes'] === notes).length).to.be.greaterThan(5);
    expect(
      posted.filter(({ externalId }) => String(externalId).length === externalIdOf(1).length).length,
    ).to.be.greaterThan(5);
    expect(new Set(events.map(({ loanAccountId }) => loanAccountId))).to.deep.equal(new Set([id]));
    expect(events.flatMap((event) => validators.get(typeOf(event))?.(event) ?? [])).to.deep.equal([]);
  });

  for (const [code, digits] of [
    ['JPY', 0],
    ['EUR', 2],
    ['JOD', 3],
    ['BTC', 8],
  ] as const) {
    for (const make of [product, dynamicProduct]) {
      const lent = make({ currency: { code, digits } });
      it(`has only amounts that a double can represent, of the largest ${lent.type} in ${code}, unpaid to its end`, () => {
        const amountOf = (units: bigint): Decimal => new Decimal(units.toString()).dividedBy(10 ** digits);
        let [most, tooMuch] = [1n, 10n ** 15n];
        while (tooMuch - most > 1n) {
          const middle = (most + tooMuch) / 2n;
          if (disbursed(lent, amountOf(middle)).outcome === 'committed') most = middle;
          else tooMuch = middle;
        }
        const unit = amountOf(1n);
        const unpaid = when(disbursed(lent, amountOf(most)), repay(unit, '2012-01-23'));
        const repaid = when(unpaid, repay(figuresOf(loanOf(unpaid)).total, '2012-01-23'));
        expect(loanOf(repaid).position.accountState).to.equal('CLOSED');
        const { events, outcome } = when(repaid, adjust(3));
        expect(outcome).to.equal('committed');
        const envelope = { commandId: 'c', digest: 'd', type: 'REPAY', receivedAt: 0, flowId: null } as const;
        const source = { envelope, position: { partition: 0, offset: 0 }, receivedAt: 1 };
        const write = eventWriter(source, digits);
        const texts = events.map((event, index) => write(event, index));
        const amounts = texts.flatMap((text) => [...text.matchAll(/":(-?[0-9][0-9.eE+-]*)/g)].map((found) => found[1]));
        const lengths = amounts.map((written = '') => written.replace(/[-.]/g, '').replace(/^0+/, '').length);
        expect(Math.max(...lengths)).to.equal(15);
        expect(amounts.filter((written = '') => !new Decimal(Number(written)).equals(written))).to.deep.equal([]);
      });
    }
  }

  it('names in each event the transaction that caused it, where one command posts several', () => {
    const open = disbursed(dynamicProduct());
    const { events, transactions } = when(open, payOff('2011-03-08'));
    const envelope = { commandId: 'c', digest: 'd', type: 'PAY_OFF', receivedAt: 0, flowId: null } as const;
    const write = eventWriter({ envelope, position: { partition: 0, offset: 0 }, receivedAt: 1 }, 2);
    const texts = events.slice(open.events.length).map((event, index) => write(event, index));
    const named = new Set(texts.map((text) => (JSON.parse(text) as Json)['transactionEncodedKey']));
    expect([...named]).to.deep.equal(transactions.slice(1).map(({ encodedKey }) => encodedKey));
    expect(named.size).to.equal(2);
  });

  it('has the metadata of a published event, and the flow id of the command', () => {
    const [event] = live('FIXED_TERM_LOAN', combinations[0] as Toggles).events;
    const metadata = event?.['metadata'] as Json;
    expect(metadata).to.include({
      occurred_at: '2026-01-12T10:00:00.000Z',
      received_at: '2026-01-12T10:00:00.005Z',
      event_type: 'loan_state_changed',
      partition: '0',
      version: '1.0.0',
      published_by: 'lending-worker',
      flow_id: `flow of ${String(event?.['causationCommandId'])}`,
    });
    expect(metadata['eid']).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('has the place of its command in a trace, and no span context where the command has none', () => {
    const { events } = disbursed(dynamicProduct());
    for (const traceparent of [
      '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'a "quoted" one',
      undefined,
    ]) {
      const traced = traceparent === undefined ? {} : { traceparent };
      const envelope = {
        commandId: 'c',
        digest: 'd',
        type: 'DISBURSE',
        receivedAt: 0,
        flowId: null,
        ...traced,
      } as const;
      const source = { envelope, position: { partition: 0, offset: 0 }, receivedAt: 1 };
      const write = eventWriter(source, 2);
      const texts = [
        ...events.map((event, index) => write(event, index)),
        writeCommandRejected([], source, combinations[0] as Toggles),
      ];
      for (const text of texts) {
        const { metadata } = JSON.parse(text) as { metadata: Json };
        expect(metadata['span_ctx']).to.deep.equal(traceparent === undefined ? undefined : traced);
      }
    }
  });

  for (const subject of [{ loanAccountId: 'L1' }, { loanProductId: 'P' }]) {
    it(`has a refusal about ${Object.keys(subject).join()} in the format of the API`, () => {
      const errors = [{ errorCode: 110, errorReason: 'EXCESS_REPAYMENT_ERROR', errorSource: 'amount' }];
      const envelope = {
        commandId: '0f9d4cde-6a3c-4c5f-9c5a-0d8a6f8f7a11',
        digest: 'd',
        type: 'REPAY',
        receivedAt: 0,
        flowId: null,
        ...subject,
      } as const;
      const source = { envelope, position: { partition: 3, offset: 9 }, receivedAt: 1 };
      const event = JSON.parse(writeCommandRejected(errors, source, combinations[1] as Toggles)) as Json;
      expect(validators.get('command_rejected')?.(event)).to.deep.equal([]);
      expect(event).to.deep.include({ errors, ...subject, causationCommandId: envelope.commandId });
    });
  }
});
