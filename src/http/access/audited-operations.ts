import type { RegistryKind } from '../../broker/definitions/registry-kind.ts';

/**
 * How an operation is audited. `administration` has a record before it begins and one when it has ended; `command` has
 * the second alone, because the command itself lies in the log, with its sender, before anything changes.
 */
export type AuditClass = 'administration' | 'command';

/** Where the name of what an operation changes is: a value in its path, or a field of a body. */
type NameSource =
  | { readonly in: 'path' | 'paths' }
  | { readonly in: 'request' | 'response'; readonly field: string }
  | { readonly in: 'constant'; readonly name: string }
  | { readonly in: 'nowhere' };

/** What the audit records of an operation. */
export interface AuditedOperation {
  readonly audit: AuditClass;
  /** What kind of thing it changes. */
  readonly subject: string;
  readonly name: NameSource;
  /** The kind of definition whose states before and after are recorded; absent where none is. */
  readonly definition?: RegistryKind;
}

const inPath: NameSource = { in: 'path' };
const inPaths: NameSource = { in: 'paths' };
const nowhere: NameSource = { in: 'nowhere' };
const inRequest = (field: string): NameSource => ({ in: 'request', field });
const inResponse = (field: string): NameSource => ({ in: 'response', field });

/** A change of a definition, which the registry has under the same name. */
function definition(kind: RegistryKind, name: NameSource = inPath): AuditedOperation {
  return { audit: 'administration', subject: kind, name, definition: kind };
}

/** A change by people who operate the service, of what is no definition. */
function administration(subject: string, name: NameSource = inPath): AuditedOperation {
  return { audit: 'administration', subject, name };
}

function command(subject: string, name: NameSource = inPath): AuditedOperation {
  return { audit: 'command', subject, name };
}

const organization = definition('organization', { in: 'constant', name: 'setup' });

/** The operations that are audited, by their id. A test finds every change that stands neither here nor below. */
export const auditedOperations: Readonly<Record<string, AuditedOperation>> = {
  createEventType: definition('event-type', inRequest('name')),
  updateEventType: definition('event-type'),
  deleteEventType: definition('event-type'),
  addSchema: definition('event-type'),
  setPartitionCount: definition('event-type'),
  deleteEvents: command('event-keys'),
  block: definition('blacklist-entry', inPaths),
  unblock: definition('blacklist-entry', inPaths),
  switchFeature: definition('feature', inRequest('feature')),
  createSubscription: definition('subscription', inResponse('id')),
  updateSubscription: definition('subscription'),
  deleteSubscription: definition('subscription'),
  createMambuSubscriptionV1: definition('subscription', inResponse('id')),
  deleteMambuSubscriptionV1: definition('subscription'),
  createMambuSubscriptionV2: definition('subscription', inResponse('id')),
  deleteMambuSubscriptionV2: definition('subscription'),
  moveCursors: administration('cursors'),
  resetCursors: administration('cursors'),
  switchToggle: definition('toggle'),
  createLoanProduct: definition('product', inResponse('id')),
  patchLoanProduct: definition('product'),
  updateLoanProduct: definition('product'),
  deleteLoanProduct: definition('product'),
  // Who may publish to this event type alone is audited, see `isAuditedPublishing`.
  publishEvents: command('loan-commands'),
  createLoan: command('loan', inResponse('id')),
  replaceLoan: command('loan'),
  patchLoan: command('loan'),
  deleteLoan: command('loan'),
  changeLoanState: command('loan'),
  disburseLoan: command('loan'),
  applyFee: command('loan'),
  repayLoan: command('loan'),
  applyPenalty: command('loan'),
  overpayPrincipal: command('loan'),
  adjustTransaction: command('transaction'),
  applyInterest: command('loan'),
  reduceInterest: command('loan'),
  reduceFees: command('loan'),
  reducePenalties: command('loan'),
  payOff: command('loan'),
  writeOff: command('loan'),
  undoWriteOff: command('loan'),
  lockLoan: command('loan'),
  unlockLoan: command('loan'),
  refund: command('loan'),
  terminate: command('loan'),
  recalculateDueDates: command('loan'),
  reschedule: command('loan'),
  refinance: command('loan'),
  undoReschedule: command('loan'),
  undoRefinance: command('loan'),
  erasePersonalData: command('loan'),
  endOfDay: administration('business-day', nowhere),
  setOrganizationSetup: organization,
  patchOrganizationSetup: organization,
  setHolidays: organization,
  setNonWorkingDays: organization,
  createBranch: definition('branch', inResponse('id')),
  setBranch: definition('branch'),
  createCentre: definition('centre', inResponse('id')),
  setCentre: definition('centre'),
  createTransactionChannel: definition('transaction-channel', inResponse('id')),
  setTransactionChannel: definition('transaction-channel'),
  deleteTransactionChannel: definition('transaction-channel'),
  createCustomFieldSet: definition('custom-field-set', inResponse('id')),
  setCustomFieldSet: definition('custom-field-set'),
  patchCustomFieldSet: definition('custom-field-set'),
  deleteCustomFieldSet: definition('custom-field-set'),
  createCustomField: definition('custom-field', inResponse('id')),
  setCustomField: definition('custom-field'),
  patchCustomField: definition('custom-field'),
  deleteCustomField: definition('custom-field'),
  createIndexRateSource: administration('index-rate-source', nowhere),
  markDeadLetter: administration('dead-letter', inPaths),
  redeliverDeadLetter: administration('dead-letter', inPaths),
  createApiKey: definition('api-key', inRequest('name')),
  revokeApiKey: definition('api-key'),
};

/** The operations that send a body and are not audited, and why. */
export const unauditedOperations: Readonly<Record<string, string>> = {
  checkCompatibility: 'changes nothing',
  checkEventType: 'changes nothing',
  measureCursorDistances: 'changes nothing',
  shiftCursors: 'changes nothing',
  measureCursorLag: 'changes nothing',
  findCursorsAt: 'changes nothing',
  previewLoanSchedule: 'changes nothing',
  previewSchedule: 'changes nothing',
  previewPayOff: 'changes nothing',
  searchLoans: 'changes nothing',
  searchTransactions: 'changes nothing',
  openStreamWithBody: 'reads events',
  createStreamToken: 'opens one stream for a minute, which its holder may open anyway',
  commitCursors: 'says what a consumer has processed',
  commitMambuCursorsV1: 'says what a consumer has processed',
  commitMambuCursorsV2: 'says what a consumer has processed',
};
