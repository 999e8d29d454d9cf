/**
 * The files that could run on both backends and run on the embedded store alone, each with the reason.
 *
 * A file runs on both when its suites open their backend with test/support/backend-under-test.ts, directly or through
 * other support. It is listed here when what it asserts is decided before the ports of src/ports or behind them, by
 * code that cannot tell which backend there is. What goes through the ports runs on both: publishing, streams, commits,
 * rebalancing, the decisions of the worker, changes of definitions, the audit. See docs/decisions/0072.
 */
export const embeddedOnly: Readonly<Record<string, string>> = {
  'test/accounts/accounts-copy-damage.test.ts': 'damage of the local file',
  'test/accounts/accounts-copy-disk-space.test.ts': 'space of the local file',
  'test/accounts/accounts-copy-filling.test.ts': 'states of the local copy',
  'test/accounts/accounts-copy-full-disk.test.ts': 'the disk of the local file',

  'test/admin/pages/event-type-deletion.test.ts': 'the page, which sees HTTP alone',
  'test/admin/pages/markup.test.ts': 'the page, which sees HTTP alone',

  'test/broker/event-types/allowed-changes.test.ts': 'pure functions',
  'test/broker/event-types/requested-event-type.test.ts': 'pure functions',
  'test/broker/publishing/deleted-events.test.ts': 'pure functions',
  'test/broker/publishing/dry-run.test.ts': 'validation, appends nothing',
  'test/broker/publishing/event-validation.test.ts': 'validation, appends nothing',
  'test/broker/publishing/known-shapes/known-shapes.test.ts': 'reading of bodies, appends nothing',
  'test/broker/publishing/plain-rules/plain-events.test.ts': 'reading of bodies, appends nothing',
  'test/broker/publishing/prepared-event-type.test.ts': 'pure functions',
  'test/broker/publishing/records-by-partition.test.ts': 'pure functions',
  'test/broker/publishing/unparsed-events.test.ts': 'reading of bodies, appends nothing',
  'test/broker/schemas/compiled-schemas.test.ts': 'compilation of schemas',

  'test/client/consuming.test.ts': 'the client, which sees HTTP alone',
  'test/client/publishing.test.ts': 'the client, which sees HTTP alone',

  'test/e2e/access/changes-on-full-disk.test.ts': 'the disk of the embedded store',
  'test/e2e/access/held-refusals.test.ts': 'limits that each process counts by itself',
  'test/e2e/access/keys-on-one-connection.test.ts': 'what a connection remembers of keys',
  'test/e2e/access/limits.test.ts': 'limits that each process counts by itself',
  'test/e2e/personal-data/erased-segments.test.ts': 'names its cluster itself',

  'test/embedded/cursor-mirror.test.ts': 'the embedded store itself',

  'test/http/edge/bodies/expected-bodies.test.ts': 'what is refused before the ports',
  'test/http/edge/compression/response-compression.test.ts': 'encodings of responses',
  'test/http/edge/health-and-metrics.test.ts': 'formats of responses',
  'test/http/edge/streaming-errors.test.ts': 'formats of errors',

  'test/http/lending/api-versions.test.ts': 'headers of requests',
  'test/http/lending/business-days.test.ts': 'formats of what the end of a day does, which test/worker has on both',
  'test/http/lending/custom-fields/custom-fields.test.ts': 'definitions that test/worker has on both',
  'test/http/lending/custom-fields/searches.test.ts': 'queries of the local copy',
  'test/http/lending/hostile-input.test.ts': 'requests that are refused before they are commands',
  'test/http/lending/loan-filters.test.ts': 'queries of the local copy',
  'test/http/lending/refusals.test.ts': 'permissions and formats of errors',
  'test/http/lending/schedule-preview.test.ts': 'calculations that store nothing',
  'test/http/lending/search-limits.test.ts': 'queries of the local copy',
  'test/http/lending/searches.test.ts': 'queries of the local copy',
  'test/http/lending/working-days.test.ts': 'calendars of schedules, whose changes test/worker has on both',

  'test/http/streaming/conditional-requests.test.ts': 'headers of requests and responses',
  'test/http/streaming/dead-letters.test.ts': 'lists of what test/broker/dead-letters has on both',
  'test/http/streaming/event-type-checks.test.ts': 'checks that store nothing',
  'test/http/streaming/finding/event-type-history.test.ts': 'lists of definitions that test/broker has on both',
  'test/http/streaming/finding/overview.test.ts': 'the memory of one process',
  'test/http/streaming/finding/retained-events.test.ts': 'lists of what test/broker/retained-events has on both',
  'test/http/streaming/limits.test.ts': 'limits of parameters',
  'test/http/streaming/publishing.test.ts':
    'reading and checking of bodies, which test/broker/publishing stores on both',
  'test/http/streaming/settings.test.ts': 'switches that test/acceptance/streaming/settings.test.ts has on both',
  'test/http/streaming/unsupported.test.ts': 'requests that are refused',

  'test/lending-format/event-format.test.ts': 'formats of events',

  'test/security/keys/campaign.test.ts': 'permissions',
  'test/security/owasp-top-ten.test.ts': 'permissions and formats of errors',
};
