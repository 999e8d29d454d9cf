import { EmbeddedLog } from '../../src/embedded/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { createServiceProcess } from './service-process.ts';
import { targetOf, type SystemUnderTest } from './system.ts';

/**
 * The service in one process, with its embedded log and coordination.
 * @param settings Further settings of the process, as environment variables.
 */
export async function startEmbeddedSystem(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<SystemUnderTest> {
  // A cluster that the tests were given is for those that ask for it.
  const environment = { ...settings, KAFKA_BROKERS: '', REDIS_URL: '' };
  const service = await createServiceProcess({ name: 'serve-1', folder, environment });
  await service.start();
  return {
    shape: { serve: ['serve-1'], work: ['serve-1'], brokers: [], hasRedis: false },
    description: 'one process with the embedded log',
    nodes: [service.node],
    targets: new Map([['serve-1', targetOf(service)]]),
    services: new Map([['serve-1', service]]),
    openLog: () => EmbeddedLog.open({ dataFolder: service.dataFolder, logger: silentLogger }),
    stop: async () => ((await service.stop()) ? [] : ['serve-1 did not end in order']),
  };
}
