import {
  missingClusters,
  provideCluster,
  providedCluster,
  type Cluster,
  type KafkaGeneration,
} from '../test/support/cluster.ts';
import type { KafkaVersion } from './local-cluster/kafka-broker.ts';
import { startCluster, type LocalCluster } from './local-cluster/local-cluster.ts';

const versions: Record<KafkaGeneration, KafkaVersion> = { current: '4.3.1', previous: '3.9.1' };

/** Clusters that were started for a test run. */
export interface TestClusters {
  /** The cluster with the current Kafka that the suites use, started or named; undefined when no suite needed one. */
  current(): Cluster | undefined;
  stop(): Promise<void>;
}

/**
 * Starts the clusters that the loaded suites need and the environment does not name. They end with this process at the
 * latest, however it ends. Where a cluster cannot be started it reports why. Its suites then skip themselves, or fail
 * with CI=true.
 */
export async function startTestClusters(): Promise<TestClusters> {
  const started: LocalCluster[] = [];
  for (const generation of missingClusters()) {
    const kafkaVersion = versions[generation];
    console.error(`Starting Kafka ${kafkaVersion} and Redis for the tests ...`);
    try {
      const cluster = await startCluster({ kafkaVersion, say: (line) => console.error(line) });
      started.push(cluster);
      provideCluster(generation, cluster);
    } catch (error) {
      console.error(missingNotice(kafkaVersion, error));
    }
  }
  return {
    current: () => providedCluster('current'),
    async stop() {
      await Promise.all(started.map((cluster) => cluster.stop()));
    },
  };
}

function missingNotice(kafkaVersion: KafkaVersion, error: unknown): string {
  const rule = '!'.repeat(80);
  return [
    rule,
    `! NO CLUSTER: the suites that need Kafka ${kafkaVersion} and Redis are skipped, nothing of them is proven.`,
    `! ${error instanceof Error ? error.message : String(error)}`,
    '! Or name a cluster of your own: KAFKA_BROKERS and REDIS_URL.',
    rule,
  ].join('\n');
}
