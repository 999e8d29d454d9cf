import { expect } from 'chai';
import { describe, it } from 'mocha';
import { dayOf, dayOfCommand, startOfDay, toInstant } from '../../src/lending/instants.ts';

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

describe('the day of a command', () => {
  it('is that of the organization, and without one that of UTC', () => {
    const receivedAt = Date.parse('2011-02-23T23:30:00Z');
    expect(dayOf(receivedAt, 'Europe/Berlin')).to.equal('2011-02-24');
    expect(dayOf(receivedAt, 'America/New_York')).to.equal('2011-02-23');
    expect(dayOfCommand({ receivedAt })).to.equal('2011-02-23');
    expect(dayOfCommand({ receivedAt, receivedOn: dayOf(receivedAt, 'Asia/Tokyo') })).to.equal('2011-02-24');
  });
});
