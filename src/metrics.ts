import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { every, type Clock, type Timer } from './clock.ts';
import { LagGauge, type Lag } from './lag-gauge.ts';

/**
 * Every metric of the service. Labels are bounded: names of event types and subscriptions (which admins create), never
 * ids that grow with traffic. Durations are in seconds, the unit of Prometheus.
 */
const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * How often the default metrics ask how late the event loop is. Their delays contain this time. By default they would
 * wake the process a hundred times a second, which takes 0.4 % of a core while nothing happens. Milliseconds.
 */
const eventLoopMilliseconds = 100;

/** How often the series of what was deleted are removed, apart from scrapes. Milliseconds. */
export const staleSeriesMilliseconds = 60_000;

/** Creates the metrics of a process, in a registry of their own together with the default ones of the library. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: eventLoopMilliseconds,
  });
  const registers = [registry];
  return {
    registry,
    publishSeconds: new Histogram({
      name: 'lendstream_publish_seconds',
      help: 'Time from a publish request to its durable response.',
      labelNames: ['event_type'],
      buckets: secondsBuckets,
      registers,
    }),
    publishedEvents: new Counter({
      name: 'lendstream_published_events_total',
      help: 'Events acknowledged as durable.',
      labelNames: ['event_type'],
      registers,
    }),
    repeatedEvents: new Counter({
      name: 'lendstream_repeated_events_total',
      help: 'Events that were acknowledged and not stored, because an event with their eid was stored before.',
      labelNames: ['event_type'],
      registers,
    }),
    refusedEvents: new Counter({
      name: 'lendstream_refused_events_total',
      help: 'Events of publish requests that were not stored.',
      labelNames: ['event_type'],
      registers,
    }),
    commitSeconds: new Histogram({
      name: 'lendstream_commit_seconds',
      help: 'Time from a cursor commit request to its durable response.',
      buckets: secondsBuckets,
      registers,
    }),
    openStreams: new Gauge({
      name: 'lendstream_open_streams',
      help: 'Streams open on this process.',
      labelNames: ['subscription_id'],
      registers,
    }),
    waitingStreams: new Gauge({
      name: 'lendstream_waiting_streams',
      help: 'Requests that wait for a slot of their subscription on this process.',
      registers,
    }),
    closedStreams: new Counter({
      name: 'lendstream_closed_streams_total',
      help: 'Streams closed, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    deliveredEvents: new Counter({
      name: 'lendstream_delivered_events_total',
      help: 'Events written to streams.',
      labelNames: ['subscription_id'],
      registers,
    }),
    skippedEvents: new Counter({
      name: 'lendstream_skipped_events_total',
      help: 'Events that a subscription passed over by its policy, because its consumer cannot process them.',
      labelNames: ['subscription_id'],
      registers,
    }),
    deadLetters: new Counter({
      name: 'lendstream_dead_letters_total',
      help: 'Events of a subscription written to nakadi.dead.letter.queue.',
      labelNames: ['subscription_id'],
      registers,
    }),
    deadLetterFailures: new Counter({
      name: 'lendstream_dead_letter_failures_total',
      help: 'Failed attempts to write an event to nakadi.dead.letter.queue. Its partition waits.',
      labelNames: ['subscription_id'],
      registers,
    }),
    hiddenLags: new Gauge({
      name: 'lendstream_hidden_subscription_lags',
      help: 'Lags that have no series, because they are smaller than the METRICS_LAGS_MAXIMUM that have one.',
      registers,
    }),
    totalLag: new Gauge({
      name: 'lendstream_unconsumed_events',
      help: 'Events not yet committed, of all subscriptions together, also of those whose lag has no series.',
      registers,
    }),
    subscriptionLag: new LagGauge({
      name: 'lendstream_subscription_unconsumed_events',
      help: 'Events not yet committed, an upper bound on compacted topics.',
      labelNames: ['subscription_id', 'event_type'],
      registers,
    }),
    refusedBodies: new Counter({
      name: 'lendstream_refused_bodies_total',
      help: 'Request bodies rejected because too many bytes of bodies were in progress, by the budget that was full.',
      labelNames: ['budget'],
      registers,
    }),
    shedRequests: new Counter({
      name: 'lendstream_shed_requests_total',
      help: 'Requests refused because the process was overloaded, by what they would have begun.',
      labelNames: ['work'],
      registers,
    }),
    eventLoopDelay: new Gauge({
      name: 'lendstream_event_loop_delay_seconds',
      help: 'The lasting delay of the event loop, by which work is refused.',
      registers,
    }),
    auditRecords: new Counter({
      name: 'lendstream_audit_records_total',
      help: 'Records of the audit that this process has stored.',
      registers,
    }),
    auditFailures: new Counter({
      name: 'lendstream_audit_failures_total',
      help: 'Failed attempts to store records of the audit. They are repeated; changes are refused meanwhile.',
      registers,
    }),
    auditWaiting: new Gauge({
      name: 'lendstream_audit_waiting_records',
      help: 'Records of the audit that are not stored yet.',
      registers,
    }),
    auditLost: new Counter({
      name: 'lendstream_audit_lost_records_total',
      help: 'Records of the audit that were given up, because too many waited or the process stopped.',
      registers,
    }),
    accessRefusals: new Counter({
      name: 'lendstream_access_refusals_total',
      help: 'Requests refused with 401, 403 or 429, by status and reason.',
      labelNames: ['status', 'reason'],
      registers,
    }),
    commands: new Counter({
      name: 'lendstream_loan_commands_total',
      help: 'Loan commands decided, by type and outcome (committed, refused, repeated, dead_letter).',
      labelNames: ['type', 'outcome'],
      registers,
    }),
    commandSeconds: new Histogram({
      name: 'lendstream_loan_command_batch_seconds',
      help: 'Time from reading a batch of loan commands to its atomic commit.',
      buckets: secondsBuckets,
      registers,
    }),
    workerLag: new Gauge({
      name: 'lendstream_worker_waiting_commands',
      help: 'Loan commands not yet decided.',
      labelNames: ['partition'],
      registers,
    }),
    tlsExpiresAt: new Gauge({
      name: 'lendstream_tls_expiry_timestamp_seconds',
      help: 'When the certificate that is served expires, or the first of the authorities of clients, by its setting.',
      labelNames: ['setting'],
      registers,
    }),
    integrityCheckedShare: new Gauge({
      name: 'lendstream_integrity_checked_ratio',
      help: 'How much of a file the present integrity check has read, or the last one when none runs.',
      labelNames: ['file'],
      registers,
    }),
    integrityFinishedAt: new Gauge({
      name: 'lendstream_integrity_check_finished_timestamp_seconds',
      help: 'When an integrity check last reached the end of a file.',
      labelNames: ['file'],
      registers,
    }),
    integrityDamages: new Gauge({
      name: 'lendstream_integrity_damages',
      help: 'Damages of a file that the last integrity check found, until the present one finds some or ends.',
      labelNames: ['file'],
      registers,
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

/** Replaces the lags. Only the largest ones have series, at most `maximum`; the total counts all of them. */
export function setLags(metrics: Metrics, lags: readonly Lag[], maximum: number): void {
  const shown =
    lags.length <= maximum
      ? lags
      : lags.toSorted((left, right) => right.unconsumedEvents - left.unconsumedEvents).slice(0, maximum);
  metrics.hiddenLags.set(lags.length - shown.length);
  metrics.totalLag.set(lags.reduce((sum, { unconsumedEvents }) => sum + unconsumedEvents, 0));
  metrics.subscriptionLag.setAll(shown);
}

/** Which of the things that label series still exist. */
export interface ExistingLabels {
  readonly subscriptionExists: (id: string) => boolean;
  readonly eventTypeExists: (name: string) => boolean;
}

/**
 * Removes the series of deleted subscriptions and event types, which would otherwise stay for as long as the process
 * lives, and those of subscriptions that have no open stream any more. A deleted subscription whose streams are just
 * ending is kept until they have ended.
 */
export async function removeStaleSeries(metrics: Metrics, existing: ExistingLabels): Promise<void> {
  const { subscriptionExists, eventTypeExists } = existing;
  for (const { labels, value } of (await metrics.openStreams.get()).values) {
    if (value === 0) metrics.openStreams.remove(labels);
  }
  const { deliveredEvents, skippedEvents, deadLetters, deadLetterFailures } = metrics;
  for (const metric of [deliveredEvents, skippedEvents, deadLetters, deadLetterFailures]) {
    for (const { labels } of (await metric.get()).values) {
      if (!subscriptionExists(textOf(labels.subscription_id))) metric.remove(labels);
    }
  }
  for (const metric of [
    metrics.publishSeconds,
    metrics.publishedEvents,
    metrics.repeatedEvents,
    metrics.refusedEvents,
  ]) {
    const names = new Set((await metric.get()).values.map(({ labels }) => textOf(labels.event_type)));
    for (const name of names) if (!eventTypeExists(name)) metric.remove({ event_type: name });
  }
}

/** Calls {@link removeStaleSeries} once a minute, until the returned timer is cancelled: no scrape may ever come. */
export function removeStaleSeriesRegularly(metrics: Metrics, existing: ExistingLabels, clock: Clock): Timer {
  return every(clock, staleSeriesMilliseconds, () => void removeStaleSeries(metrics, existing));
}

function textOf(label: string | number | undefined): string {
  return String(label ?? '');
}
