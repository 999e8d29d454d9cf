import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readExactObject } from '../../../src/lending-format/exact-json.ts';
import {
  readHolidays,
  readNonWorkingDays,
  readOrganizationSetup,
} from '../../../src/lending-format/payloads/organization-payload.ts';

type Json = Record<string, unknown>;

const setup = {
  institutionName: 'Bank',
  timeZoneID: 'Asia/Tokyo',
  currency: 'JPY',
  dateFormat: 'yyyy-MM-dd',
  dateTimeFormat: 'yyyy-MM-dd HH:mm',
  decimalSeparator: 'COMMA',
};

/** What a body is read as, or the fields that are refused. */
function settingsOf(body: Json): Json | string[] {
  const read = readOrganizationSetup(readExactObject(JSON.stringify(body)));
  return 'refusals' in read ? read.refusals.map(({ errorSource }) => String(errorSource)) : { ...read.changes };
}

describe('the setup of an organization', () => {
  it('has a name, a zone, a currency and formats', () => {
    const { currency, ...others } = setup;
    expect(settingsOf(setup)).to.deep.equal({ ...others, currencyCode: currency, contact: {} });
  });

  it('leaves the zone and the currency as they are where it has none', () => {
    const { timeZoneID: _zone, currency: _currency, ...others } = setup;
    expect(settingsOf({ ...others, timeZoneID: '', currency: null })).to.deep.equal({ ...others, contact: {} });
  });

  it('keeps how to reach the institution', () => {
    const address = { line1: 'Street 1', city: 'Tokyo', latitude: -89.5, longitude: 180 };
    const contact = { address, emailAddress: 'a@b.example', phoneNumber: '+81 1' };
    expect(settingsOf({ ...setup, ...contact })).to.deep.include({ contact });
  });

  it('may be sent back as it was answered', () => {
    const dates = { creationDate: '2026-01-01T00:00:00Z', lastModifiedDate: '2026-01-01T00:00:00Z' };
    expect(settingsOf({ ...setup, ...dates })).to.deep.equal(settingsOf(setup));
  });

  const refused: [string, Json, string][] = [
    ['a missing name', { institutionName: undefined }, 'institutionName'],
    ['a missing format of days', { dateFormat: undefined }, 'dateFormat'],
    ['a missing format of times', { dateTimeFormat: '' }, 'dateTimeFormat'],
    ['a missing separator', { decimalSeparator: null }, 'decimalSeparator'],
    ['another separator', { decimalSeparator: 'SPACE' }, 'decimalSeparator'],
    ['a zone that does not exist', { timeZoneID: 'Europe/Atlantis' }, 'timeZoneID'],
    ['a zone that is an offset', { timeZoneID: '+01:00' }, 'timeZoneID'],
    ['a currency in small letters', { currency: 'jpy' }, 'currency'],
    ['a currency of four letters', { currency: 'JPYN' }, 'currency'],
    ['a latitude beyond the pole', { address: { latitude: 90.1 } }, 'address.latitude'],
    ['a longitude beyond the date line', { address: { longitude: -180.1 } }, 'address.longitude'],
    ['an unknown field', { motto: 'x' }, 'motto'],
    ['an unknown field of the address', { address: { planet: 'x' } }, 'address.planet'],
  ];
  for (const [what, changes, field] of refused) {
    it(`refuses ${what}`, () => {
      expect(settingsOf({ ...setup, ...changes })).to.deep.equal([field]);
    });
  }
});

describe('the holidays of an organization', () => {
  const read = (holidays: unknown, before: Parameters<typeof readHolidays>[1] = []): unknown => {
    const payload = readHolidays(readExactObject(JSON.stringify({ holidays })), before);
    return 'refusals' in payload ? payload.refusals.map(({ errorSource }) => errorSource) : payload.holidays;
  };
  const newYear = { id: 1, name: 'New Year', date: '2026-01-01', isAnnuallyRecurring: true };

  it('come in the order of their days, each with a number that no other one has or had', () => {
    const sent = [
      { name: 'Christmas', date: '2026-12-25' },
      { ...newYear, id: 7 },
      { name: 'May', date: '2026-05-01' },
    ];
    expect(read(sent, [{ ...newYear, id: 9 }])).to.deep.equal([
      { ...newYear, id: 7 },
      { id: 11, name: 'May', date: '2026-05-01', isAnnuallyRecurring: false },
      { id: 10, name: 'Christmas', date: '2026-12-25', isAnnuallyRecurring: false },
    ]);
  });

  it('may be none', () => {
    expect(read([], [newYear])).to.deep.equal([]);
  });

  it('are at most two hundred', () => {
    const many = (count: number) => Array.from({ length: count }, () => ({ name: 'x', date: '2026-01-01' }));
    expect(read(many(200))).to.have.length(200);
    expect(read(many(201))).to.deep.equal(['holidays']);
  });

  const refused: [string, unknown, string][] = [
    ['a missing list', undefined, 'holidays'],
    ['a day that does not exist', [{ name: 'x', date: '2026-02-29' }], 'holidays[0].date'],
    ['a holiday without a day', [{ name: 'x' }], 'holidays[0].date'],
    ['a holiday without a name', [{ date: '2026-01-01' }], 'holidays[0].name'],
    ['a number that two have', [newYear, newYear], 'holidays[1].id'],
    ['the number zero', [{ ...newYear, id: 0 }], 'holidays[0].id'],
    ['an unknown field', [{ ...newYear, country: 'x' }], 'holidays[0].country'],
  ];
  for (const [what, sent, field] of refused) {
    it(`refuse ${what}`, () => {
      expect(read(sent)).to.deep.equal([field]);
    });
  }
});

describe('the non-working days of an organization', () => {
  const read = (body: Json): unknown => {
    const payload = readNonWorkingDays(readExactObject(JSON.stringify(body)));
    return 'refusals' in payload ? payload.refusals.map(({ errorSource }) => errorSource) : payload.nonWorkingDays;
  };
  const week = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'];

  it('come from Monday to Sunday, and may be none', () => {
    expect(read({ nonWorkingDays: ['SUNDAY', 'FRIDAY'] })).to.deep.equal(['FRIDAY', 'SUNDAY']);
    expect(read({ nonWorkingDays: [] })).to.deep.equal([]);
  });

  it('leave at least one working day', () => {
    expect(read({ nonWorkingDays: week.slice(1) })).to.deep.equal(week.slice(1));
    expect(read({ nonWorkingDays: week })).to.deep.equal(['nonWorkingDays']);
  });

  it('are refused when they are missing, repeated or no days', () => {
    for (const nonWorkingDays of [undefined, ['SUNDAY', 'SUNDAY'], ['HOLIDAY'], 'SUNDAY']) {
      expect(read({ nonWorkingDays })).to.deep.equal(['nonWorkingDays']);
    }
  });
});
