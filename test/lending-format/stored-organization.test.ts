import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { Registry } from '../../src/broker/definitions/registry.ts';
import type { LendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import { defaultOrganization } from '../../src/lending/organization.ts';
import {
  type OrganizationChanges,
  changeOrganization,
  organizationRecord,
  readCalendar,
  readOrganization,
} from '../../src/lending-format/stored-organization.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { openLogUnderTest } from '../support/backend-under-test.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

describe('the organization', () => {
  let folder: string;
  let log: EventLog;
  let registry: Registry;

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLogUnderTest(folder);
    registry = new Registry(log, silentLogger);
    await registry.start();
  });

  afterEach(async () => {
    await registry.stop();
    await log.close();
    await removeFolder(folder);
  });

  it('is the default one until an admin sets it', () => {
    expect(readOrganization(registry)).to.deep.equal(defaultOrganization);
    expect(organizationRecord(registry)).to.equal(undefined);
  });

  it('keeps what a change does not name, also for processes that start later', async () => {
    const holidays = [{ id: 1, name: 'New Year', date: '2026-01-01', isAnnuallyRecurring: true }];
    await changeOrganization(registry, () => ({ timeZoneID: 'Asia/Tokyo', currencyCode: 'JPY' }), 1_000);
    await changeOrganization(registry, () => ({ holidays, nonWorkingDays: ['FRIDAY'] }), 2_000);
    const later = new Registry(log, silentLogger);
    await later.start();
    expect(readOrganization(later)).to.deep.equal({
      ...defaultOrganization,
      timeZoneID: 'Asia/Tokyo',
      currencyCode: 'JPY',
      holidays,
      nonWorkingDays: ['FRIDAY'],
    });
    await later.stop();
  });

  it('keeps when it was set first and last, and what no rule reads', async () => {
    await changeOrganization(registry, () => ({ contact: { emailAddress: 'a@b.example' } }), 1_000);
    await changeOrganization(registry, () => ({ institutionName: 'Bank' }), 2_000);
    expect(organizationRecord(registry)).to.include({
      creationDate: '1970-01-01T00:00:01.000Z',
      lastModifiedDate: '1970-01-01T00:00:02.000Z',
    });
    expect(organizationRecord(registry)?.contact).to.deep.equal({ emailAddress: 'a@b.example' });
    expect(readOrganization(registry)).to.not.have.property('contact');
  });

  it('counts the changes of its working days, and nothing else', async () => {
    const holidays = [{ id: 1, name: 'New Year', date: '2026-01-01', isAnnuallyRecurring: true }];
    const changes: unknown[] = [readCalendar(registry).changes];
    const steps: readonly OrganizationChanges[] = [
      { institutionName: 'Bank' },
      { holidays },
      { holidays, nonWorkingDays: ['SATURDAY', 'SUNDAY'] },
      { timeZoneID: 'Asia/Tokyo' },
      { holidays: [] },
      { nonWorkingDays: [], holidays },
    ];
    for (const step of steps) {
      await changeOrganization(registry, () => step, 1_000);
      changes.push(readCalendar(registry).changes);
    }
    expect(changes).to.deep.equal([0, 0, 1, 1, 1, 2, 3]);
    expect(readCalendar(registry)).to.deep.equal({ nonWorkingDays: [], holidays, changes: 3 });
    expect(readOrganization(registry)).not.to.have.property('calendarChanges');
  });

  it('changes from the newest state, also of another process', async () => {
    const other = new Registry(log, silentLogger);
    await other.start();
    await changeOrganization(other, () => ({ timeZoneID: 'Asia/Tokyo' }), 1_000);
    let seen: string | undefined;
    await changeOrganization(
      registry,
      ({ timeZoneID }) => {
        seen = timeZoneID;
        return { institutionName: 'Bank' };
      },
      2_000,
    );
    expect(seen).to.equal('Asia/Tokyo');
    expect(readOrganization(registry)).to.include({ timeZoneID: 'Asia/Tokyo', institutionName: 'Bank' });
    await other.stop();
  });

  it('takes the first of two changes at the same time, and the other is a conflict', async () => {
    const outcomes = await Promise.allSettled(
      ['first', 'second'].map((institutionName) => changeOrganization(registry, () => ({ institutionName }), 1_000)),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as LendstreamError).code)).to.deep.equal(['CONFLICT']);
    const winner = outcomes[0]?.status === 'fulfilled' ? 'first' : 'second';
    expect(readOrganization(registry).institutionName).to.equal(winner);
  });
});
