import { closeSync, fstatSync, openSync, readFileSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { call } from '../../support/http/client.ts';
import { insist } from '../../support/insist.ts';
import type { ServiceProcess } from '../service-process.ts';
import type { SystemUnderTest } from '../system.ts';

/** The processes that decide commands, and their local copies of the accounts. */

/** The process that decides the commands of a partition now. */
export function deciderOf(system: SystemUnderTest, partition: number): Promise<ServiceProcess> {
  const metric = `lendstream_worker_waiting_commands{partition="${partition}"}`;
  return insist(async () => {
    for (const name of system.shape.work) {
      const service = system.services.get(name);
      // A process that was killed does not answer.
      const metrics = await call(`${service?.node.url}/metrics`, 'GET').catch(() => undefined);
      const gauges = metrics?.body['gauges'] as object | undefined;
      if (service !== undefined && gauges !== undefined && metric in gauges) return service;
    }
    throw new Error(`No process decides the commands of partition ${partition}`);
  });
}

/** The file of a process's local copy of the accounts. On a cluster it is in the folder of that cluster. */
export function copyOf({ dataFolder }: ServiceProcess): string {
  const found = readdirSync(dataFolder, { recursive: true, encoding: 'utf8' }).find(
    (path) => basename(path) === 'accounts.db',
  );
  if (found === undefined) throw new Error(`There is no copy in ${dataFolder}`);
  return join(dataFolder, found);
}

/** Deletes the copy, with the files that SQLite keeps beside it. */
export function deleteCopy(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

/** Overwrites bytes in the middle of a file. */
export function overwriteMiddle(file: string, bytes: number): void {
  const descriptor = openSync(file, 'r+');
  const { size } = fstatSync(descriptor);
  writeSync(descriptor, Buffer.alloc(bytes, 0xa5), 0, bytes, Math.floor((size - bytes) / 2));
  closeSync(descriptor);
}

/**
 * Changes one digit in every place of a file where a text is: the file is as whole as before, and says something else.
 * @returns how many places there are
 */
export function changeDigits(file: string, text: string): number {
  const content = readFileSync(file);
  const descriptor = openSync(file, 'r+');
  let places = 0;
  for (let at = content.indexOf(text); at !== -1; at = content.indexOf(text, at + text.length)) {
    const digit = at + text.search(/\d/);
    writeSync(descriptor, content[digit] === 0x39 ? '8' : '9', digit);
    places += 1;
  }
  closeSync(descriptor);
  return places;
}
