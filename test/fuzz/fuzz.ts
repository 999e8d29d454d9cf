import { join } from 'node:path';
import { runCampaign, type Outcome } from './campaign.ts';
import { startFuzzedService } from './fuzzed-service.ts';

/** An empty Kafka and a Redis that no other service uses: the requests would affect it. */
export interface FuzzedCluster {
  /** host:port of each broker. */
  readonly kafkaBrokers: readonly string[];
  readonly redisUrl: string;
}

export interface FuzzOptions {
  /** What the service runs on; without it on the embedded store. */
  readonly cluster?: FuzzedCluster | undefined;
  /** The folder of the service's data. */
  readonly folder: string;
  readonly requests: number;
  readonly seed: number;
  readonly printLine: (line: string) => void;
}

/** Starts a service, sends it the requests, and stops it. */
export async function fuzz({ cluster, folder, ...options }: FuzzOptions): Promise<Outcome> {
  const environment =
    cluster === undefined ? {} : { KAFKA_BROKERS: cluster.kafkaBrokers.join(','), REDIS_URL: cluster.redisUrl };
  const service = await startFuzzedService(join(folder, 'data'), environment);
  try {
    return await runCampaign({ service, ...options });
  } finally {
    await service.stop();
  }
}
