import type { RequestHandler, Router } from 'express';
import { accountToPreview, readSchedulePreview } from '../../lending-format/payloads/schedule-preview.ts';
import { apiErrors } from '../../lending-format/refusal-format.ts';
import { writeSchedule } from '../../lending-format/response-bodies.ts';
import { readOrganization } from '../../lending-format/stored-organization.ts';
import { findProduct } from '../../lending-format/stored-products.ts';
import { readToggles } from '../../lending-format/stored-toggles.ts';
import type { Refusal } from '../../lending/refusals.ts';
import { LendingErrors, lendingMethodNotAllowed } from '../edge/lending-errors.ts';
import { readBody } from '../edge/request-body.ts';
import { commandBytesMaximum } from './command-requests.ts';
import { bodyObject } from './pay-off-preview.ts';
import type { LendingServices } from './services.ts';

/**
 * Adds the two routes that show the schedule of an account that is not stored. They change nothing, so they are no
 * commands. Call it before the routes that treat the whole last part of the path as an id.
 */
export function addSchedulePreview(router: Router, { registry, clock }: LendingServices): void {
  const preview: RequestHandler = async (request, response) => {
    const payload = readSchedulePreview(bodyObject(await readBody(request, commandBytesMaximum)));
    if ('length' in payload) throw refused(payload);
    const product = (await findProduct(registry, payload.productTypeKey)) ?? null;
    const loan = accountToPreview(payload, product, clock.now());
    if ('length' in loan) throw refused(loan);
    const schedule = writeSchedule(loan, readToggles(registry), readOrganization(registry));
    if (typeof schedule !== 'string') throw refused(schedule);
    response.type('json').send(schedule);
  };
  for (const path of ['/loans\\:previewSchedule', '/loans/schedule\\:preview']) {
    router.route(path).post(preview).all(lendingMethodNotAllowed('POST'));
  }
}

function refused(refusals: readonly Refusal[]): LendingErrors {
  return new LendingErrors('MALFORMED_REQUEST', apiErrors(refusals));
}
