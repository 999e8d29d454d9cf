import { startCluster } from '../../../scripts/local-cluster/local-cluster.ts';
import type { Server } from '../../../scripts/local-cluster/server.ts';
import { deleteAllKafkaTopics } from '../kafka/topics.ts';
import { providedCluster } from './provided-cluster.ts';

/** A Kafka and a Redis that are empty and that nothing else uses. */
export interface ClusterAlone {
  /** host:port of each broker. */
  readonly kafkaBrokers: readonly string[];
  readonly redis: Server;
  readonly redisUrl: string;
  /** Removes all that the suite has left. */
  stop(): Promise<void>;
}

/**
 * For suites whose processes must meet no other process of the service on their cluster. The Kafka is the one of this
 * run: no other file that uses it runs meanwhile, see scripts/suite/work-queue.ts. To start one of its own would take
 * as much of the processor as most of those suites, since Java compiles a new broker again. Where the environment names
 * the Kafka, whose topics are not ours to delete, the suite does have one of its own.
 */
export async function openClusterAlone(): Promise<ClusterAlone> {
  const shared = providedCluster('current');
  const isOurs = shared?.isOfThisRun === true;
  const started = await startCluster({ brokers: isOurs ? 0 : 1 });
  const kafkaBrokers = isOurs ? shared.kafkaBrokers : started.kafkaBrokers;
  if (isOurs) await deleteAllKafkaTopics(kafkaBrokers);
  return {
    kafkaBrokers,
    redis: started.redis,
    redisUrl: started.redisUrl,
    async stop() {
      await started.stop();
      if (isOurs) await deleteAllKafkaTopics(kafkaBrokers);
    },
  };
}
