import type { MeasuredCluster } from './measured-cluster.ts';
import type { MeasuredService } from './measured-service.ts';
import type { Report } from './report.ts';

/** The embedded store against its own ingredients: a bare server with the same sync, a raw scan of its database. */
export const embeddedParts = [
  'publish',
  'publish-differing',
  'egress',
  'fanout',
  'window',
  'first',
  'find',
  'commands',
  'growth',
  'loans',
  'end-of-day',
  'definitions',
  'access',
  'fairness',
  'idle',
  'start',
] as const;

/** The service on Kafka and Redis against raw kafkajs loops over the same topics. */
export const clusterParts = [
  'egress',
  'egress-1k',
  'fanout',
  'publish',
  'publish-differing',
  'publish-1k',
  'commands',
  'growth',
  'commits',
  'first',
  'latency',
  'hand-over',
  'fairness',
  'take-over',
  'idle',
  'four-processes',
  'definitions',
] as const;

export interface BenchOptions {
  readonly report: Report;
  /** Whether any of these parts was requested. */
  readonly wanted: (...parts: readonly string[]) => boolean;
  /** Factor for sizes: 1 for reliable figures, less for a quick try. */
  readonly scale: number;
  /** Where the service writes its CPU profiles; undefined when it writes none. */
  readonly profileFolder: string | undefined;
}

/** The inputs of one part of the cluster's benchmark. */
export interface ClusterBench extends BenchOptions {
  readonly cluster: MeasuredCluster;
  readonly service: MeasuredService;
}
