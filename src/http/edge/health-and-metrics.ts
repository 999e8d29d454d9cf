import { Router } from 'express';
import type { Responses } from '../../contract.ts';
import { toTimestamp } from '../../clock.ts';
import type { Health, ReadingProgress } from '../../health.ts';
import type { Metrics } from '../../metrics.ts';
import { metricsAsJson } from './metrics-as-json.ts';
import { methodNotAllowed } from './streaming-errors.ts';

export interface OperationsServices {
  readonly metrics: Metrics;
  /** Updates the metrics that are worked out only on request. */
  readonly refreshMetrics: () => Promise<void>;
  readonly health: Health;
  readonly version: string;
  /** The release of the core banking service whose behaviour this version has. */
  readonly release: string;
}

/** The routes for an operator's tools: `/health`, `/ready`, `/metrics` and `/version`. */
export function createOperationsRouter(services: OperationsServices): Router {
  const { metrics, refreshMetrics, health, version, release } = services;
  const router = Router({ caseSensitive: true });
  router
    .route('/health')
    .get((request, response) => {
      response.vary('Accept');
      if (request.accepts(['text/plain', 'application/json']) !== 'application/json') {
        response.type('text/plain').send('OK');
        return;
      }
      const parts = health.parts().map(({ name, ready, since, reason, progress }) => {
        return { name, ready, since: toTimestamp(since), reason, progress: progressBody(progress) };
      });
      response.json({ ready: health.notReadyReasons().length === 0, parts } satisfies Responses['getHealth']);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/ready')
    .get((_request, response) => {
      const reasons = health.notReadyReasons();
      const readiness = { ready: reasons.length === 0, reasons } satisfies Responses['getReadiness'];
      if (!readiness.ready) response.set('Retry-After', '1');
      response.status(readiness.ready ? 200 : 503).json(readiness);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/metrics')
    .get(async (request, response) => {
      await refreshMetrics();
      response.vary('Accept');
      if (!wantsPrometheusText(request.headers.accept ?? '')) {
        response.json(await metricsAsJson(metrics));
        return;
      }
      const text = await metrics.registry.metrics();
      response.set('Content-Type', metrics.registry.contentType).send(text);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/version')
    .get((_request, response) => {
      response.json({ version, release } satisfies Responses['getVersion']);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

type ProgressBody = Responses['getHealth']['parts'][number]['progress'];

function progressBody(progress: ReadingProgress | null): ProgressBody {
  if (progress === null) return null;
  const { recordsRead, records, percent, partitions } = progress;
  return {
    records_read: recordsRead,
    records,
    percent,
    partitions: partitions.map((each) => {
      return { partition: String(each.partition), records_read: each.recordsRead, records: each.records };
    }),
  };
}

/** Prometheus always asks for its text format by name. Clients of Nakadi ask for JSON, or for nothing in particular. */
function wantsPrometheusText(accept: string): boolean {
  const acceptedTypes = accept.toLowerCase();
  return (
    /text\/(plain|\*)|application\/openmetrics-text/.test(acceptedTypes) && !acceptedTypes.includes('application/json')
  );
}
