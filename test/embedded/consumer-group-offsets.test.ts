import { expect } from 'chai';
import { describe, it } from 'mocha';
import { openTemporaryLog } from '../support/temporary-log.ts';

describe('the offsets of a consumer group in the embedded log', () => {
  it('of a deleted topic are forgotten, and those of other topics stay, after a restart too', async () => {
    const temporary = await openTemporaryLog();
    try {
      const { log } = temporary;
      for (const name of ['kept', 'deleted']) {
        const retentionMilliseconds = 3_600_000;
        await log.createTopic({ name, partitionCount: 2, cleanupPolicy: 'delete', retentionMilliseconds });
      }
      const at = (topic: string, partition: number, offset: number) => ({ topic, partition, offset });
      const both = [at('kept', 0, 3), at('deleted', 0, 4), at('deleted', 1, 5)];
      for (const group of ['one', 'two']) await log.exportGroupOffsets(group, both);
      await log.deleteTopic('deleted');
      for (const group of ['one', 'two']) expect(await log.groupOffsets(group)).to.deep.equal([at('kept', 0, 3)]);
      const reopened = await temporary.reopen();
      for (const group of ['one', 'two']) expect(await reopened.groupOffsets(group)).to.deep.equal([at('kept', 0, 3)]);
    } finally {
      await temporary.cleanup();
    }
  });
});
