import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { EventLog } from '../../src/ports/event-log.ts';
import { compileValidator } from '../../src/broker/schemas/schema-validator.ts';
import { isLendstreamError } from '../../src/errors.ts';
import { storedFormat } from '../../src/lending/changelog/stored-format.ts';
import {
  deadLettersTopic,
  ensureLendingTopics,
  lendingEventTypeNames,
  lendingEventTypes,
  loanCommandsTopic,
  accountsTopic,
} from '../../src/lending-format/lending-topics.ts';
import { refuseEarlierFormat } from '../../src/lending-format/earlier-log-format.ts';
import { openLogUnderTest } from '../support/backend-under-test.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

describe('the topics of lending', () => {
  let folder: string;
  let log: EventLog;

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLogUnderTest(folder);
  });

  afterEach(async () => {
    await log.close();
    await removeFolder(folder);
  });

  it('are created once, with compaction for loans', async () => {
    await ensureLendingTopics(log, 3);
    await ensureLendingTopics(log, 3);
    const topics = (await log.listTopics()).map(({ name, partitionCount, cleanupPolicy }) => [
      name,
      partitionCount,
      cleanupPolicy,
    ]);
    expect(topics).to.have.deep.members([
      [accountsTopic, 3, 'compact'],
      [deadLettersTopic, 3, 'delete'],
    ]);
  });

  it('are created by two processes that start together', async () => {
    await Promise.all([ensureLendingTopics(log, 1), ensureLendingTopics(log, 1)]);
    expect(await log.listTopics()).to.have.length(2);
  });

  it('keep their number of partitions, so that no loan is in two partitions', async () => {
    await ensureLendingTopics(log, 2);
    const refused = await ensureLendingTopics(log, 4).catch((error: unknown) => error);
    expect(isLendstreamError(refused, 'CONFIGURATION_INVALID')).to.equal(true);
  });

  it('are not created in a log of an earlier version, which is refused with the reason and stays as it is', async () => {
    await refuseEarlierFormat(log);
    await log.createTopic({
      name: 'lendstream.loans',
      partitionCount: 1,
      cleanupPolicy: 'compact',
      retentionMilliseconds: 0,
    });
    const refused = await refuseEarlierFormat(log).catch((error: unknown) => error);
    expect(isLendstreamError(refused, 'CONFIGURATION_INVALID')).to.equal(true);
    expect((refused as Error).message).to.match(/^The log has lendstream\.loans, .* start with other data\.$/);
    expect((await log.listTopics()).map(({ name }) => name)).to.deep.equal(['lendstream.loans']);
  });

  it('are refused with the reason when an account has another format than this version reads', async () => {
    await ensureLendingTopics(log, 2);
    await refuseEarlierFormat(log);
    const append = (key: string, text: string): Promise<unknown> =>
      log.append([{ topic: accountsTopic, partition: 1, records: [{ key, value: Buffer.from(text) }] }]);
    await append('checkpoint/1', '{"position":0,"outcomes":[]}');
    await append('loan/L1', `{"format":${storedFormat},"summary":{}}`);
    await refuseEarlierFormat(log);
    await log.deleteTopic(accountsTopic);
    await ensureLendingTopics(log, 2);
    await append('checkpoint/1', '{"position":0,"outcomes":[]}');
    await append('loan/L1', '{"format":2,"summary":{}}');
    const refused = await refuseEarlierFormat(log).catch((error: unknown) => error);
    expect(isLendstreamError(refused, 'CONFIGURATION_INVALID')).to.equal(true);
    expect((refused as Error).message).to.match(/^The log has accounts of format 2, and this version reads format 4: /);
  });

  it('have schemas without external references that allow only named fields', () => {
    const types = lendingEventTypes(4, 1_000);
    expect(types.map(({ name }) => name)).to.deep.equal([loanCommandsTopic, ...lendingEventTypeNames]);
    for (const { name, schema, partitionCount } of types) {
      expect(partitionCount).to.equal(4);
      expect(JSON.stringify(schema), name).to.not.contain('common.json#');
      expect(schema['additionalProperties'], name).to.equal(false);
      expect(compileValidator(schema)({ metadata: {} }), name).to.not.deep.equal([]);
    }
  });

  it('accept commands from all producers, and events only from the worker', () => {
    const open = lendingEventTypes(4, 1_000).filter(({ writtenByServiceAlone }) => writtenByServiceAlone !== true);
    expect(open.map(({ name }) => name)).to.deep.equal([loanCommandsTopic]);
  });

  it('partition commands by their subject, a loan or a product', () => {
    const [commands] = lendingEventTypes(1, 1);
    expect(commands).to.deep.include({
      partitionKeyFields: ['loanAccountId', 'loanProductId'],
      absentKeyFieldsAllowed: true,
    });
  });
});
