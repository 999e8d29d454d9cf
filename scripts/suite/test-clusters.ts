import { providedCluster, type Cluster, type KafkaGeneration } from '../../test/support/clusters/provided-cluster.ts';
import type { KafkaVersion } from '../local-cluster/kafka-broker.ts';
import { startCluster, type LocalCluster } from '../local-cluster/local-cluster.ts';

const versions: Record<KafkaGeneration, KafkaVersion> = { current: '4.3.1', previous: '3.9.1' };

/** No test kills these brokers, and a busy machine may hold them up. */
const sessionMilliseconds = 60_000;

export function kafkaVersionOf(generation: KafkaGeneration): KafkaVersion {
  return versions[generation];
}

/** Clusters that were started for a test run. */
export interface TestClusters {
  /** Stops the one of a generation, which nothing needs any more; does nothing when none was started. */
  release(generation: KafkaGeneration): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts those of the clusters that the environment does not name. They end with this process at the latest, however it
 * ends. Where a cluster cannot be started it reports why. Its suites then skip themselves, or fail with CI=true.
 * @param onSettled is called for each generation in turn, with undefined for a cluster that cannot be had
 */
export async function startTestClusters(
  generations: readonly KafkaGeneration[],
  onSettled: (generation: KafkaGeneration, cluster: Cluster | undefined) => void,
): Promise<TestClusters> {
  const started = new Map<KafkaGeneration, LocalCluster>();
  for (const generation of generations) {
    let cluster = providedCluster(generation);
    if (cluster === undefined) {
      const kafkaVersion = versions[generation];
      console.error(`Starting Kafka ${kafkaVersion} and Redis for the tests ...`);
      try {
        const own = await startCluster({
          kafkaVersion,
          sessionMilliseconds,
          printLine: (line) => console.error(line),
        });
        started.set(generation, own);
        cluster = { kafkaBrokers: own.kafkaBrokers, redisUrl: own.redisUrl, isOfThisRun: true };
      } catch (error) {
        console.error(missingNotice(kafkaVersion, error));
      }
    }
    onSettled(generation, cluster);
  }
  const release = async (generation: KafkaGeneration): Promise<void> => {
    const cluster = started.get(generation);
    started.delete(generation);
    await cluster?.stop();
  };
  return {
    release,
    async stop() {
      await Promise.all([...started.keys()].map((generation) => release(generation)));
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
