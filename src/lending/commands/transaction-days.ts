import type { CommandHeader, TransactionDetails } from '../commands.ts';
import { dayOfCommand } from '../instants.ts';
import type { LocalDate } from '../terms.ts';
import { type Refusal, type RefusalReason, refusal } from '../refusals.ts';

/** The first and the last day used in computations: beyond them no schedule could be counted. */
const firstValueDate: LocalDate = '1900-01-01';

const lastValueDate: LocalDate = '2999-12-31';

/** Whether the date is from 1900-01-01 to 2999-12-31, both included. */
export function isUsableDate(date: LocalDate): boolean {
  return date >= firstValueDate && date <= lastValueDate;
}

/**
 * Checks the days of a transaction: neither may be after the day on which the command entered the log, where the
 * organization is. A transaction dated ahead would block everything that happens until then. The result does not depend
 * on when the command is decided.
 * @param outside The refusal of a value date outside the years that are computed.
 * @param inFuture The refusal of a value date in the future.
 * @returns null when both days are right; INVALID_DATE for the booking date
 */
export function refusalOfDays(
  command: Pick<CommandHeader & TransactionDetails, 'receivedAt' | 'receivedOn' | 'valueDate' | 'bookingDate'>,
  outside: RefusalReason = 'INVALID_DATE',
  inFuture: RefusalReason = outside,
): Refusal | null {
  const today = dayOfCommand(command);
  const { valueDate = today, bookingDate = today } = command;
  if (!isUsableDate(valueDate)) return refusal(outside, 'valueDate');
  if (valueDate > today) return refusal(inFuture, 'valueDate');
  return isUsableDate(bookingDate) && bookingDate <= today ? null : refusal('INVALID_DATE', 'bookingDate');
}
