import { Router } from 'express';
import { apiPath } from '../edge/request-paths.ts';
import { createDecommissionedRouter, requireSupportedVersion } from './api-versions.ts';
import { createBusinessDaysRouter } from './business-days.ts';
import { createCommandsRouter } from './command-status.ts';
import { createCustomFieldsRouter } from './custom-fields/custom-fields.ts';
import { type EndOfDayProgressServices, createEndOfDayProgressRouter } from './end-of-day-progress.ts';
import { type LoanEventsServices, createLoanEventsRouter } from './loan-events.ts';
import { createLoanProductsRouter } from './loan-products.ts';
import { createLoansRouter } from './loans.ts';
import { createDefinitionsRouter } from './organization/branches-and-channels.ts';
import { createListsRouter } from './organization/users-and-currencies.ts';
import { createOrganizationRouter } from './organization/organization.ts';
import { createTogglesRouter } from './toggles.ts';

/** The whole lending API. Each resource answers at its path and below `/api`: it is the same router in both places. */
export function createLendingApi(services: LoanEventsServices & EndOfDayProgressServices): Router {
  const resources = Router({ caseSensitive: true });
  resources.use(createLoanEventsRouter(services));
  resources.use(createLoansRouter(services));
  resources.use(createLoanProductsRouter(services));
  resources.use(createTogglesRouter(services));
  resources.use(createBusinessDaysRouter(services));
  resources.use(createEndOfDayProgressRouter(services));
  resources.use(createCommandsRouter(services));
  resources.use(createOrganizationRouter(services));
  resources.use(createDefinitionsRouter(services));
  resources.use(createCustomFieldsRouter(services));
  resources.use(createListsRouter(services));
  const router = Router({ caseSensitive: true });
  router.use(createDecommissionedRouter());
  router.use(requireSupportedVersion);
  router.use(apiPath, resources);
  router.use(resources);
  return router;
}
