import { expect } from 'chai';
import { describe, it } from 'mocha';
import { partitionsPerTopicMaximum } from '../../../src/ports/event-log.ts';
import { claimOf, scoreOf } from '../../../src/redis/published-ids/id-score.ts';

describe('the score of a published id', () => {
  it('is exact for every partition of a topic, until 2109', () => {
    for (const time of [0, Date.UTC(2026, 0, 1), Date.UTC(2109, 0, 1)]) {
      for (const partition of [0, 1, partitionsPerTopicMaximum - 1]) {
        const score = scoreOf(time, partition);
        expect(Number.isSafeInteger(scoreOf(time, partition, true))).to.equal(true);
        expect(claimOf(score)).to.deep.equal({ claimedAt: time, partition });
        expect(scoreOf(time, partition, true) - score).to.equal(1_024);
      }
    }
  });
});
