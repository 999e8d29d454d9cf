import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { LendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import {
  changeDefinition,
  createDefinition,
  findDefinition,
  knownDefinition,
  listDefinitions,
  removeDefinition,
} from '../../src/lending-format/stored-definitions.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { openLogUnderTest } from '../support/backend-under-test.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { failureOf } from '../support/thrown-errors.ts';

interface Fields {
  readonly name: string;
}

describe('a definition of the institution', () => {
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

  const newBranch = (id: string, encodedKey = `key-of-${id}`) => ({
    id,
    encodedKey,
    requestDigest: 'digest',
    fields: { name: id },
  });
  const create = (id: string, encodedKey?: string, on = registry) =>
    createDefinition<Fields>(on, 'branch', newBranch(id, encodedKey), 1_000);

  it('is found by its id and its key, also by processes that start later', async () => {
    expect(await create('main')).to.equal(undefined);
    const later = new Registry(log, silentLogger);
    await later.start();
    const time = '1970-01-01T00:00:01.000Z';
    const expected = { ...newBranch('main'), creationDate: time, lastModifiedDate: time };
    expect(knownDefinition(later, 'branch', 'main')).to.deep.equal(expected);
    expect(await findDefinition(later, 'branch', 'key-of-main')).to.deep.equal(expected);
    expect(await findDefinition(later, 'centre', 'main')).to.equal(undefined);
    await later.stop();
  });

  it('is listed in the order of ids, each kind alone', async () => {
    for (const id of ['b', 'c', 'a']) await create(id);
    expect(listDefinitions(registry, 'branch').map(({ id }) => id)).to.deep.equal(['a', 'b', 'c']);
    expect(listDefinitions(registry, 'transaction-channel')).to.deep.equal([]);
  });

  it('is made once for an id and for a key', async () => {
    await create('main');
    expect(await create('main', 'other-key')).to.include({ encodedKey: 'key-of-main' });
    expect(await create('other', 'key-of-main')).to.include({ id: 'main' });
    expect(listDefinitions(registry, 'branch')).to.have.length(1);
  });

  it('is made once when two processes make it at the same time', async () => {
    const other = new Registry(log, silentLogger);
    await other.start();
    const outcomes = await Promise.allSettled([create('main', 'k1'), create('main', 'k2', other)]);
    const made = outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value === undefined);
    expect(made).to.have.length(1);
    await Promise.all([registry.catchUp(), other.catchUp()]);
    expect(knownDefinition(registry, 'branch', 'main')).to.deep.equal(knownDefinition(other, 'branch', 'main'));
    await other.stop();
  });

  it('keeps its id, its key and when it was made through a change', async () => {
    await create('main');
    await changeDefinition(registry, 'branch', 'main', { name: 'Head office' }, 2_000);
    expect(knownDefinition(registry, 'branch', 'main')).to.deep.equal({
      ...newBranch('main'),
      fields: { name: 'Head office' },
      creationDate: '1970-01-01T00:00:01.000Z',
      lastModifiedDate: '1970-01-01T00:00:02.000Z',
    });
  });

  it('is gone once it was removed, and cannot be changed any more', async () => {
    await create('main');
    await removeDefinition(registry, 'branch', 'main');
    await removeDefinition(registry, 'branch', 'main');
    expect(await findDefinition(registry, 'branch', 'key-of-main')).to.equal(undefined);
    const failure = await failureOf(changeDefinition(registry, 'branch', 'main', {}, 2_000));
    expect(failure).to.have.property('code', 'NOT_FOUND');
    expect(await create('main')).to.equal(undefined);
  });

  it('stays while something needs it', async () => {
    await create('main');
    const refused = removeDefinition(registry, 'branch', 'main', () => {
      throw new LendstreamError('CONFLICT', 'A centre belongs to the branch.');
    });
    expect(await failureOf(refused)).to.have.property('message', 'A centre belongs to the branch.');
    expect(knownDefinition(registry, 'branch', 'main')).to.have.property('id', 'main');
  });
});
