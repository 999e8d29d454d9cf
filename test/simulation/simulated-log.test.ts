import { systemClock } from '../../src/clock.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { describeEventLog } from '../contracts/event-log.contract.ts';
import { LogData } from './log-data.ts';
import { SimulatedLog } from './simulated-log.ts';

describeEventLog('the log of the simulation', async () => {
  const data = new LogData();
  let log: EventLog = new SimulatedLog({ data, clock: systemClock });
  return {
    log,
    reopen: async () => {
      await log.close();
      log = new SimulatedLog({ data, clock: systemClock });
      return log;
    },
    expire: async (topic) => {
      const [configuration] = data.listTopics().filter(({ name }) => name === topic);
      for (let partition = 0; partition < (configuration?.partitionCount ?? 0); partition += 1) {
        data.deleteRecords({ topic, partition }, Infinity, Infinity);
      }
    },
    cleanup: () => log.close(),
  };
});
