import { describeCoordination } from '../contracts/coordination.contract.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisServer } from '../support/processes/redis-server.ts';
import { openRedisHarness, withoutPublishing } from './harness.ts';

describeCoordination('Redis', async () => {
  const server = await startRedisServer();
  const harness = await openRedisHarness(server.url);
  return {
    coordination: await harness.open(),
    unheard: await harness.open({ scriptSource: withoutPublishing }),
    elapse: (milliseconds) => harness.elapse(milliseconds),
    eventually,
    close: async () => {
      await harness.close();
      await server.stop();
    },
  };
});
