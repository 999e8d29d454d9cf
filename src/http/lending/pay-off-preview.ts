import type { Router } from 'express';
import { describeError } from '../../errors.ts';
import { readPayload } from '../../lending-format/command-format.ts';
import { readPayOffPreview } from '../../lending-format/payloads/pay-off-preview.ts';
import { apiErrors } from '../../lending-format/refusal-format.ts';
import { writePayOffAmounts } from '../../lending-format/response-bodies.ts';
import { LendingErrors, lendingMethodNotAllowed, malformedBody } from '../edge/lending-errors.ts';
import { readBody } from '../edge/request-body.ts';
import { existingLoan } from './loan-lookup.ts';
import type { LendingServices } from './services.ts';

/** The largest body of a preview. Bytes. */
const previewBytesMaximum = 1_024;

/** Adds the route that shows what a pay-off would cost. It changes nothing, so it is no command. */
export function addPayOffPreview(router: Router, services: LendingServices): void {
  router
    .route('/loans/:loanAccountId\\:previewPayOffAmounts')
    .post(async (request, response) => {
      const loan = await existingLoan(services, request);
      const valueDate = readPayOffPreview(bodyObject(await readBody(request, previewBytesMaximum)));
      const body = typeof valueDate === 'string' ? writePayOffAmounts(loan, valueDate) : valueDate;
      if (typeof body !== 'string') throw new LendingErrors('MALFORMED_REQUEST', apiErrors(body));
      response.type('json').send(body);
    })
    .all(lendingMethodNotAllowed('POST'));
}

/** The object of a body that is no command. @throws LendingErrors when the body is no JSON object */
export function bodyObject(body: Buffer): ReturnType<typeof readPayload> {
  try {
    return readPayload(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw malformedBody(describeError(error));
  }
}
