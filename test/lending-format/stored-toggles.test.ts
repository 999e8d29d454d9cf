import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { EventLog } from '../../src/ports/event-log.ts';
import { Registry, registryTopic } from '../../src/broker/definitions/registry.ts';
import { silentLogger } from '../../src/logger.ts';
import { allTogglesOff, toggleNames } from '../../src/lending/toggle-names.ts';
import { listToggles, readToggles, setToggle } from '../../src/lending-format/stored-toggles.ts';
import { openLogUnderTest } from '../support/backend-under-test.ts';
import { recordsOf } from '../support/lending/lending-log.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

describe('toggles', () => {
  let folder: string;
  let log: EventLog;
  let registry: Registry;

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLogUnderTest(folder);
    registry = new Registry(log, silentLogger);
    await registry.start();
  });

  afterEach(async () => {
    await registry.stop();
    await log.close();
    await removeFolder(folder);
  });

  it('are off until they are switched on', () => {
    expect(readToggles(registry)).to.deep.equal(allTogglesOff);
    expect(listToggles(registry)).to.deep.equal(
      toggleNames.map((name) => ({ name, enabled: false, switchedAt: null })),
    );
  });

  for (const name of toggleNames) {
    it(`switch only ${name}, also for processes that start later`, async () => {
      await setToggle(registry, name, true, 1_000);
      expect(readToggles(registry)).to.deep.equal({ ...allTogglesOff, [name]: true });
      const later = new Registry(log, silentLogger);
      await later.start();
      expect(readToggles(later)).to.deep.equal({ ...allTogglesOff, [name]: true });
      await later.stop();
    });
  }

  it('store since when they have their value', async () => {
    await setToggle(registry, 'PRINCIPAL_OVERPAYMENT', false, 500);
    await setToggle(registry, 'PRINCIPAL_OVERPAYMENT', true, 1_000);
    await setToggle(registry, 'PRINCIPAL_OVERPAYMENT', true, 2_000);
    const found = listToggles(registry).find(({ name }) => name === 'PRINCIPAL_OVERPAYMENT');
    expect(found).to.include({ enabled: true, switchedAt: '1970-01-01T00:00:01.000Z' });
    expect(await recordsOf(log, registryTopic)).to.have.length(1);
  });
});
