import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import {
  isSwitchedOn,
  newestFeatures,
  refuseWhileReadOnly,
  refuseWithoutAuthorization,
  switchableFeatures,
  switchFeature,
} from '../../../src/broker/definitions/feature-switches.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/logger.ts';
import { openOwnLog, type OwnLog } from '../../support/backend-under-test.ts';
import { eventually } from '../../support/eventually.ts';

describe('the switches of features', () => {
  let own: OwnLog;
  let registry: Registry;
  let other: Registry;

  before(async () => {
    own = await openOwnLog();
    registry = new Registry(own.log, silentLogger);
    other = new Registry(own.log, silentLogger);
    await registry.start();
    await other.start();
  });

  after(async () => {
    await registry.stop();
    await other.stop();
    await own.cleanup();
  });

  it('are all off at first', () => {
    expect(switchableFeatures.filter((feature) => isSwitchedOn(registry, feature))).to.deep.equal([]);
  });

  it('take effect on every process, one without the others', async () => {
    await switchFeature(registry, 'disable_db_write_operations', true);
    await eventually(() => isSwitchedOn(other, 'disable_db_write_operations'));
    expect(switchableFeatures.filter((feature) => isSwitchedOn(other, feature))).to.deep.equal([
      'disable_db_write_operations',
    ]);
    expect(() => refuseWhileReadOnly(other)).to.throw(LendstreamError, /only be read/);
    await switchFeature(other, 'disable_db_write_operations', false);
    await eventually(() => !isSwitchedOn(registry, 'disable_db_write_operations'));
    expect(() => refuseWhileReadOnly(registry)).not.to.throw();
  });

  it('are shown as another process has switched them a moment ago', async () => {
    const switchedOn = async () => (await newestFeatures(registry)).filter(({ enabled }) => enabled);
    await switchFeature(other, 'disable_event_type_deletion', true);
    expect(await switchedOn()).to.deep.equal([{ feature: 'disable_event_type_deletion', enabled: true }]);
    await switchFeature(other, 'disable_event_type_deletion', false);
    expect(await switchedOn()).to.deep.equal([]);
    expect(await newestFeatures(registry)).to.have.length(switchableFeatures.length);
  });

  it('store nothing when they stand as they are to stand', async () => {
    const written = async (): Promise<number> => {
      const [bounds] = await own.log.bounds([{ topic: 'lendstream.registry', partition: 0 }]);
      return bounds?.latest ?? 0;
    };
    const before = await written();
    await switchFeature(registry, 'disable_subscription_creation', false);
    expect(await written()).to.equal(before);
    await switchFeature(registry, 'disable_subscription_creation', true);
    expect(await written()).to.be.greaterThan(before);
  });

  it('demand an authorization only of those that have none', async () => {
    const demand = (authorization: unknown) => () =>
      refuseWithoutAuthorization(registry, 'force_event_type_authz', authorization);
    expect(demand(null)).not.to.throw();
    await switchFeature(registry, 'force_event_type_authz', true);
    expect(demand(null)).to.throw(LendstreamError, 'Authorization section is mandatory');
    expect(demand({ admins: [] })).not.to.throw();
  });
});
