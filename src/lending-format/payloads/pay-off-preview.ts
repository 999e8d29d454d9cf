import type { Refusal } from '../../lending/refusals.ts';
import type { LocalDate } from '../../lending/terms.ts';
import type { ExactJson } from '../exact-json.ts';
import { FieldReader } from './field-reader.ts';

/** The day that the body of a preview of a pay-off asks for; the refusals where it names none. */
export function readPayOffPreview(body: ExactJson): LocalDate | readonly Refusal[] {
  const refusals: Refusal[] = [];
  const reader = new FieldReader(body, refusals);
  const valueDate = reader.require('valueDate', reader.date('valueDate'));
  reader.refuseUnknown();
  return valueDate === undefined || refusals.length > 0 ? refusals : valueDate;
}
