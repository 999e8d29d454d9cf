import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { RequestedFee } from '../../../src/lending/commands.ts';
import {
  expectedFees,
  feesToCharge,
  refusalsOfAgreedFees,
  withFeeKeys,
} from '../../../src/lending/fees/disbursement-fees.ts';
import { accountOf } from '../../../src/lending/views/accounts.ts';
import {
  type AskedCommand,
  type Story,
  approve,
  create,
  disburse,
  fee,
  given,
  loanOf,
  money,
  product,
  reasons,
  when,
} from '../loan-fixtures.ts';

const withFees = product({
  feesSettings: {
    fees: [
      fee({ id: 'deducted', trigger: 'DISBURSEMENT' }),
      fee({
        id: 'capitalised',
        trigger: 'CAPITALIZED_DISBURSEMENT',
        amountCalculationMethod: 'LOAN_AMOUNT_PERCENTAGE',
      }),
      fee({ id: 'priced', trigger: 'UPFRONT_DISBURSEMENT', amount: money(7) }),
      fee({ id: 'required', trigger: 'UPFRONT_DISBURSEMENT', amount: money(3), feeApplication: 'REQUIRED' }),
      fee({ id: 'manual', amount: money(1) }),
      fee({ id: 'retired', trigger: 'DISBURSEMENT', amount: money(1), state: 'INACTIVE' }),
    ],
  },
});

const agreeing = (...disbursementFees: readonly RequestedFee[]): Story =>
  given({ ...create(withFees), disbursementFees } as AskedCommand);
const chargedBy = (story: Story): string[] =>
  (story.transactions[0]?.fees ?? []).map(({ feeName, amount }) => `${feeName} ${amount.toFixed(2)}`);

const deducted = { predefinedFeeKey: 'deducted', amount: money(20) };
const capitalised = { predefinedFeeKey: 'capitalised', percentage: money('1.5') };

describe('the fees that an account agrees for its disbursement', () => {
  it('are charged with it, beside those that the product requires', () => {
    const story = [approve, disburse('2011-01-23')].reduce(when, agreeing(deducted, capitalised));
    expect(chargedBy(story)).to.deep.equal(['Fee deducted 20.00', 'Fee capitalised 15.00', 'Fee required 3.00']);
    const { position } = loanOf(story);
    expect([position.disbursements[0]?.paidOut, position.principalLent].map(String)).to.deep.equal(['980', '1015']);
  });

  it('are charged once when the disbursement names them too, with the amount that it gives', () => {
    const again = disburse('2011-01-23', [{ predefinedFeeKey: 'deducted-key', amount: money(25) }]);
    const story = [approve, again].reduce(when, agreeing(deducted));
    expect(chargedBy(story)).to.deep.equal(['Fee deducted 25.00', 'Fee required 3.00']);
  });

  it('are shown by the encodedKeys of the product, each with a key of its own', () => {
    const loan = loanOf(agreeing(deducted, capitalised));
    const { fees = [] } = accountOf(loan).disbursementDetails;
    expect(fees.map(({ predefinedFeeEncodedKey }) => predefinedFeeEncodedKey)).to.deep.equal([
      'deducted-key',
      'capitalised-key',
    ]);
    expect(fees.map(({ amount, percentage }) => [amount?.toFixed(), percentage?.toFixed()])).to.deep.equal([
      ['20', undefined],
      [undefined, '1.5'],
    ]);
    expect(new Set([loan.encodedKey, ...fees.map(({ encodedKey }) => encodedKey)]).size).to.equal(3);
    expect(accountOf(loanOf(given(create(withFees)))).disbursementDetails).not.to.have.property('fees');
  });

  for (const [what, fees, refused] of [
    ['a fee that the product lacks', [{ predefinedFeeKey: 'none' }], ['INVALID_FEE_KEY …[0].predefinedFeeEncodedKey']],
    ['a fee that is retired', [{ predefinedFeeKey: 'retired' }], ['FEE_NOT_ACTIVE …[0].predefinedFeeEncodedKey']],
    ['a fee charged by hand', [{ predefinedFeeKey: 'manual' }], ['FEE_NOT_ALLOWED …[0].predefinedFeeEncodedKey']],
    [
      'the same fee by its id and its key',
      [deducted, { ...deducted, predefinedFeeKey: 'deducted-key' }],
      ['DUPLICATE_DISBURSEMENT_FEE …[1].predefinedFeeEncodedKey'],
    ],
    ['no amount where the product has none', [{ predefinedFeeKey: 'deducted' }], ['MANDATORY_FEE_AMOUNT …[0].amount']],
    [
      'another amount than that of the product',
      [{ predefinedFeeKey: 'priced', amount: money('7.01') }],
      ['FEE_AMOUNT_ALREADY_DEFINED_IN_PRODUCT …[0].amount'],
    ],
    [
      'an amount of nothing',
      [{ predefinedFeeKey: 'deducted', amount: money(0) }],
      ['FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE …[0].amount'],
    ],
    [
      'an amount finer than the currency',
      [{ predefinedFeeKey: 'deducted', amount: money('0.001') }],
      ['INVALID_AMOUNT …[0].amount'],
    ],
    ['a percentage of a flat fee', [{ ...deducted, percentage: money(1) }], ['INVALID_FEE …[0].percentage']],
  ] as const) {
    it(`may not be ${what}`, () => {
      const expected = refused.map((reason) => reason.replace('…', 'disbursementDetails.fees'));
      expect(reasons(agreeing(...fees))).to.deep.equal(expected);
    });
  }

  it('may repeat the amount of the product', () => {
    const loan = loanOf(agreeing({ predefinedFeeKey: 'priced', amount: money('7.00') }));
    expect(refusalsOfAgreedFees(loan)).to.deep.equal([]);
    expect(expectedFees(loan).map(({ fee: { id } }) => id)).to.deep.equal(['priced', 'required']);
  });

  it('change with the account before its approval, and not afterwards', () => {
    const opened = agreeing(deducted);
    const update = (...disbursementFees: readonly RequestedFee[]): AskedCommand => ({
      type: 'UPDATE_LOAN',
      requested: { loanAmount: money(1000), disbursementFees },
    });
    expect(loanOf(when(opened, update(capitalised))).disbursementFees).to.deep.equal(
      withFeeKeys(withFees, [capitalised]),
    );
    const none = when(opened, { type: 'UPDATE_LOAN', requested: { loanAmount: money(1000) } });
    expect(loanOf(none)).not.to.have.property('disbursementFees');
    const approved = when(opened, approve);
    expect(reasons(when(approved, update(capitalised)))).to.deep.equal([
      'LOAN_ACCOUNT_FIELD_NOT_EDITABLE disbursementDetails.fees',
    ]);
    expect(when(approved, update({ ...deducted, amount: money('20.00') })).outcome).to.equal('committed');
  });
});

describe('the fees to charge', () => {
  it('are refused with the field of the disbursement that names them', () => {
    const requested = [{ predefinedFeeKey: 'manual' }, { predefinedFeeKey: 'none' }];
    expect(feesToCharge(loanOf(given(create(withFees))), requested)).to.deep.equal({
      refusals: [
        { errorReason: 'FEE_NOT_ALLOWED', errorSource: 'fees[0].predefinedFeeKey' },
        { errorReason: 'INVALID_FEE_KEY', errorSource: 'fees[1].predefinedFeeKey' },
      ],
    });
  });
});
