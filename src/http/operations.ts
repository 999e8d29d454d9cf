import { Router } from 'express';
import type { Answers } from '../contract.ts';
import type { Metrics } from '../metrics.ts';
import { metricsAsJson } from './metrics-as-json.ts';
import { methodNotAllowed } from './problem.ts';

export interface OperationsServices {
  readonly metrics: Metrics;
  /** Brings up to date what is only worked out when somebody asks. */
  readonly refreshMetrics: () => Promise<void>;
  /** Reasons why this process cannot serve now; empty when it can. */
  readonly notReadyReasons: () => readonly string[];
  readonly version: string;
}

/** What an operator's machines ask: is it alive, can it serve, how does it do. */
export function createOperationsRouter(services: OperationsServices): Router {
  const { metrics, refreshMetrics, notReadyReasons, version } = services;
  const router = Router();
  router
    .route('/health')
    .get((_request, response) => {
      response.type('text/plain').end('OK');
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/ready')
    .get((_request, response) => {
      const reasons = notReadyReasons();
      const readiness = { ready: reasons.length === 0, reasons } satisfies Answers['getReadiness'];
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
      response.set('Content-Type', metrics.registry.contentType).end(text);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/version')
    .get((_request, response) => {
      response.json({ version } satisfies Answers['getVersion']);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

/** Prometheus names its text whenever it asks; clients of Nakadi read JSON and name it, or nothing in particular. */
function wantsPrometheusText(accept: string): boolean {
  const wanted = accept.toLowerCase();
  return /text\/(plain|\*)|application\/openmetrics-text/.test(wanted) && !wanted.includes('application/json');
}
