import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { openHistory, readHistory } from './history.ts';

describe('the history of a fault run', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(() => removeFolder(folder));

  it('is read from all processes, ordered by time', () => {
    const first = openHistory(folder, 'first');
    const second = openHistory(folder, 'second');
    first.record({ kind: 'fault healed', fault: 'a', number: 1 });
    second.record({ kind: 'fault healed', fault: 'b', number: 2 });
    first.record({ kind: 'fault healed', fault: 'c', number: 3 });
    for (const writer of [second, first]) writer.flush();
    const records = readHistory(folder);
    expect(records.map(({ process, kind }) => `${process} ${kind}`)).to.deep.equal([
      'first fault healed',
      'second fault healed',
      'first fault healed',
    ]);
    expect(records.map(({ at }) => at)).to.deep.equal(records.map(({ at }) => at).sort((a, b) => a - b));
  });

  it('loses nothing except the line that a process did not finish', () => {
    const writer = openHistory(folder, 'killed');
    writer.record({ kind: 'fault healed', fault: 'a', number: 1 });
    writer.flush();
    appendFileSync(join(folder, 'killed.ndjson'), '{"at":1,"ki');
    expect(readHistory(folder)).to.have.length(1);
  });
});
