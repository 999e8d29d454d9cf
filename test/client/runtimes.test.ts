import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Lendstream } from '../../src/client/client.ts';
import { startServiceHere, type ServiceHere } from '../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { defineNumbered } from './numbered-events.ts';

/** The compiled client, which they import as it is. */
const compiled = new URL('../../src/client/client.js', import.meta.url);

/** Runtimes beside Node.js: the variable that names the program, the program on the PATH, and how it runs a file. */
const runtimes = [
  { name: 'Deno', variable: 'DENO', program: 'deno', words: ['run', '--allow-net', '--no-prompt'] },
  { name: 'Bun', variable: 'BUN', program: 'bun', words: ['run'] },
  { name: 'Node.js', variable: 'NODE', program: process.execPath, words: [] },
] as const;

const run = promisify(execFile);

describe('the client in other runtimes', function () {
  this.timeout(90_000);
  let folder: string;
  let service: ServiceHere;
  let lendstream: Lendstream;

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder, { ROLES: 'serve' });
    lendstream = new Lendstream({ url: service.url });
  });

  after(async () => {
    await service?.stop();
    await removeFolder(folder);
  });

  for (const { name, variable, program: byDefault, words } of runtimes) {
    it(`publishes, consumes, tails and keeps all digits in ${name}`, async function () {
      const program = process.env[variable] ?? byDefault;
      if (spawnSync(program, ['--version']).status !== 0) {
        process.stdout.write(`      skipped: ${name} was not found: name its program in ${variable}\n`);
        this.skip();
      }
      const eventType = await defineNumbered(lendstream);
      const definition = { owning_application: name, event_types: [eventType], read_from: 'begin' } as const;
      const { id } = await lendstream.subscribe(definition);
      const file = join(folder, `${variable}.mjs`);
      await writeFile(file, programText(service.url, eventType, id));
      const { stdout } = await run(program, [...words, file]);
      expect(stdout.trim().split('\n')).to.deep.equal([
        '200',
        '12.50',
        '200',
        'EventType "no-such-type" does not exist.',
      ]);
      expect((await lendstream.lag(id))[0]?.partitions[0]?.unconsumed_events).to.equal(0);
    });
  }
});

/** What runs there: it prints what it consumed, an exact number, what it tailed, and an error. */
function programText(url: string, eventType: string, subscription: string): string {
  return `
import { ExactNumber, Lendstream, newEvent } from '${compiled.href}';
const lendstream = new Lendstream({ url: '${url}' });
const number = new ExactNumber('12.50');
await lendstream.publish('${eventType}', Array.from({ length: 200 }, () => newEvent({ key: 'a', number })));
const consumer = lendstream.consume('${subscription}', { skipRepeated: true, stream: { batch_limit: 7 } });
let consumed = 0;
let last;
for await (const { events } of consumer) {
  consumed += events.length;
  last = events.at(-1);
  if (consumed >= 200) consumer.stop();
}
let tailed = 0;
const tail = lendstream.tail('${eventType}', { from: 'begin', quietSeconds: 1 });
for await (const { events } of tail) tailed += events.length;
const error = await lendstream.eventType('no-such-type').catch((each) => each);
console.log([consumed, String(last.number), tailed, error.detail].join('\\n'));
`;
}
