import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import type { EventLog, Offset } from '../../src/ports/event-log.ts';
import type { Logger } from '../../src/logger.ts';
import { loanCommandsTopic } from '../../src/lending-format/lending-topics.ts';
import { firstUndecidedOffset } from '../../src/worker/resume-offset.ts';
import { commandRecord, openLendingLog, send } from '../support/lending/lending-log.ts';
import { codeOf } from '../support/log-reading.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

describe('where a partition resumes', () => {
  let folder: string;
  let log: EventLog;
  let last: Offset;

  before(async () => {
    folder = await temporaryFolder();
    log = await openLendingLog(folder);
    const command = commandRecord({ type: 'CHANGE_STATE', id: 'any', payload: { action: 'APPROVE' } });
    const first = await send(log, [command]);
    last = (await send(log, [command, command, command])) + 2;
    await log.deleteRecords({ topic: loanCommandsTopic, partition: 0, offset: first + 1 }, Date.now() + 1_000);
  });

  after(async () => {
    await log.close();
    await removeFolder(folder);
  });

  /** Where it resumes after the last command done, and the errors that are logged. */
  async function resume(position: Offset | null): Promise<{ next: Offset; errors: string[] }> {
    const errors: string[] = [];
    const logger: Logger = checkedLogger({ error: (_facts, message) => void errors.push(message) });
    return { next: await firstUndecidedOffset({ log, logger, partition: 0 }, position), errors };
  }

  it('is the first command that the log still has, when none was done', async () => {
    expect(await resume(null)).to.deep.equal({ next: last - 2, errors: [] });
  });

  it('is the command after the last one done, also at either end of the log', async () => {
    for (const done of [last - 3, last - 2, last - 1, last]) {
      expect(await resume(done)).to.deep.equal({ next: done + 1, errors: [] });
    }
  });

  it('is the first command that is left when undecided ones are lost, which is logged', async () => {
    const errors = ['Undecided commands are missing from the log and are lost'];
    expect(await resume(last - 4)).to.deep.equal({ next: last - 2, errors });
  });

  it('is nowhere when the log has lost commands that are done', async () => {
    expect(await codeOf(resume(last + 1))).to.equal('INTERNAL');
  });
});
