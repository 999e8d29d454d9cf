import { expect } from 'chai';
import { describe, it } from 'mocha';
import { silentLogger } from '../../src/logger.ts';
import { GroupExport } from '../../src/redis/group-export.ts';
import { loanPartitionsId } from '../../src/worker/partition-sharing.ts';
import { openTemporaryLog } from '../support/temporary-log.ts';

describe('the positions shown to lag tools', () => {
  it('are those of subscriptions, not of the partitions that the service shares among its own processes', async () => {
    const temporary = await openTemporaryLog();
    const { log } = temporary;
    await log.createTopic({
      name: 'orders',
      partitionCount: 1,
      cleanupPolicy: 'delete',
      retentionMilliseconds: 3_600_000,
    });
    const groups = new GroupExport({ log, logger: silentLogger, claimRenewal: async () => false });
    const committed = { eventType: 'orders', partition: 0, offset: 4 };
    groups.note('subscription', 'orders:0', committed);
    groups.note(loanPartitionsId, 'orders:0', committed);
    await groups.close();
    expect(await log.groupOffsets('subscription')).to.deep.equal([{ topic: 'orders', partition: 0, offset: 5 }]);
    expect(await log.groupOffsets(loanPartitionsId)).to.deep.equal([]);
    await temporary.cleanup();
  });
});
