import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import type { FieldDefinitions } from '../../../src/lending/custom-fields/definitions.ts';
import { personalSets, transactionWithoutPersonalData } from '../../../src/lending/personal-data/personal-fields.ts';
import type { Loan } from '../../../src/lending/loan.ts';
import { balancesOf } from '../../../src/lending/views/balances.ts';
import { accountOf } from '../../../src/lending/views/accounts.ts';
import { scheduleOf } from '../../../src/lending/views/schedules.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';
import { anyStart, anySteps, walk } from '../loan-arbitraries.ts';
import { type Story, approve, create, disburse, given, loanOf, product, when } from '../loan-fixtures.ts';

const runs = propertyRuns(40);

const definitions: FieldDefinitions = {
  hasSets: true,
  set: (id) =>
    id === '_unknown'
      ? undefined
      : { id, availableFor: 'LOAN_ACCOUNT', fieldSetType: 'STANDARD', personalData: id.startsWith('_personal') },
  field: () => undefined,
  requiredFor: () => [],
};
const isPersonalSet = personalSets(definitions);

/** The story after its account was erased, as the worker does it: the transactions first. */
function erase(story: Story): Story {
  const transactions = story.transactions.map((each) => transactionWithoutPersonalData(each, isPersonalSet));
  return when({ ...story, customFields: definitions, transactions }, { type: 'ERASE_PERSONAL_DATA' });
}

/** What a person could see of the money of an account, its notes and its name taken out. */
function moneyOf(story: Story): unknown {
  const loan = loanOf(story);
  return {
    balances: balancesOf(loan, story.toggles),
    schedule: scheduleOf(loan, story.toggles),
    position: loan.position,
    terms: loan.terms,
    transactions: story.transactions.map(({ notes: _notes, additionalFields: _fields, ...others }) => others),
  };
}

const withSecurities: Partial<Loan> = {
  loanName: 'Marker-1',
  accountHolderKey: 'marker-2',
  notes: 'marker-3',
  additionalFields: {
    assignedBranchKey: 'branch',
    guarantors: [{ guarantorKey: 'marker-4', guarantorType: 'CLIENT', amount: 5, depositAccountKey: 'marker-5' }],
    assets: [{ assetName: 'marker-6', amount: 7, _personal: { plate: 'marker-7' }, _plain: { colour: 'red' } }],
    disbursementDetails: { _personal: { iban: 'marker-8' }, transactionDetails: { transactionChannelId: 'cash' } },
    _personal: { name: 'marker-9' },
    _personal_rows: [{ name: 'marker-10' }, { name: 'marker-11' }],
    _unknown: { name: 'marker-12' },
    _plain: { purpose: 'car' },
  },
};

describe('the erasure of personal data', () => {
  it('leaves the money of any account exactly as it was, after any commands', () => {
    fc.assert(
      fc.property(anyStart, anySteps, (start, steps) => {
        const story = steps.reduce((after, step) => walk(after, step), start);
        const erased = erase(story);
        expect(erased.outcome, JSON.stringify(erased.refusals)).to.equal('committed');
        expect(moneyOf(erased)).to.deep.equal(moneyOf(story));
      }),
      runs,
    );
  });

  it('changes nothing of what later commands do', () => {
    fc.assert(
      fc.property(anyStart, anySteps, anySteps, (start, before, after) => {
        const story = before.reduce((known, step) => walk(known, step), start);
        // As many commands, so that ids and times are the same.
        const counted = { ...story, commandCount: story.commandCount + 1 };
        const [kept, erased] = [counted, erase(story)].map((from) =>
          after.reduce((known, step) => walk(known, step), from),
        );
        if (kept === undefined || erased === undefined) throw new Error('two stories');
        expect(balancesOf(loanOf(erased), erased.toggles)).to.deep.equal(balancesOf(loanOf(kept), kept.toggles));
        expect(scheduleOf(loanOf(erased), erased.toggles)).to.deep.equal(scheduleOf(loanOf(kept), kept.toggles));
        const amountsOf = ({ transactions }: Story): unknown =>
          transactions.map(({ id, type, amount, affected, totalBalanceAfter }) => [
            id,
            type,
            amount,
            affected,
            totalBalanceAfter,
          ]);
        expect(amountsOf(erased)).to.deep.equal(amountsOf(kept));
      }),
      runs,
    );
  });

  it('takes everything personal out of an account and its event, and leaves the rest', () => {
    const story = given(create(product()), approve);
    const erased = erase({ ...story, loan: { ...loanOf(story), ...withSecurities } });
    const account = accountOf(loanOf(erased));
    const text = JSON.stringify([loanOf(erased), account, erased.events.slice(story.events.length)]);
    expect(text).not.to.match(/marker/i);
    expect(account).to.deep.include({ loanName: 'Product', assignedBranchKey: 'branch', _plain: { purpose: 'car' } });
    expect(account).to.deep.include({
      guarantors: [{ guarantorKey: 'erased', guarantorType: 'CLIENT', amount: 5 }],
      assets: [{ assetName: 'erased', amount: 7, _plain: { colour: 'red' } }],
    });
    const [event, ...others] = erased.events.slice(story.events.length);
    expect(others).to.deep.equal([]);
    expect(event).to.deep.include({ eventType: 'loan_account_changed', personalDataErased: true, account });
  });

  for (const [name, steps] of Object.entries({
    'waits for its approval': [create(product())],
    'is rejected': [create(product()), { type: 'CHANGE_STATE', action: 'REJECT' } as const],
    'is closed': [
      create(product()),
      approve,
      disburse('2011-01-23'),
      { type: 'WRITE_OFF', valueDate: '2011-01-24' } as const,
    ],
  })) {
    it(`is done on an account that ${name}, and again`, () => {
      const erased = erase(given(...steps));
      expect(erased.outcome).to.equal('committed');
      expect(erase(erased).outcome).to.equal('committed');
    });
  }

  it('is refused for an account that does not exist', () => {
    expect(given({ type: 'ERASE_PERSONAL_DATA' }).refusals.map(({ errorReason }) => errorReason)).to.deep.equal([
      'INVALID_LOAN_ACCOUNT_ID',
    ]);
  });
});
