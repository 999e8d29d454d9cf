import { before, describe } from 'mocha';

/** A Kafka and a Redis that a suite may use; others use them too, so that every name a suite makes is its own. */
export interface Cluster {
  /** host:port of each broker. */
  readonly kafkaBrokers: readonly string[];
  readonly redisUrl: string;
}

function clusterOfEnvironment(): Cluster | undefined {
  const { KAFKA_BROKERS: brokers = '', REDIS_URL: redisUrl = '' } = process.env;
  return brokers === '' || redisUrl === '' ? undefined : { kafkaBrokers: brokers.split(','), redisUrl };
}

/**
 * A suite that needs a real Kafka and a real Redis, named by KAFKA_BROKERS and REDIS_URL. Where they are not given its
 * tests are pending, and with CI set they fail: what runs nowhere proves nothing.
 * @param body declares the suite's tests; it may ask for the cluster in hooks and tests, not while it declares
 */
export function describeOnCluster(title: string, body: (cluster: () => Cluster) => void): void {
  describe(`${title} [Kafka and Redis]`, function () {
    before(function () {
      if (clusterOfEnvironment() !== undefined) return;
      const reason = `"${title}" needs KAFKA_BROKERS and REDIS_URL`;
      if (process.env['CI'] === 'true') throw new Error(reason);
      process.stdout.write(`    skipped: ${reason}\n`);
      this.skip();
    });
    body(() => {
      const cluster = clusterOfEnvironment();
      if (cluster === undefined) throw new Error('The cluster may be asked for in hooks and tests only');
      return cluster;
    });
  });
}
