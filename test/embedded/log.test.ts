import { describeEventLog } from '../contracts/event-log.contract.ts';
import { openTemporaryLog } from '../support/temporary-log.ts';

describeEventLog('The embedded log', async () => {
  const temporary = await openTemporaryLog();
  return {
    get log() {
      return temporary.log;
    },
    reopen: () => temporary.reopen(),
    expire: async (topic) => {
      await temporary.log.alterTopic(topic, { retentionMilliseconds: 0 });
      await temporary.log.runRetention(Date.now() + 1);
    },
    cleanup: () => temporary.cleanup(),
  };
});
