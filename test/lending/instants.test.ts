import { expect } from 'chai';
import { describe, it } from 'mocha';
import { dayOf, startOfDay, toInstant } from '../../src/lending/instants.ts';

describe('an instant', () => {
  it('is the first one of its day, in UTC', () => {
    expect(startOfDay('2011-02-23')).to.equal('2011-02-23T00:00:00Z');
    expect(dayOf(Date.parse(startOfDay('2011-02-23')))).to.equal('2011-02-23');
    expect(dayOf(Date.parse(startOfDay('2011-02-23')) - 1)).to.equal('2011-02-22');
  });

  it('is converted to a day', () => {
    expect([dayOf(0), toInstant(0)]).to.deep.equal(['1970-01-01', '1970-01-01T00:00:00.000Z']);
  });
});
