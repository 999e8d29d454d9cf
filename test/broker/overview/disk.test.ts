import { expect } from 'chai';
import { describe, it } from 'mocha';
import { join } from 'node:path';
import { diskOf } from '../../../src/broker/overview/disk.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

describe('the disk of a folder', () => {
  it('has at most as much free space as it is large, and is unknown without the folder', async () => {
    const folder = await temporaryFolder();
    try {
      const disk = await diskOf(folder);
      expect(disk?.totalBytes).to.be.greaterThan(0);
      expect(disk?.freeBytes).to.be.within(0, disk?.totalBytes ?? 0);
      expect(await diskOf(join(folder, 'gone'))).to.equal(null);
    } finally {
      await removeFolder(folder);
    }
  });
});
