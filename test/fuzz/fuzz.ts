import { join } from 'node:path';
import { startCluster } from '../../scripts/local-cluster/local-cluster.ts';
import { runCampaign, type Outcome } from './campaign.ts';
import { startFuzzedService } from './fuzzed-service.ts';

export interface FuzzOptions {
  readonly backend: 'embedded' | 'cluster';
  /** The folder of the service's data. */
  readonly folder: string;
  readonly requests: number;
  readonly seed: number;
  readonly printLine: (line: string) => void;
}

/** Starts a service on the backend, sends it the requests, and stops everything that was started. */
export async function fuzz({ backend, folder, ...options }: FuzzOptions): Promise<Outcome> {
  const cluster = backend === 'cluster' ? await startCluster({ printLine: options.printLine }) : undefined;
  const environment =
    cluster === undefined ? {} : { KAFKA_BROKERS: cluster.kafkaBrokers.join(','), REDIS_URL: cluster.redisUrl };
  try {
    const service = await startFuzzedService(join(folder, 'data'), environment);
    try {
      return await runCampaign({ service, ...options });
    } finally {
      await service.stop();
    }
  } finally {
    await cluster?.stop();
  }
}
