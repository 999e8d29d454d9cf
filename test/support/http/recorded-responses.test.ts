import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../processes/service.ts';
import { RecordedResponses, recordResponse, responsesFolderVariable } from './recorded-responses.ts';
import type { WatchedResponse } from './response-watch.ts';

function response(url: string): WatchedResponse {
  return { method: 'GET', url, status: 200, headers: {}, body: 'zwölf\n', isOfService: true };
}

describe('the responses that processes record', () => {
  let folder: string;
  let previous: string | undefined;
  let recorded: RecordedResponses;

  beforeEach(async () => {
    previous = process.env[responsesFolderVariable];
    folder = await temporaryFolder();
    process.env[responsesFolderVariable] = folder;
    recorded = new RecordedResponses(folder);
  });

  afterEach(async () => {
    if (previous === undefined) delete process.env[responsesFolderVariable];
    else process.env[responsesFolderVariable] = previous;
    await removeFolder(folder);
  });

  it('are read once each, from all processes', () => {
    expect(recorded.take()).to.deep.equal([]);
    recordResponse(response('/one'));
    recordResponse(response('/two'));
    writeFileSync(join(folder, '1'), `${JSON.stringify(response('/other'))}\n`);
    expect(recorded.take()).to.have.deep.members([response('/one'), response('/two'), response('/other')]);
    recordResponse(response('/three'));
    expect(recorded.take()).to.deep.equal([response('/three')]);
    expect(recorded.take()).to.deep.equal([]);
  });

  it('are read when their line is complete', () => {
    const line = Buffer.from(`${JSON.stringify(response('/slow'))}\n`);
    const file = join(folder, '1');
    // Within the two bytes of a character.
    const cut = line.indexOf('ö') + 1;
    writeFileSync(file, line.subarray(0, cut));
    expect(recorded.take()).to.deep.equal([]);
    appendFileSync(file, line.subarray(cut));
    expect(recorded.take()).to.deep.equal([response('/slow')]);
  });

  it('do not affect the service when the folder is gone', async () => {
    await removeFolder(folder);
    recordResponse(response('/late'));
    folder = await temporaryFolder();
  });
});
