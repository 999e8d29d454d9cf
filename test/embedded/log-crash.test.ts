import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { readAll } from '../support/log-reading.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const program = fileURLToPath(new URL('../support/processes/log-crash-writer.js', import.meta.url));
/** The campaign has more of them. */
const rounds = Number(process.env['CRASH_ROUNDS'] ?? 5);
/** On a machine that runs other tests at the same time. */
const roundMillisecondsMaximum = 6_000;
const recordsPerBatch = 7;

/** Runs the appending program and kills it after some acknowledgements; returns all that it acknowledged. */
async function appendUntilKilled(dataFolder: string, round: number): Promise<string[]> {
  const child = spawn(process.execPath, [program, dataFolder, `${round}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.length > 400 + (round % 5) * 500) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect(signal, 'ended by the kill, not by itself').to.equal('SIGKILL');
  return output
    .slice(0, output.lastIndexOf('\n'))
    .split('\n')
    .filter((line) => line !== 'ready');
}

/** The names of the batches in a partition, after checking that each is complete and contiguous. */
async function wholeBatches(log: EmbeddedLog, partition: number): Promise<string[]> {
  const records = await readAll(log, { topic: 'crash', partition }, undefined, 4 * 1024 * 1024);
  expect(records.length % recordsPerBatch).to.equal(0);
  const names: string[] = [];
  for (let first = 0; first < records.length; first += recordsPerBatch) {
    const batch = records.slice(first, first + recordsPerBatch);
    const name = batch[0]?.key ?? '';
    for (const [index, { key, value }] of batch.entries()) {
      expect(key).to.equal(name);
      expect(JSON.parse(value ?? '')).to.include({ name, index });
    }
    names.push(name);
  }
  expect(new Set(names).size, 'stored once each').to.equal(names.length);
  return names;
}

describe('a process killed in the middle of appends', function () {
  let dataFolder = '';
  before(async () => {
    dataFolder = await temporaryFolder();
  });
  after(() => removeFolder(dataFolder));

  it(`loses no acknowledged record and leaves no partial batch, ${rounds} times`, async function () {
    this.timeout(rounds * roundMillisecondsMaximum);
    const acknowledged: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      acknowledged.push(...(await appendUntilKilled(dataFolder, round)));
      if (round % 5 !== 4) continue;
      const log = await EmbeddedLog.open({ dataFolder, logger: silentLogger });
      try {
        const batches = await Promise.all([0, 1, 2, 3].map((partition) => wholeBatches(log, partition)));
        const stored = new Set(batches.flatMap((names, partition) => names.map((name) => `${partition}:${name}`)));
        expect(acknowledged.filter((line) => !stored.has(line))).to.deep.equal([]);
        expect(batches[2], 'a transaction is in both of its partitions or in none').to.deep.equal(batches[3]);
      } finally {
        await log.close();
      }
    }
    expect(acknowledged.length).to.be.above(rounds * 10);
  });
});
