import type { MeasuredCluster } from './measured-cluster.ts';
import type { MeasuredService } from './measured-service.ts';
import type { Report } from './report.ts';

export interface BenchOptions {
  readonly report: Report;
  /** Whether any of these parts was asked for. */
  readonly wanted: (...parts: readonly string[]) => boolean;
  /** What sizes are multiplied by: 1 for figures to believe, less for a try. */
  readonly scale: number;
  /** Where the service leaves its CPU profiles, when it is to leave any. */
  readonly profileFolder: string | undefined;
}

/** What a part of the cluster's benchmark works with. */
export interface ClusterBench extends BenchOptions {
  readonly cluster: MeasuredCluster;
  readonly service: MeasuredService;
}
