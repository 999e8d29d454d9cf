import { expect } from 'chai';
import { describe, it } from 'mocha';
import { findFreePorts } from '../../../scripts/local-cluster/free-ports.ts';

describe('Free ports', () => {
  it('are all different, and none is in the range of outgoing connections', async () => {
    const ports = await findFreePorts(20);
    expect(new Set(ports).size).to.equal(20);
    expect(ports.every((port) => port > 1024 && port < 32_768)).to.equal(true);
  });
});
