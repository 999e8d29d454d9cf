import { providedCluster } from '../../../test/support/clusters/provided-cluster.ts';
import type { Backend } from '../test-files.ts';

/** The variables that name the backend of a test file, with the values that this process was started with. */
const ownValues = {
  TEST_BACKEND: process.env['TEST_BACKEND'],
  KAFKA_BROKERS: process.env['KAFKA_BROKERS'],
  REDIS_URL: process.env['REDIS_URL'],
};

/** Names the backend of the next test files in the environment, for them and for the processes that they start. */
export function nameBackend(backend: Backend): void {
  const cluster = backend === 'cluster' ? providedCluster('current') : undefined;
  const values: typeof ownValues =
    cluster === undefined
      ? ownValues
      : { TEST_BACKEND: backend, KAFKA_BROKERS: cluster.kafkaBrokers.join(','), REDIS_URL: cluster.redisUrl };
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
