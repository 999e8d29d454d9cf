import type { MeasuredCluster } from './measured-cluster.ts';
import type { MeasuredService } from './measured-service.ts';
import type { Report } from './report.ts';

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
