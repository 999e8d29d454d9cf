import { Router, type Request } from 'express';
import type { Responses } from '../../../contract.ts';
import { describeError } from '../../../errors.ts';
import { type ExactJson, readExactObject } from '../../../lending-format/exact-json.ts';
import {
  readHolidays,
  readNonWorkingDays,
  readOrganizationSetup,
} from '../../../lending-format/payloads/organization-payload.ts';
import { apiErrors } from '../../../lending-format/refusal-format.ts';
import { changeOrganization, readOrganization, viewOrganization } from '../../../lending-format/stored-organization.ts';
import { LendingErrors, lendingMethodNotAllowed, malformedBody } from '../../edge/lending-errors.ts';
import { readBody } from '../../edge/request-body.ts';
import { documentAfterPatch } from '../json-patch-body.ts';
import { refuseUnknownParameters } from '../lending-parameters.ts';
import type { LendingServices } from '../services.ts';

/** The largest body of a definition: the organization, its calendar, a branch. Bytes. */
export const definitionBytesMaximum = 64 * 1024;

/**
 * The organization: its time zone and currency, how programs show numbers and days, and the days on which it is closed.
 */
export function createOrganizationRouter({ registry, clock }: LendingServices): Router {
  const router = Router({ caseSensitive: true });
  const change = (changesOf: Parameters<typeof changeOrganization>[1]): Promise<void> =>
    changeOrganization(registry, changesOf, clock.now());
  const showHolidays = (): Responses['getHolidays'] => ({ holidays: readOrganization(registry).holidays });
  const showDays = (): Responses['getNonWorkingDays'] => ({
    nonWorkingDays: readOrganization(registry).nonWorkingDays,
  });
  router
    .route('/setup/organization')
    .get((request, response) => {
      refuseUnknownParameters(request);
      response.json(viewOrganization(registry) satisfies Responses['getOrganizationSetup']);
    })
    .put(async (request, response) => {
      const setup = accepted(readOrganizationSetup(await readDefinitionBody(request)));
      await change(() => setup.changes);
      response.json(viewOrganization(registry) satisfies Responses['setOrganizationSetup']);
    })
    .patch(async (request, response) => {
      const patch = await readDefinitionText(request);
      await change(() => {
        const document = readExactObject(JSON.stringify(viewOrganization(registry)));
        return accepted(readOrganizationSetup(documentAfterPatch(document, patch))).changes;
      });
      response.status(204).end();
    })
    .all(lendingMethodNotAllowed('GET', 'PUT', 'PATCH'));
  router
    .route('/organization/holidays')
    .get((request, response) => {
      refuseUnknownParameters(request);
      response.json(showHolidays());
    })
    .put(async (request, response) => {
      const body = await readDefinitionBody(request);
      await change(({ holidays }) => ({ holidays: accepted(readHolidays(body, holidays)).holidays }));
      response.json(showHolidays());
    })
    .all(lendingMethodNotAllowed('GET', 'PUT'));
  router
    .route('/organization/nonWorkingDays')
    .get((request, response) => {
      refuseUnknownParameters(request);
      response.json(showDays());
    })
    .put(async (request, response) => {
      const { nonWorkingDays } = accepted(readNonWorkingDays(await readDefinitionBody(request)));
      await change(() => ({ nonWorkingDays }));
      response.json(showDays());
    })
    .all(lendingMethodNotAllowed('GET', 'PUT'));
  return router;
}

/** @throws LendingErrors 400 for a body that is no JSON object */
export async function readDefinitionBody(request: Request): Promise<ExactJson> {
  try {
    return readExactObject(await readDefinitionText(request));
  } catch (error) {
    throw error instanceof SyntaxError ? malformedBody(describeError(error)) : error;
  }
}

/** @throws LendingErrors 400 for a body that is not UTF-8 */
export async function readDefinitionText(request: Request): Promise<string> {
  const body = await readBody(request, definitionBytesMaximum);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw malformedBody('it is not UTF-8');
  }
}

/** What was read of a body. @throws LendingErrors 400 with what is wrong with it */
export function accepted<Payload extends object>(payload: Payload): Exclude<Payload, { refusals: unknown }> {
  if ('refusals' in payload) {
    throw new LendingErrors('MALFORMED_REQUEST', apiErrors(payload.refusals as Parameters<typeof apiErrors>[0]));
  }
  return payload as Exclude<Payload, { refusals: unknown }>;
}
