/** A Kafka and a Redis that a suite may use. Others use them too, so every suite makes its own names. */
export interface Cluster {
  /** host:port of each broker. */
  readonly kafkaBrokers: readonly string[];
  readonly redisUrl: string;
  /** Whether it was started for this run of the tests, which may delete what it has; not one of the environment. */
  readonly isOfThisRun?: true;
}

/** The Kafka version of all suites, and the previous major version, which a few suites test as well. */
export type KafkaGeneration = 'current' | 'previous';

/** The variable that names the brokers of each version. */
export const brokersSettings: Readonly<Record<KafkaGeneration, string>> = {
  current: 'KAFKA_BROKERS',
  previous: 'PREVIOUS_KAFKA_BROKERS',
};

const provided = new Map<KafkaGeneration, Cluster>();

/** Sets a cluster that was started for the suites, before they run. */
export function provideCluster(generation: KafkaGeneration, cluster: Cluster): void {
  provided.set(generation, cluster);
}

/** The cluster of that version, started for the suites or named by the environment. */
export function providedCluster(generation: KafkaGeneration): Cluster | undefined {
  const started = provided.get(generation);
  if (started !== undefined) return started;
  const brokers = process.env[brokersSettings[generation]] ?? '';
  const redisUrl = process.env['REDIS_URL'] ?? '';
  return brokers === '' || redisUrl === '' ? undefined : { kafkaBrokers: brokers.split(','), redisUrl };
}
