import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { Decimal } from '../../../src/lending/money.ts';
import { annuityPayment, optimizedPayment } from '../../../src/lending/schedule/level-payment-formula.ts';

const rate = fc.integer({ min: 0, max: 2000 }).map((basisPoints) => new Decimal(basisPoints).dividedBy(10_000));

describe('the annuity', () => {
  it('equals the closed form P * i / (1 - (1 + i)^-n)', () => {
    fc.assert(
      fc.property(rate, fc.integer({ min: 1, max: 120 }), (rate, periods) => {
        fc.pre(!rate.isZero());
        const growth = rate.plus(1).pow(periods);
        const closed = rate.times(growth).dividedBy(growth.minus(1)).times(1000);
        expect(annuityPayment(new Decimal(1000), rate, periods).minus(closed).abs().lessThan('1e-25')).to.equal(true);
      }),
    );
  });

  it('shares the principal evenly without interest, and at a rate that is practically zero', () => {
    expect(annuityPayment(new Decimal(1000), new Decimal(0), 4).toString()).to.equal('250');
    expect(annuityPayment(new Decimal(1000), new Decimal('1e-60'), 4).toString()).to.equal('250');
  });

  it('requires at least one period', () => {
    expect(() => annuityPayment(new Decimal(1000), new Decimal('0.01'), 0)).to.throw(RangeError);
  });
});

describe('the optimized payment', () => {
  it('repays all principal over periods of different rates', () => {
    fc.assert(
      fc.property(fc.array(rate, { minLength: 1, maxLength: 60 }), (rates) => {
        const payment = optimizedPayment(new Decimal(1000), rates);
        const left = rates.reduce((balance, rate) => balance.times(rate.plus(1)).minus(payment), new Decimal(1000));
        expect(left.abs().lessThan('1e-10')).to.equal(true);
      }),
    );
  });
});
