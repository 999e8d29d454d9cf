import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Decimal } from '../../../src/lending/money.ts';
import { roundScheduleAmount } from '../../../src/lending/schedule/rounding.ts';
import type { ScheduleAmount } from '../../../src/lending/schedule/rounding.ts';
import type { RoundingTerms } from '../../../src/lending/terms.ts';
import { scheduleTerms } from './schedule-terms.ts';

const whole = { repaymentCurrencyRounding: 'ROUND_TO_NEAREST_WHOLE_UNIT' } as const;
const up = { repaymentCurrencyRounding: 'ROUND_UP_TO_NEAREST_WHOLE_UNIT' } as const;
const all = { repaymentElementsRoundingMethod: 'ROUND_ALL' } as const;
const due = { repaymentElementsRoundingMethod: 'PAYMENT_DUE' } as const;

const cases: readonly [string, Partial<RoundingTerms>, ScheduleAmount, string, string][] = [
  ['minor units by default', {}, 'PAYMENT', '12.345', '12.35'],
  ['minor units for every element without whole units', all, 'INTEREST', '12.345', '12.35'],
  ['half to even as the product defines', { roundingMode: 'HALF_EVEN' }, 'INTEREST', '12.345', '12.34'],
  ['the payment to whole units', whole, 'PAYMENT', '12.5', '13.00'],
  ['the payment to whole units, half to even', { ...whole, roundingMode: 'HALF_EVEN' }, 'PAYMENT', '12.5', '12.00'],
  ['the payment up to whole units', up, 'PAYMENT', '12.01', '13.00'],
  ['the payment, not its interest', whole, 'INTEREST', '12.345', '12.35'],
  ['the payment, not its principal', { ...whole, ...due }, 'PRINCIPAL', '12.345', '12.35'],
  ['every element to whole units', { ...whole, ...all }, 'INTEREST', '12.345', '12.00'],
  ['every element up to whole units', { ...up, ...all }, 'PRINCIPAL', '12.345', '13.00'],
];

describe('the rounding of a schedule row', () => {
  for (const [name, rounding, kind, amount, rounded] of cases) {
    it(`rounds ${amount} to ${rounded}: ${name}`, () => {
      const terms = scheduleTerms({ rounding });
      expect(roundScheduleAmount(new Decimal(amount), kind, terms).toFixed(2)).to.equal(rounded);
    });
  }
});
