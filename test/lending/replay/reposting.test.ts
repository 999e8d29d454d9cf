import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  headerOf,
  isDatedEntry,
  isLeftOut,
  isRepostable,
  repostingCommand,
} from '../../../src/lending/replay/reposting.ts';
import { refusal } from '../../../src/lending/refusals.ts';
import type { LoanCommand } from '../../../src/lending/commands.ts';
import {
  applyFee,
  applyPenalty,
  disbursed,
  dynamicProduct,
  fee,
  loanOf,
  lock,
  money,
  product,
  refund,
  repay,
  unlock,
  when,
} from '../loan-fixtures.ts';

const header = { commandId: 'new', digest: 'its digest', receivedAt: 1 };
const taxed = product({
  feesSettings: { fees: [fee({ id: 'flat', amount: money(8) })] },
  taxSettings: { taxRate: money(25), taxesOnFeesEnabled: true, taxesOnPenaltyEnabled: true },
});

describe('the command that posts a transaction again', () => {
  it('asks for the amount without the tax that is added to it', () => {
    const story = when(disbursed(taxed), applyPenalty(8, { installmentNumber: 2 }));
    const transaction = story.transactions.at(-1) ?? expect.fail();
    expect(transaction.amount.toFixed()).to.equal('10');
    const command = repostingCommand(loanOf(story), transaction, header);
    expect(command).to.include({ type: 'APPLY_PENALTY', commandId: 'new', receivedAt: 1, installmentNumber: 2 });
    expect('amount' in command && command.amount?.toFixed()).to.equal('8');
  });

  it('leaves the amount of a fee to the product that defines it', () => {
    const story = when(disbursed(taxed), applyFee(8, { predefinedFeeKey: 'flat', installmentNumber: 2 }));
    const transaction = story.transactions.at(-1) ?? expect.fail();
    const command = repostingCommand(loanOf(story), transaction, header);
    expect(command).to.include({ type: 'APPLY_FEE', predefinedFeeKey: 'flat-key', installmentNumber: 2 });
    expect(command).not.to.have.property('amount');
  });

  it('names no installment that its sender did not name', () => {
    const story = when(disbursed(taxed), applyPenalty(8));
    const transaction = story.transactions.at(-1) ?? expect.fail();
    expect(transaction.installmentKey).to.equal(1);
    expect(repostingCommand(loanOf(story), transaction, header)).not.to.have.property('installmentNumber');
  });

  it('refunds the same disbursement', () => {
    const start = disbursed(dynamicProduct());
    const [{ encodedKey } = expect.fail()] = start.transactions;
    const story = when(start, refund(100, '2011-01-25', encodedKey));
    const transaction = story.transactions.at(-1) ?? expect.fail();
    expect(repostingCommand(loanOf(story), transaction, header)).to.include({
      type: 'REFUND',
      linkedDisbursementKey: encodedKey,
    });
  });

  it('names installment 0, which no loan has, when the one that its sender named is gone', () => {
    const story = when(disbursed(taxed), applyPenalty(8, { installmentNumber: 4 }));
    const transaction = story.transactions.at(-1) ?? expect.fail();
    const { position } = loanOf(story);
    const shorter = { ...loanOf(story), position: { ...position, installments: position.installments.slice(0, 3) } };
    expect(repostingCommand(shorter, transaction, header)).to.include({ installmentNumber: 0 });
  });

  it('is dated on the day on which the new command came in, where the organization is', () => {
    const story = when(disbursed(), repay(1, '2011-02-01'));
    const transaction = story.transactions.at(-1) ?? expect.fail();
    const command = repostingCommand(loanOf(story), transaction, { ...header, receivedOn: '2011-02-02' });
    expect(command).to.include({ receivedAt: 1, receivedOn: '2011-02-02' });
    expect(repostingCommand(loanOf(story), transaction, header)).not.to.have.property('receivedOn');
    const system = { ...header, receivedOn: '2011-02-02', isSystemPosted: true };
    expect(headerOf(system)).to.deep.equal({ ...header, receivedOn: '2011-02-02' });
  });

  it('does not exist for a disbursement', () => {
    const { transactions, ...story } = when(disbursed(), repay(1, '2011-02-01'));
    expect(transactions.map(isRepostable)).to.deep.equal([false, true]);
    const [disbursement = expect.fail()] = transactions;
    expect(() => repostingCommand(loanOf({ ...story, transactions }), disbursement, header)).to.throw('DISBURSEMENT');
  });

  it('exists for the locks that the end of a day posted, and for none of a person', () => {
    const locked = when(when(disbursed(), lock('2011-02-01')), unlock('2011-02-02'));
    const locks = locked.transactions.slice(1);
    expect(locks.some(isRepostable)).to.equal(false);
    const bySystem = locks.map((transaction) => ({ ...transaction, isSystemPosted: true }));
    expect(bySystem.every(isRepostable)).to.equal(true);
    const commands = bySystem.map((transaction) => repostingCommand(loanOf(locked), transaction, header));
    expect(commands.map(({ type }) => type)).to.deep.equal([
      ...Array<string>(3).fill('LOCK'),
      ...Array<string>(3).fill('UNLOCK'),
    ]);
    expect(commands[1]).to.deep.include({
      isSystemPosted: true,
      valueDate: '2011-02-01',
      lockedOperations: ['APPLY_FEES'],
    });
  });

  it('is left out when the loan refuses it and no person sent it, or no interest is left', () => {
    const [transaction = expect.fail()] = disbursed().transactions;
    const nothingLeft = [refusal('ACCOUNT_HAS_NO_ACCRUED_INTEREST')];
    expect(isLeftOut(transaction, nothingLeft)).to.equal(false);
    expect(isLeftOut({ ...transaction, isSystemPosted: true }, nothingLeft)).to.equal(true);
    expect(isLeftOut({ ...transaction, type: 'INTEREST_APPLIED' }, nothingLeft)).to.equal(true);
    expect(isLeftOut({ ...transaction, type: 'INTEREST_APPLIED' }, [refusal('INVALID_DATE')])).to.equal(false);
  });

  it('is an entry with a date of its own', () => {
    const typed = (type: string): LoanCommand => ({ type }) as LoanCommand;
    expect(
      ['REPAY', 'APPLY_FEE', 'APPLY_PENALTY', 'PRINCIPAL_OVERPAYMENT', 'APPLY_INTEREST'].map(typed).every(isDatedEntry),
    ).to.equal(true);
    expect(['DISBURSE', 'ADJUST_TRANSACTION', 'CHANGE_STATE', 'CREATE_LOAN'].map(typed).some(isDatedEntry)).to.equal(
      false,
    );
  });
});
