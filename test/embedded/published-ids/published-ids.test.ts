import { describePublishedIds } from '../../contracts/published-ids.contract.ts';
import { EmbeddedPublishedIds } from '../../../src/embedded/published-ids/published-ids.ts';
import { openTemporaryLog } from '../../support/temporary-log.ts';

describePublishedIds('the embedded store', async () => {
  const temporary = await openTemporaryLog();
  const { log } = temporary;
  return {
    log,
    isShared: false,
    open: (options) => Promise.resolve(new EmbeddedPublishedIds({ log, idsMaximum: 1_000, ...options })),
    // Each one begins with nothing.
    lose: () => Promise.resolve(),
    cleanup: () => temporary.cleanup(),
  };
});
