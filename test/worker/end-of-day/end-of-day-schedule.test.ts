import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { LendstreamError } from '../../../src/errors.ts';
import { systemClock } from '../../../src/clock.ts';
import { closeBusinessDay } from '../../../src/http/lending/business-days.ts';
import { businessDateOf, changeOrganization, lastDayOver } from '../../../src/lending-format/stored-organization.ts';
import { EndOfDaySchedule, requireCronExpression } from '../../../src/worker/end-of-day-schedule.ts';
import { type LendingService, startLendingService } from '../../http/lending/lending-service.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { SimulatedClock, settled } from '../../support/simulated-clock.ts';

/** Five past midnight, every day. */
const expression = '5 0 * * *';

describe('the schedule of the end of the day', () => {
  let folder: string;
  let service: LendingService;
  /** The wall clock of the service, which receives the commands. */
  let now: number;
  let schedule: EndOfDaySchedule | undefined;

  beforeEach(async () => {
    folder = await temporaryFolder();
    now = Date.UTC(2020, 0, 20, 12);
    service = await startLendingService(folder, true, { clock: { ...systemClock, now: () => now } });
  });
  afterEach(async () => {
    await schedule?.stop();
    schedule = undefined;
    await service.stop();
    await removeFolder(folder);
  });

  const closed = (): string => businessDateOf(service.businessDays);
  const closedUpTo = async (businessDate: string): Promise<void> => {
    while (closed() !== businessDate) await settled();
  };
  /** Starts the schedule by a clock that stands at this time. */
  const startAt = (time: number): SimulatedClock => {
    const clock = new SimulatedClock(time);
    const services = { ...service.businessDays, clock };
    const closeDay = (businessDate: string): Promise<boolean> => closeBusinessDay(services, businessDate);
    schedule = new EndOfDaySchedule({ ...services, closeDay }, expression);
    schedule.start();
    return clock;
  };
  /** Waits until the schedule waits for something in so many milliseconds. */
  const waits = async (clock: SimulatedClock, milliseconds: number): Promise<void> => {
    while (!clock.hasDeadline(clock.monotonic() + milliseconds)) await settled();
  };
  const minutes = 60_000;

  it('closes the days that were missed while no process ran, and then each day at its time', async () => {
    expect(await closeBusinessDay(service.businessDays, '2020-01-05')).to.equal(true);
    expect(closed()).to.equal('2020-01-06');
    const clock = startAt(Date.UTC(2020, 0, 9, 0, 30));
    await closedUpTo('2020-01-09');
    await waits(clock, (23 * 60 + 35) * minutes);
    await clock.turn((23 * 60 + 35) * minutes - 1);
    expect(closed()).to.equal('2020-01-09');
    await clock.turn(1);
    await closedUpTo('2020-01-10');
  });

  it('waits for its time when no day was closed before, or none is missed', async () => {
    const clock = startAt(Date.UTC(2020, 0, 9, 0, 1));
    expect(clock.hasDeadline(4 * minutes)).to.equal(true);
    await schedule?.stop();
    await closeBusinessDay(service.businessDays, '2020-01-08');
    expect(startAt(Date.UTC(2020, 0, 9, 0, 1)).hasDeadline(4 * minutes)).to.equal(true);
  });

  it('tries again after a minute when the end of a day failed', async () => {
    await closeBusinessDay(service.businessDays, '2020-01-18');
    // The service receives the command on the day that is to be closed, and refuses it.
    const clock = startAt(Date.UTC(2020, 0, 21, 0, 5));
    await waits(clock, minutes);
    expect(closed()).to.equal('2020-01-19');
    now = Date.UTC(2020, 0, 21, 0, 6);
    await clock.turn(minutes - 1);
    expect(closed()).to.equal('2020-01-19');
    await clock.turn(1);
    await closedUpTo('2020-01-21');
  });

  it('does nothing more once it is stopped', async () => {
    const clock = startAt(Date.UTC(2020, 0, 9, 0, 1));
    await schedule?.stop();
    await clock.turn(48 * 60 * minutes);
    await settled();
    const { clock: _clock, ...services } = service.businessDays;
    expect(businessDateOf({ ...services, clock })).to.equal('2020-01-11');
    expect(clock.nextDeadline()).to.equal(Infinity);
  });

  it('follows the organization to another zone, and closes no day again', async () => {
    const { businessDays } = service;
    const moveTo = (timeZoneID: string): Promise<void> =>
      changeOrganization(businessDays.registry, () => ({ timeZoneID }), now);
    now = Date.UTC(2020, 0, 20, 10, 30);
    expect(lastDayOver(businessDays)).to.equal('2020-01-19');
    await closeBusinessDay(businessDays, '2020-01-19');
    // Half past midnight of the twenty-first.
    await moveTo('Pacific/Kiritimati');
    expect(lastDayOver(businessDays)).to.equal('2020-01-20');
    expect(await closeBusinessDay(businessDays, '2020-01-20')).to.equal(true);
    expect(closed()).to.equal('2020-01-21');
    // Half past eleven in the evening of the nineteenth: the days that are closed stay closed.
    await moveTo('Pacific/Pago_Pago');
    expect(lastDayOver(businessDays)).to.equal('2020-01-18');
    expect(await closeBusinessDay(businessDays, '2020-01-18')).to.equal(true);
    expect(closed()).to.equal('2020-01-21');
    // Its next day to close is over there at eleven in the morning of the twenty-second in UTC.
    now = Date.UTC(2020, 0, 22, 11, 30);
    expect(lastDayOver(businessDays)).to.equal('2020-01-21');
    expect(await closeBusinessDay(businessDays, '2020-01-21')).to.equal(true);
    expect(closed()).to.equal('2020-01-22');
  });

  it('is a cron expression of five fields', () => {
    requireCronExpression(expression);
    for (const wrong of ['5 0 * *', '0 5 0 * * *', '99 0 * * *', 'daily']) {
      expect(() => requireCronExpression(wrong), wrong)
        .to.throw(LendstreamError)
        .with.property('code', 'CONFIGURATION_INVALID');
    }
  });
});
